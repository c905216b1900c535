"""`cub init` ends with what a run needs next: as lines, or as questions on a terminal."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest

from tests.actions.helpers import put_programs
from tests.cli.terminal import Screen, in_terminal, remove_progress
from tests.conftest import Cub, git

PYPROJECT = '[project]\nname = "x"\ndependencies = ["pytest"]\n[tool.pytest.ini_options]\n'
INTRODUCTION = """\
`cub init` adds a marked section to AGENTS.md (new), CLAUDE.md (new). Your own text keeps \
every byte.
It creates .cub/ with a project map, operating principles, and files for tasks and git.
To preview, run `cub init --diff`; to undo, run `cub remove`.
"""
FOUND = """\
Agent: Claude Code, the first one installed; also installed: Codex.
Tests: `pytest` (from pyproject.toml).
"""
NEXT = """\
Next:
  git add AGENTS.md CLAUDE.md .cub && git commit -m "Add cub"
  cub task add "Add one missing test"
  cub run"""
DOCTOR = "hint: run `cub doctor` to list all problems and their fixes\n"
WROTE = "Wrote 8 files.\n"
ADDED = f"{INTRODUCTION}{WROTE}{FOUND}{NEXT}"


@pytest.fixture
def path(project: Path, home: Path, tmp_path: Path) -> str:
    """A PATH with git, pytest and two agents, for a project that has tests, of a known author."""
    (home / ".gitconfig").write_text("[user]\n\tname = ada\n\temail = ada@example.com\n")
    (project / "pyproject.toml").write_text(PYPROJECT)
    folder = put_programs(tmp_path / "bin", "claude", "codex", "pytest")
    (folder / "git").symlink_to(str(shutil.which("git")))
    return str(folder)


def is_trusted(cub: Cub, path: str) -> bool:
    return bool(json.loads(cub("trust", "--show", "--json", PATH=path).out)["trusted"])


def test_the_next_commands_are_printed(project: Path, cub: Cub, path: str) -> None:
    shown = cub("init", "--dry-run", PATH=path)
    assert shown.err == "Dry run: nothing was written.\n"
    assert shown.out.startswith("would create  AGENTS.md ")
    done = cub("init", PATH=path)
    assert (done.code, done.err) == (0, f"{ADDED} --trust\n")
    assert not (project / ".cub" / "config.yaml").exists()
    assert not is_trusted(cub, path)
    no_commit = "D104 error the repository has no commit yet\n"
    assert cub("init", PATH=path).err == f"Already up to date.\n{FOUND}{no_commit}{DOCTOR}"
    assert cub("init", "--dry-run", PATH=path).err == "Already up to date.\n"


def test_a_quiet_init_prints_nothing_of_it(cub: Cub, path: str) -> None:
    assert cub("init", "--quiet", PATH=path).err == ""


def test_json_has_no_ending(cub: Cub, path: str) -> None:
    assert cub("init", "--json", PATH=path).err == ""


def test_yes_agrees_to_the_checks_and_writes_no_more(project: Path, cub: Cub, path: str) -> None:
    done = cub("init", "--yes", PATH=path)
    assert (done.code, done.err) == (0, f"{ADDED}\n")
    assert not (project / ".cub" / "config.yaml").exists()
    assert is_trusted(cub, path)
    put_programs(Path(path), "make")
    (project / "Makefile").write_text("test:\n\ttrue\n")
    assert not is_trusted(cub, path)


def test_tests_that_cannot_run_here_are_no_check(cub: Cub, path: str) -> None:
    (Path(path) / "pytest").unlink()
    done = cub("init", "--yes", PATH=path)
    assert (
        "Tests: none to use; the tests are `pytest`, from pyproject.toml, but pytest is not "
        "installed: run `pip install pytest`.\n"
    ) in done.err
    assert 'cub task add "Write README.md" --check "test -s README.md"\n  cub run\n' in done.err


def test_what_is_configured_is_named(project: Path, cub: Cub, path: str) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("run: {harness: codex, checks: [make]}\n")
    err = cub("init", PATH=path).err
    assert "Agent: codex, as configured; installed: Claude Code, Codex.\n" in err
    assert "Checks: `make`, from run.checks.\n" in err


def test_without_an_agent_the_ways_to_one_are_named(cub: Cub, path: str) -> None:
    for name in ("claude", "codex"):
        (Path(path) / name).unlink()
    err = cub("init", PATH=path).err
    assert "No agent was found. Get one in one of these ways:\n" in err
    assert "  npm install -g @anthropic-ai/claude-code " in err
    assert "  export ANTHROPIC_API_KEY=… " in err
    assert "  cub run --harness builtin --model ollama/NAME " in err
    assert "`cub demo` plays a run" in err


def test_a_model_is_enough_of_an_agent(project: Path, cub: Cub, path: str) -> None:
    for name in ("claude", "codex"):
        (Path(path) / name).unlink()
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("run: {model: scripted/x.yaml}\n")
    (project / "x.yaml").write_text("conversations: []\n")
    assert "Agent: the built-in one; no other" in cub("init", PATH=path).err


def test_all_leaves_out_the_agents_that_nobody_has_here(project: Path, cub: Cub, path: str) -> None:
    (project / ".aider.conf.yml").write_text("# mine\n")
    done = cub("init", "--agent", "all", PATH=path)
    assert (
        "warning: --agent all: left out Gemini CLI, opencode, pi: not installed, and without files "
        "in this project\nhint: run `cub init --agent gemini`\n"
    ) in done.err
    assert ".aider.conf.yml" in done.out
    assert not (project / ".gemini").exists()
    assert (project / ".cub" / "config.yaml").read_text().startswith("inline: [map, constitution]")
    assert cub("init", "--agent", "gemini", PATH=path).code == 0
    assert (project / ".gemini").exists()


def test_without_git_only_tasks_are_left(project: Path, cub: Cub, path: str) -> None:
    shutil.rmtree(project / ".git")
    (Path(path) / "git").unlink()
    err = cub("init", PATH=path).err
    assert "`cub run` needs git, which is not installed.\n" in err
    assert err.endswith('Next:\n  cub task add "Add one missing test"\n')


def test_problems_of_the_project_are_printed_before_the_next_commands(
    project: Path, home: Path, cub: Cub, path: str
) -> None:
    (project / "CLAUDE.md").write_text("@docs/gone.md\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "start")
    (project / "pyproject.toml").write_text(f"{PYPROJECT}# changed\n")
    (home / ".gitconfig").unlink()
    problems = (
        "D409 warning CLAUDE.md:1: the import @docs/gone.md names a file that does not exist\n"
    )
    changes = "D107 warning changes are not committed: pyproject.toml\n"
    shown = cub("init", "--dry-run", PATH=path)
    assert "D107" not in shown.err
    assert cub("init", "--json", "--dry-run", PATH=path).err == ""
    err = cub("init", PATH=path).err
    assert f"{changes}{problems}" in err
    assert f"{DOCTOR}Next:\n" in err
    assert "\nD105 error git has no identity for commits: " in err
    assert "D107" not in cub("init", "-q", "--targets", "AGENTS.md", PATH=path).err


def test_five_problems_are_enough(project: Path, cub: Cub, path: str) -> None:
    (project / "CLAUDE.md").write_text("".join(f"@gone{number}.md\n" for number in range(7)))
    err = cub("init", PATH=path).err
    assert err.count("D409 warning CLAUDE.md:") == 5
    assert f"@gone4.md names a file that does not exist\n{DOCTOR}" in err


def test_what_init_itself_changes_is_no_problem(project: Path, cub: Cub, path: str) -> None:
    (project / ".gemini").mkdir()
    (project / ".gemini" / "settings.json").write_text("{}\n")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "start")
    done = cub("init", "--agent", "gemini", PATH=path)
    assert ".gemini/settings.json" in done.out
    assert "D107" not in done.err
    assert (
        "D107 warning changes are not committed: .gemini/settings.json\n"
        in cub("init", PATH=path).err
    )


def asked(project: Path, home: Path, path: str, answer: str | signal.Signals) -> Screen:
    return in_terminal(
        "init", cwd=project, home=home, answer=answer, at="[claude]", PATH=path, NO_COLOR="1"
    )


def test_answers_on_a_terminal_are_written_and_agreed_to(
    project: Path, home: Path, cub: Cub, path: str
) -> None:
    screen = asked(project, home, path, "zebra\ncodex\nperhaps\n\n")
    text = remove_progress(screen.text)
    assert screen.code == 0
    assert text.startswith(INTRODUCTION.partition(", CLAUDE")[0])
    assert text.count("Agent for `cub run` (claude, codex, auto) [claude]") == 2
    assert "unknown agent 'zebra'; choose from claude, codex, auto" in text
    assert "Trust `pytest` (from pyproject.toml) to decide whether a task is done? [Y/n]" in text
    assert "unknown answer 'perhaps'; choose from y, n" in text
    assert text.endswith("  cub run\n")
    config = (project / ".cub" / "config.yaml").read_text()
    assert config == "run:\n  harness: codex\n"
    assert is_trusted(cub, path)


@pytest.mark.parametrize("answer", [signal.SIGINT, "\x04", "codex\n\x04"], ids=["c", "d", "2nd"])
def test_an_interrupt_at_a_question_writes_nothing(
    project: Path, home: Path, path: str, answer: str | signal.Signals
) -> None:
    before = sorted(project.iterdir())
    screen = asked(project, home, path, answer)
    assert screen.code == 130
    assert screen.text.endswith(": \nNothing was written.\n")
    assert sorted(project.iterdir()) == before


def test_one_agent_is_not_asked_about(project: Path, home: Path, path: str) -> None:
    (Path(path) / "codex").unlink()
    screen = in_terminal(
        "init", cwd=project, home=home, answer="\n", at="[Y/n]", PATH=path, NO_COLOR="1"
    )
    assert screen.code == 0
    assert "Agent for" not in screen.text
    assert "Agent: Claude Code, the first one installed.\n" in screen.text


def test_none_and_no_write_nothing(project: Path, home: Path, cub: Cub, path: str) -> None:
    screen = asked(project, home, path, "auto\nn\n")
    assert screen.code == 0
    assert not (project / ".cub" / "config.yaml").exists()
    assert not is_trusted(cub, path)
    assert '--check "test -s README.md"' in screen.text


def test_a_broken_project_is_not_asked_about(project: Path, home: Path, path: str) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "config.yaml").write_text("run: 7\n")
    screen = in_terminal("init", cwd=project, home=home, PATH=path, NO_COLOR="1")
    assert screen.code == 1
    assert "Agent for" not in screen.text
