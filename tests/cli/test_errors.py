from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.standing import MINE, NEWER, NO_BEGIN, NO_END, stand
from tests.conftest import Cub

FAULTS = {
    "no END": (NO_END, "AGENTS.md:3: BEGIN marker without an END marker"),
    "no BEGIN": (NO_BEGIN, "AGENTS.md:5: END marker without a BEGIN marker"),
    "newer": (NEWER, "AGENTS.md:3: this section was written by a newer cub (v99, this cub"),
    "UTF-16": ("# Título\n".encode("utf-16"), "AGENTS.md: this file is UTF-16 or UTF-32"),
    "UTF-16 without a mark": ("# Title\n".encode("utf-16-le"), "AGENTS.md: this file is UTF-16"),
    "too large": (
        b"- Bake.\n" * 131_073,
        "AGENTS.md: this file has 1,048,584 bytes, more than the 1,048,576 that cub edits",
    ),
    "UTF-32": ("# Title\n".encode("utf-32"), "AGENTS.md: this file is UTF-16 or UTF-32"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("command", ["init", "init --diff", "update", "update --check", "remove"])
def test_a_fault_is_told_by_file_and_line_and_nothing_is_written(
    project: Path, cub: Cub, fault: str, command: str
) -> None:
    content, message = FAULTS[fault]
    cub("init")
    (project / "AGENTS.md").write_bytes(content)
    (project / ".cub" / "runloop.md").unlink()
    before = stand(project)
    result = cub(*command.split())
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"error: {message}")
    assert re.search(r"^hint: .", result.err, re.MULTILINE)
    assert {**stand(project), ".cub": before[".cub"]} == before


@pytest.mark.parametrize("command", ["init", "update", "remove"])
def test_all_faults_of_all_files_are_told_at_once(project: Path, cub: Cub, command: str) -> None:
    (project / "pkg").mkdir()
    cub("init", "pkg")
    for name, content in [("AGENTS.md", NO_END), ("CLAUDE.md", NO_BEGIN), ("pkg/AGENTS.md", NEWER)]:
        (project / name).write_bytes(content)
    before = stand(project)
    result = cub(command)
    assert result.code == 1
    told = re.findall(r"^error: (\S+?): ", result.err, re.MULTILINE)
    assert told == ["AGENTS.md:3", "CLAUDE.md:5", "pkg/AGENTS.md:3"]
    assert result.err.count("\nhint: ") == 3
    assert {**stand(project), ".cub": before[".cub"]} == before


def test_a_good_file_is_not_written_beside_a_broken_one(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    (project / "CLAUDE.md").write_bytes(NO_END)
    before = stand(project)
    assert cub("init").code == 1
    assert {**stand(project), ".": before["."]} == before


def test_status_shows_what_is_broken_and_goes_on(project: Path, cub: Cub) -> None:
    cub("init")
    (project / "AGENTS.md").write_bytes(NO_END)
    (project / "CLAUDE.md").write_bytes(NEWER)
    result = cub("status")
    assert result.code == 0
    rows = {line.split()[0]: line for line in result.out.splitlines()}
    assert "broken at line 3" in rows["AGENTS.md"]
    assert "newer than this cub (v99)" in rows["CLAUDE.md"]


@pytest.mark.parametrize("name", [".cub/state.json", ".cub/runloop.md"])
@pytest.mark.parametrize("command", ["init", "update", "remove"])
def test_a_dot_cub_of_a_newer_cub_is_refused(
    project: Path, cub: Cub, name: str, command: str
) -> None:
    cub("init")
    file = project / name
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r'v1\b|(?<="templates": )1', _newer, text), encoding="utf-8")
    before = stand(project)
    result = cub(command)
    assert result.code == 1
    assert result.err.startswith(f"error: {name}: ")
    assert "newer cub" in result.err
    assert "hint: upgrade cub" in result.err
    assert {**stand(project), ".cub": before[".cub"]} == before


def _newer(found: re.Match[str]) -> str:
    return "v99" if found[0] == "v1" else "99"
