"""A reader that goes away ends every command in silence, wherever it is in its output."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from typer.core import TyperOption

from tests.cli.command_tree import walk_commands
from tests.cli.processes import run_in_shell
from tests.cli.standing import MINE
from tests.cli.tasks import ALL, put, put_events
from tests.command_line import call_cub
from tests.conftest import Cub, environment
from tests.fork_server import get_cub_command, start_cub

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a fork server")

KEY = "b-shop1.2"
# What a command needs to get as far as its result. One that is not listed runs without arguments.
WORDS = {
    "": "--version",
    "task add": "Bake",
    "task edit": f"{KEY} --title Baking",
    "task show": KEY,
    "task claim": KEY,
    "task close": KEY,
    "task reopen": "b-flour",
    "task park": KEY,
    "task start": KEY,
    "task done": KEY,
    "task delete": f"{KEY} --yes",
    "task import": ".cub/tasks.jsonl",
    "task dep add": f"{KEY} b-clean",
    "task dep remove": f"{KEY} b-clean",
    "run": "--dry-run",
    "prompt": KEY,
    "ledger show": KEY,
    "ledger archive": "--before 2026-01-02",
    "map": "--stdout",
    "remove": "--dry-run",
    "config get": "run.max_attempts",
    "config set": "run.max_attempts 2",
    "schema": "plan",
    "help": "task add",
}


def list_calls() -> Iterator[list[str]]:
    """Every command with its words, with --json and its help page; and what is no command."""
    for name, context in walk_commands():
        words = [*name.split(), *WORDS.get(name, "").split()]
        yield words
        yield [*name.split(), "--help"]
        if any("--json" in p.opts for p in context.command.params if isinstance(p, TyperOption)):
            yield [*words, "--json"]
    yield from ([], ["no-such-command"], ["init", "--no-such-option", "--json"])
    yield from (["--show-completion", "bash"], ["-v", "status"])


CALLS = list(list_calls())


@pytest.fixture
def bakery(project: Path, home: Path) -> Path:
    """A project in which every command has something to print."""
    (project / "AGENTS.md").write_bytes(MINE)
    (project / "bread.py").write_text("def bake() -> int:\n    return 1\n")
    assert call_cub(["init"], cwd=project, environ=environment(home)).code == 0
    put(project, *ALL)
    put_events(project, {"ev": "attempt_end", "ts": "2026-01-01T08:00:00.000Z", "task": KEY})
    return project


def call_with_closed_pipe(
    arguments: Sequence[str], cwd: Path, home: Path, *, closed: Sequence[int] = (1,), lines: int = 0
) -> tuple[int, str]:
    """Run cub with a pipe whose reader goes after some lines; the exit code, and stderr."""
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        files = {0: out.fileno(), 1: out.fileno(), 2: err.fileno()}
        files.update(dict.fromkeys(closed, writer))
        with os.fdopen(reader, "rb") as pipe:
            if not lines:
                pipe.close()
            process = start_cub(
                arguments,
                cwd=cwd,
                environ=environment(home),
                descriptors=(files[0], files[1], files[2]),
            )
            os.close(writer)
            for _ in range(lines):
                pipe.readline()
        code = process.wait()
        err.seek(0)
        return code, err.read().decode()


def find_fault(code: int, err: str) -> bool:
    """Return whether a command ended in any other way than with a result, an error, or silence."""
    words = ("Traceback", "BrokenPipe", "Broken pipe", "Exception", "this is a bug", "cannot write")
    return code not in (0, 1, 2) or any(word in err for word in words)


@pytest.mark.parametrize("words", ["", "--version", "status", "config show --json"])
def test_a_command_without_a_reader_ends_with_1_and_says_nothing(
    bakery: Path, home: Path, words: str
) -> None:
    assert call_with_closed_pipe(words.split(), bakery, home) == (1, "")


@pytest.mark.parametrize(
    ("calls", "lines", "closed"),
    [
        ([words for words in CALLS if len(words) == 1], 0, (1,)),
        *(
            pytest.param(CALLS, lines, closed, marks=pytest.mark.thorough)
            for lines, closed in ((0, (1,)), (0, (2,)), (0, (1, 2)), (1, (1,)))
        ),
    ],
)
def test_no_command_complains_of_a_reader_that_goes(
    bakery: Path, home: Path, calls: list[list[str]], lines: int, closed: Sequence[int]
) -> None:
    ends = [
        (words, *call_with_closed_pipe(words, bakery, home, closed=closed, lines=lines))
        for words in calls
    ]
    assert [end for end in ends if find_fault(*end[1:])] == []


def test_there_are_calls_of_all_commands() -> None:
    assert len(CALLS) > 100


def test_nothing_is_left_half_done(project: Path, home: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    assert call_with_closed_pipe(["init"], project, home)[0] == 1
    assert cub("update", "--check").code == 0
    assert call_with_closed_pipe(["task", "add", "Bake"], project, home)[0] == 1
    assert cub("task", "list").out.count("Bake") == 1
    assert cub("doctor", "--select", "D6").code == 0
    assert not (project / ".cub" / "lock").exists()


def test_a_message_that_nobody_reads_ends_no_command(project: Path, home: Path, cub: Cub) -> None:
    assert call_with_closed_pipe(["-v", "init"], project, home, closed=[2])[0] == 0
    assert cub("update", "--check").code == 0


@pytest.mark.parametrize(
    "command", ["task list", "task list --json", "task list --tree", "task export"]
)
def test_head_takes_one_line_of_more_than_a_pipe_holds_and_goes(
    project: Path, home: Path, command: str
) -> None:
    put(project, *({"id": f"b-{number}", "title": "Bake " * 20} for number in range(1000)))
    done = run_in_shell(f"{command} | head -n 1", project, home, get_cub_command())
    assert (len(done.out.splitlines()), done.err) == (1, "")


@pytest.mark.parametrize("words", ["--version", "", "status"])
def test_an_interpreter_of_its_own_ends_in_silence(project: Path, home: Path, words: str) -> None:
    done = run_in_shell(f"{words} | true", project, home, [sys.executable, "-m", "cub"])
    assert done.err == ""
