from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cub.store.formats import dump_tasks, parse_tasks
from tests.store.formats.samples import document, kept

SAMPLES = {
    "beads.jsonl": "beads",
    "jsonl.jsonl": "jsonl",
    "prd.json": "prd",
    "prd-list.json": "prd",
    "task-master.json": "task-master",
    "task-master-tags.json": "task-master",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_read_of_each_sample(
    name: str, original_datadir: Path, file_regression: Any
) -> None:
    found = parse_tasks((original_datadir / name).read_bytes(), name)
    assert (found.format, found.rejected_lines) == (SAMPLES[name], [])
    lines = [json.dumps(record, indent=1, ensure_ascii=False) + "\n" for record in found.records]
    file_regression.check("".join(lines), basename=f"{name}.read", extension=".txt")


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "jsonl.jsonl"])
def test_a_sample_comes_out_as_it_went_in(name: str, original_datadir: Path) -> None:
    data = (original_datadir / name).read_bytes()
    found = parse_tasks(data, name)
    assert document(dump_tasks(kept(found.records), found.format)) == document(data)


def test_the_own_format_comes_out_in_cubs_spelling(
    original_datadir: Path, file_regression: Any
) -> None:
    found = parse_tasks((original_datadir / "jsonl.jsonl").read_bytes(), "jsonl.jsonl")
    out = dump_tasks(kept(found.records), "jsonl")
    assert dump_tasks(parse_tasks(out, "").records, "jsonl") == out
    file_regression.check(out.decode(), basename="jsonl.written", extension=".txt")


@pytest.mark.parametrize("format_", ["beads", "task-master", "prd"])
@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_can_be_written_in_every_format(
    name: str, format_: str, original_datadir: Path
) -> None:
    found = parse_tasks((original_datadir / name).read_bytes(), name)
    out = dump_tasks(kept(found.records), format_)
    again = {record["id"]: record for record in parse_tasks(out, name, format_).records}
    assert again.keys() == {record["id"] for record in found.records}
    for record in found.records:
        twin = again[record["id"]]
        for key in ("title", "parent", "description"):
            assert twin.get(key) == record.get(key)
        assert (twin["status"] == "closed") == (record["status"] == "closed")
        assert (twin.get("issue_type") == "epic") == (record.get("issue_type") == "epic")
        # In task-master, a subtask waits for what its task waits for.
        assert set(twin.get("depends_on", ())) >= set(record.get("depends_on", ()))
