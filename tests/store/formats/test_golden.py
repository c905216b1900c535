from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cub.store.formats.format_registry import dump_tasks, parse_tasks
from tests.store.formats.samples import kept

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


def test_the_own_format_comes_out_in_cubs_spelling(
    original_datadir: Path, file_regression: Any
) -> None:
    found = parse_tasks((original_datadir / "jsonl.jsonl").read_bytes(), "jsonl.jsonl")
    out = dump_tasks(kept(found.records), "jsonl")
    assert dump_tasks(parse_tasks(out, "").records, "jsonl") == out
    file_regression.check(out.decode(), basename="jsonl.written", extension=".txt")


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_as_markdown(name: str, original_datadir: Path, file_regression: Any) -> None:
    found = parse_tasks((original_datadir / name).read_bytes(), name)
    out = dump_tasks(kept(found.records), "markdown")
    assert dump_tasks(found.records[::-1], "markdown") == out
    file_regression.check(out.decode(), basename=f"{name}.markdown", extension=".txt")
