"""Outputs of real tools: golden/checks/<tool>/<case>.txt, and the items in it beside it as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cub.checks.tool_output import parse_output
from tests.conftest import GOLDEN

FOLDER = GOLDEN / "checks"
CASES = sorted(FOLDER.glob("*/*.txt"))
_KINDS = {"test", "error", "build", "type", "lint"}


def _raw(case: Path) -> str:
    return case.read_bytes().decode()


def _name(case: Path) -> str:
    return case.relative_to(FOLDER).with_suffix("").as_posix()


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_the_items_of_a_tools_output(case: Path) -> None:
    expected = json.loads(case.with_suffix(".json").read_text(encoding="utf-8"))
    found = parse_output(_raw(case))
    assert [list(item) for item in found] == expected
    assert {item.kind for item in found} <= _KINDS


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_line_ends_of_windows_and_stamps_of_ci_change_nothing(case: Path) -> None:
    raw = _raw(case)
    assert parse_output(raw.replace("\n", "\r\n")) == parse_output(raw)
    stamped = "".join(f"2026-03-02T07:11:05.1234567Z {line}" for line in raw.splitlines(True))
    if not raw.startswith("{"):
        assert parse_output(stamped) == parse_output(raw)


@pytest.mark.parametrize("tool", sorted({case.parent.name for case in CASES} - {"ordinary"}))
def test_every_tool_fails_and_passes(tool: str) -> None:
    found = [bool(parse_output(_raw(case))) for case in CASES if case.parent.name == tool]
    assert True in found
    assert False in found


def test_no_sample_names_a_machine() -> None:
    for case in CASES:
        raw = _raw(case)
        assert not [path for path in ("/root", "/opt/") if path in raw], case
