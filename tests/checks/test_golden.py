"""Outputs of real tools: golden/checks/<tool>/<case>.txt, and the items in it beside it as JSON."""

from __future__ import annotations

import json

import pytest

from cub.checks.tool_output import parse_output
from tests.checks.samples import FOLDER, SAMPLES, read_sample

_KINDS = {"test", "error", "build", "type", "lint"}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_items_of_a_tools_output(name: str) -> None:
    expected = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    found = parse_output(read_sample(name))
    assert [list(item) for item in found] == expected
    assert {item.kind for item in found} <= _KINDS


@pytest.mark.parametrize("name", SAMPLES)
def test_line_ends_of_windows_and_stamps_of_ci_change_nothing(name: str) -> None:
    raw = read_sample(name)
    assert parse_output(raw.replace("\n", "\r\n")) == parse_output(raw)
    stamped = "".join(f"2026-03-02T07:11:05.1234567Z {line}" for line in raw.splitlines(True))
    if not raw.startswith("{"):
        assert parse_output(stamped) == parse_output(raw)


@pytest.mark.parametrize(
    "tool", sorted({name.partition("/")[0] for name in SAMPLES} - {"ordinary"})
)
def test_every_tool_fails_and_passes(tool: str) -> None:
    found = [
        bool(parse_output(read_sample(name))) for name in SAMPLES if name.startswith(f"{tool}/")
    ]
    assert True in found
    assert False in found


def test_no_sample_names_a_machine() -> None:
    for name in SAMPLES:
        raw = read_sample(name)
        assert not [path for path in ("/root", "/opt/") if path in raw], name
