"""What nobody changed comes out of cub as it went in, whatever it was."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cub.errors import CubError
from cub.store.formats import dump_tasks, parse_tasks
from cub.store.jsonl import Record, dump_canonical, encode_record
from cub.store.record_merge import update_record
from tests.examples import hardly_any_examples
from tests.store.formats.samples import document, issues, kept, master_documents, stories

NOW = "2026-11-21T09:40:00.123Z"


def through(data: bytes, name: str) -> Any:
    """A document that was imported, and is exported."""
    found = parse_tasks(data, "sample", name)
    assert not found.rejected_lines
    records = kept(found.records)
    assert records == found.records
    return document(dump_tasks(records, name))


@hardly_any_examples
@given(issues())
def test_issues_of_beads(raws: list[Record]) -> None:
    data = b"".join(encode_record(raw) + b"\n" for raw in raws)
    found = parse_tasks(data, "sample", "beads")
    out = dump_tasks(kept(found.records), "beads").splitlines()
    assert [dump_canonical(json.loads(line)) for line in out] == [
        dump_canonical(raw) for raw in raws
    ]


@hardly_any_examples
@given(master_documents())
def test_tasks_of_task_master(raw: Record) -> None:
    data = json.dumps(raw).encode()
    if parse_tasks(data, "sample", "task-master").records:  # it is they who remember the document
        assert dump_canonical(through(data, "task-master")) == dump_canonical(raw)


@hardly_any_examples
@given(stories())
def test_stories(raw: Any) -> None:
    if raw if isinstance(raw, list) else raw["userStories"]:
        assert dump_canonical(through(json.dumps(raw).encode(), "prd")) == dump_canonical(raw)


@hardly_any_examples
@given(issues(), st.data())
def test_a_change_of_one_field_leaves_the_others_of_an_issue(
    raws: list[Record], data: st.DataObject
) -> None:
    lines = b"".join(encode_record(raw) + b"\n" for raw in raws)
    records = kept(parse_tasks(lines, "sample", "beads").records)
    if not records:
        return
    at = data.draw(st.integers(0, len(records) - 1))
    records[at] = update_record(records[at], {"title": "Changed here"}, NOW)
    out = document(b"[" + b",".join(dump_tasks(records, "beads").splitlines()) + b"]")
    ours = {"title": "Changed here", "updated_at": records[at]["updated_at"]}
    expected = [raw if n != at else {**raw, **ours} for n, raw in enumerate(raws)]
    assert dump_canonical(out) == dump_canonical(expected)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_in_words(data: bytes) -> None:
    for name in ("auto", "jsonl", "beads", "task-master", "prd"):
        with suppress(CubError):
            parse_tasks(data, "sample", name)
