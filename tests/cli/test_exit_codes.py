from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Cub


@pytest.mark.parametrize(
    "command",
    ["--version", "-V", "--help", "init", "init --dry-run", "status", "init --json pkg"],
)
def test_what_is_done_is_0(project: Path, cub: Cub, command: str) -> None:
    (project / "pkg").mkdir()
    result = cub(*command.split())
    assert (result.code, "error:" in result.err) == (0, False)


@pytest.mark.parametrize("command", ["init", "update", "update --check", "status", "remove"])
def test_everything_after_init_is_0(cub: Cub, command: str) -> None:
    assert cub("init").code == 0
    assert cub(*command.split()).code == 0


@pytest.mark.parametrize("command", ["update", "update --check", "update --json", "remove"])
def test_there_is_nothing_to_do_before_init_and_that_is_1(
    project: Path, cub: Cub, command: str
) -> None:
    result = cub(*command.split())
    assert result.code == 1
    assert "error: this project has no cub files" in result.err
    assert "hint: run `cub init`\n" in result.err or command == "remove"
    assert list(project.iterdir()) == [project / ".git"]


@pytest.mark.parametrize("more", [(), ("--diff",), ("--json",), ("--dry-run",)])
def test_a_check_that_finds_work_is_1(project: Path, cub: Cub, more: tuple[str, ...]) -> None:
    cub("init")
    (project / ".cub" / "runloop.md").unlink()
    assert cub("update", "--check", *more).code == 1
    assert cub("update", *more).code == 0


def test_local_bookkeeping_is_no_work_for_a_check(project: Path, cub: Cub) -> None:
    cub("init")
    (project / ".cub" / "state.json").unlink()
    assert cub("update", "--check").code == 0


@pytest.mark.parametrize(
    ("command", "message", "hint"),
    [
        ("--nope", "unknown option '--nope'", "run `cub --help` to list its options"),
        ("update . pkg", "several projects need --check", "name one DIR, or use --check"),
        ("init --targets ,", "--targets names no file", ""),
        ("init --targets notes.txt", "notes.txt is not a file that cub manages", ""),
        ("init --targets ../AGENTS.md", "is not a path inside the project", ""),
        ("init ..", "outside the project", "the project is"),
        ("init /", "outside the project", "the project is"),
        ("init nowhere/at/all", "no such directory", ""),
        ("init notes.txt", "notes.txt", ""),
        ("-C", "-C needs a value", "pass a value after -C"),
    ],
)
def test_a_wrong_command_line_is_2(
    project: Path, cub: Cub, command: str, message: str, hint: str
) -> None:
    result = cub(*command.split())
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert message in result.err
    assert f"hint: {hint}" in result.err or not hint
    assert list(project.iterdir()) == [project / ".git"]


def test_no_command_at_all_is_2_and_shows_help(cub: Cub) -> None:
    result = cub()
    assert result.code == 2
    assert "Usage: cub" in result.out + result.err
    assert "error:" not in result.err
