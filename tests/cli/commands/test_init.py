"""`cub init` ends with what a run needs next: as lines, or as questions on a terminal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.actions.helpers import put_programs
from tests.cli.terminal import Screen, in_terminal, remove_progress
from tests.conftest import Cub

PYPROJECT = '[project]\nname = "x"\ndependencies = ["pytest"]\n[tool.pytest.ini_options]\n'
DONE = "Done. Review it with git, then commit; `cub update` refreshes what is cub's.\n"
NEXT = """\
Next, to choose what `cub run` uses:
  cub config set run.harness claude
  cub config set run.checks '[pytest]'
"""


@pytest.fixture
def path(project: Path, tmp_path: Path) -> str:
    """A PATH with git, pytest and two agents, for a project that has tests."""
    (project / "pyproject.toml").write_text(PYPROJECT)
    folder = put_programs(tmp_path / "bin", "claude", "codex", "pytest")
    (folder / "git").symlink_to(str(shutil.which("git")))
    return str(folder)


def is_trusted(cub: Cub, path: str) -> bool:
    return bool(json.loads(cub("trust", "--show", "--json", PATH=path).out)["trusted"])


def test_the_next_steps_are_lines_to_be_typed(project: Path, cub: Cub, path: str) -> None:
    shown = cub("init", "--dry-run", PATH=path)
    assert shown.err == ""
    done = cub("init", PATH=path)
    assert (done.code, done.err) == (0, DONE + NEXT)
    assert not (project / ".cub" / "config.yaml").exists()
    assert not is_trusted(cub, path)
    assert cub("init", PATH=path).err == "Nothing to do: everything is in place.\n"


def test_yes_agrees_to_the_checks_and_writes_no_more(project: Path, cub: Cub, path: str) -> None:
    done = cub("init", "--yes", PATH=path)
    assert (done.code, done.err) == (0, DONE + NEXT)
    assert not (project / ".cub" / "config.yaml").exists()
    assert is_trusted(cub, path)
    put_programs(Path(path), "make")
    (project / "Makefile").write_text("test:\n\ttrue\n")
    assert not is_trusted(cub, path)


def test_tests_that_cannot_run_here_are_no_check(cub: Cub, path: str) -> None:
    (Path(path) / "pytest").unlink()
    done = cub("init", "--yes", PATH=path)
    assert done.err == DONE + (
        "No check for `cub run`: the tests are `pytest`, from pyproject.toml, but pytest is not "
        "installed: run `pip install pytest`.\n" + NEXT.rpartition("  cub")[0]
    )


def test_what_is_configured_needs_no_step(project: Path, cub: Cub, path: str) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("run: {harness: codex, checks: [make]}\n")
    assert cub("init", PATH=path).err == DONE


def test_without_git_there_is_no_run(project: Path, cub: Cub, path: str) -> None:
    shutil.rmtree(project / ".git")
    assert cub("init", PATH=path).err == "Done. `cub update` refreshes what is cub's.\n"


def asked(project: Path, home: Path, path: str, answer: str) -> Screen:
    return in_terminal(
        "init", cwd=project, home=home, answer=answer, at="[claude]", PATH=path, NO_COLOR="1"
    )


def test_answers_on_a_terminal_are_written_and_agreed_to(
    project: Path, home: Path, cub: Cub, path: str
) -> None:
    screen = asked(project, home, path, "zebra\ncodex\n\n")
    text = remove_progress(screen.text)
    assert screen.code == 0
    assert text.count("Agent for `cub run` (claude, codex, none) [claude]") == 2
    assert "Let `pytest` decide whether a task is done? [Y/n]" in text
    assert "set run.harness; set run.checks" in text
    assert "Next" not in text
    config = (project / ".cub" / "config.yaml").read_text()
    assert config == "run:\n  harness: codex\n  checks: [pytest]\n"
    assert is_trusted(cub, path)
    assert cub("init", PATH=path).err == "Nothing to do: everything is in place.\n"


def test_none_and_no_write_nothing(project: Path, home: Path, cub: Cub, path: str) -> None:
    screen = asked(project, home, path, "none\nn\n")
    assert screen.code == 0
    assert not (project / ".cub" / "config.yaml").exists()
    assert not is_trusted(cub, path)


def test_a_broken_project_is_not_asked_about(project: Path, home: Path, path: str) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("run: 7\n")
    screen = in_terminal("init", cwd=project, home=home, PATH=path, NO_COLOR="1")
    assert screen.code == 1
    assert "Agent for" not in screen.text
