"""The options of every command, before its name and behind it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cub.cli.app import run_command_line
from tests.cli.tasks import MINE, put

Captured = pytest.CaptureFixture[str]
BOTH = pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])


@pytest.fixture(autouse=True)
def bakery(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a task and a faulty key, and a person without a configuration."""
    put(project, MINE)
    (project / ".cub" / "config.yaml").write_text("nonsense: 1\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("NO_COLOR", "")
    return project


def _run(command: str, option: list[str], *, behind: bool) -> int:
    words = command.split()
    return run_command_line([*words, *option] if behind else [*option, *words])


@BOTH
@pytest.mark.parametrize("command", ["task list", "status", "config show"])
def test_c_counts_on_both_sides(
    project: Path, capsys: Captured, command: str, behind: bool
) -> None:
    assert _run(f"{command} --json", ["-C", str(project)], behind=behind) == 0
    assert f'"root": "{project.as_posix()}"' in capsys.readouterr().out


def test_the_last_c_counts(project: Path, tmp_path: Path, capsys: Captured) -> None:
    assert (
        run_command_line(
            ["-C", str(tmp_path), "task", "-C", "/", "list", "--json", "-C", str(project)]
        )
        == 0
    )
    assert f'"root": "{project.as_posix()}"' in capsys.readouterr().out


@BOTH
@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quiet_leaves_results_alone(
    project: Path, capsys: Captured, option: str, behind: bool
) -> None:
    assert run_command_line(["task", "list", "-C", str(project)]) == 0
    out, err = capsys.readouterr()
    assert "nonsense" in err
    assert _run("task list", [option, "-C", str(project)], behind=behind) == 0
    assert capsys.readouterr() == (out, "")


def test_quiet_leaves_errors(project: Path, capsys: Captured) -> None:
    assert run_command_line(["task", "show", "nope", "-q", "-C", str(project)]) == 1
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[0]) == ("", "error: there is no task 'nope'")
    assert "hint: " in err
    assert "warning" not in err


def test_quiet_ends_with_the_command(project: Path, capsys: Captured) -> None:
    run_command_line(["task", "list", "-q", "-C", str(project)])
    run_command_line(["task", "list", "-C", str(project)])
    assert "nonsense" in capsys.readouterr().err


@BOTH
@pytest.mark.parametrize("option", ["-v", "--verbose"])
def test_verbose_tells_what_was_looked_at(
    project: Path, capsys: Captured, option: str, behind: bool
) -> None:
    assert run_command_line(["task", "list", "-C", str(project)]) == 0
    out = capsys.readouterr().out
    assert _run("task list", [option, "-C", str(project)], behind=behind) == 0
    told = capsys.readouterr()
    assert told.out == out
    lines = [line for line in told.err.splitlines() if re.match(r"\d+\.\d{3}s ", line)]
    size = (project / ".cub" / "tasks.jsonl").stat().st_size
    assert [line.partition(" ")[2] for line in lines] == [
        f"the project is {project.as_posix()}: it has a .cub/",
        "read .cub/config.yaml: 12 bytes",
        f"read .cub/tasks.jsonl: {size} bytes",
        "tasks: 1; lines that are none: 0",
        "done",
    ]


def test_verbose_tells_why_a_file_is_as_it_is(project: Path, capsys: Captured) -> None:
    (project / "CLAUDE.md").write_text("# Bakery\n", encoding="utf-8")
    assert run_command_line(["status", "-v", "-C", str(project)]) == 0
    told = capsys.readouterr().err
    assert "AGENTS.md: no such file; needs the agents text\n" in told
    assert "CLAUDE.md: no section; needs the claude text\n" in told


def test_verbose_ends_with_the_command(project: Path, capsys: Captured) -> None:
    run_command_line(["task", "list", "-v", "-C", str(project)])
    capsys.readouterr()
    run_command_line(["task", "list", "-C", str(project)])
    assert "read " not in capsys.readouterr().err


def test_version_is_a_command_too(capsys: Captured) -> None:
    assert run_command_line(["version"]) == run_command_line(["--version"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["run", "--check", ""], "--check"),
        (["run", "--check", "make", "--check", " "], "--check"),
        (["run", "--dry-run", "--task", ""], "--task"),
        (["run", "--harness="], "--harness"),
        (["task", "add", "Bake", "--check", ""], "--check"),
        (["task", "edit", "b-clean", "--check", ""], "--check"),
    ],
)
def test_an_empty_value_is_an_error(
    project: Path, words: list[str], option: str, capsys: Captured
) -> None:
    """A variable that is not set made a check that every attempt passes."""
    assert run_command_line(["-C", str(project), *words]) == 2
    err = capsys.readouterr().err
    assert f"error: {option}: the value is empty" in err
    assert "hint: is a variable of your shell not set?" in err


def test_the_checks_of_a_task_can_be_removed(project: Path, capsys: Captured) -> None:
    here = ["-C", str(project)]
    assert run_command_line([*here, "task", "edit", "b-clean", "--check", "true"]) == 0
    assert run_command_line([*here, "task", "edit", "b-clean", "--no-checks"]) == 0
    both = ["--check", "true", "--no-checks"]
    assert run_command_line([*here, "task", "edit", "b-clean", *both]) == 2
    assert "--check cannot be used with --no-checks" in capsys.readouterr().err
    assert run_command_line([*here, "task", "show", "b-clean"]) == 0
    assert "true" not in capsys.readouterr().out
