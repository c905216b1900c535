"""Documents of any content are read, and what the store keeps of them is what was read."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cub.errors import CubError
from cub.store.formats.format_registry import parse_tasks
from cub.store.formats.source_fields import get_source_digest
from cub.store.jsonl import Record, encode_record
from cub.store.task_schema import KEYS_OF_OTHERS
from tests.examples import hardly_any_examples
from tests.store.formats.samples import issues, kept, master_documents, stories


def read(data: bytes, name: str) -> list[Record]:
    """The tasks of a document; the store keeps them as they are, also the digest of the source."""
    found = parse_tasks(data, "sample", name)
    assert not found.rejected_lines
    assert kept(found.records) == found.records
    assert all(get_source_digest(record, name) for record in found.records)
    assert parse_tasks(data, "sample", name) == found
    return found.records


@hardly_any_examples
@given(issues())
def test_issues_of_beads(raws: list[Record]) -> None:
    data = b"".join(encode_record(raw) + b"\n" for raw in raws)
    found = read(data, "beads")
    assert [record["id"] for record in found] == [raw["id"] for raw in raws]
    for raw, record in zip(raws, found, strict=True):
        assert [key for key in raw if not is_kept(record, key, raw[key])] == []


def is_kept(record: Record, key: str, value: Any) -> bool:
    """Whether a task has a value of its source: in a field, or beside them."""
    criteria = value if key == "acceptance_criteria" and isinstance(value, str) else None
    lines = [f"- {line}" for line in record.get(key) or ()] if criteria else []
    beside = record["origin"].get("fields", {}).get(key, record)
    return (
        value in (None, beside)
        or record.get(KEYS_OF_OTHERS.get(key, key)) == value
        or record.get(key) == value
        or criteria in (*(record.get(key) or ()), "\n".join(lines))
    )


@hardly_any_examples
@given(issues(), st.data())
def test_a_change_of_one_field_at_the_source_is_seen_in_that_issue_alone(
    raws: list[Record], data: st.DataObject
) -> None:
    if not raws:
        return
    before = [get_source_digest(record, "beads") for record in _parse(raws)]
    at = data.draw(st.integers(0, len(raws) - 1))
    raws[at] = {**raws[at], "title": "Changed there"}
    after = [get_source_digest(record, "beads") for record in _parse(raws)]
    assert [n for n, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]] in (
        [at],
        [],  # it said so already
    )


def _parse(raws: list[Record]) -> list[Record]:
    lines = b"".join(encode_record(raw) + b"\n" for raw in raws)
    return parse_tasks(lines, "sample", "beads").records


@hardly_any_examples
@given(master_documents())
def test_tasks_of_task_master(raw: Record) -> None:
    read(json.dumps(raw).encode(), "task-master")


@hardly_any_examples
@given(stories())
def test_stories(raw: Any) -> None:
    found = read(json.dumps(raw).encode(), "prd")
    assert len(found) == len(raw if isinstance(raw, list) else raw["userStories"])


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_in_words(data: bytes) -> None:
    for name in ("auto", "jsonl", "beads", "task-master", "prd"):
        with suppress(CubError):
            parse_tasks(data, "sample", name)
