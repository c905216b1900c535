from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.processes import run_in_shell
from tests.cli.standing import MINE
from tests.command_line import Result
from tests.conftest import Cub, environment
from tests.fork_server import get_cub_command

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes")
ALL_CLOSED = ">&- 2>&- <&-"
# The streams that are closed in the fast tier.
CLOSED = {"init": [ALL_CLOSED], "status": [">&-", "2>&-"], "update --check": ["<&-"]}
RESULTS = [
    "init --diff", "init --json", "init --dry-run", "status", "status --json", "map --json",
    "--help",
]  # fmt: skip


@pytest.mark.parametrize("command", RESULTS)
def test_stdout_is_the_result_alone(project: Path, cub: Cub, command: str) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    result = cub(*command.split())
    assert result.out
    assert not any(word in result.out for word in ("error:", "warning:", "hint:", "Done."))


@pytest.mark.parametrize("command", ["init", "update", "remove"])
def test_the_talk_is_on_stderr(project: Path, cub: Cub, command: str) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    if command != "init":
        cub("init")
        (project / ".cub" / "runloop.md").unlink()
    result = cub(command)
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith(("Done", "Updated"))
    assert "AGENTS.md" in result.out or ".cub/runloop.md" in result.out


def test_warnings_are_on_stderr_with_a_hint(project: Path, cub: Cub) -> None:
    (project / "AGENTS.md").write_bytes(b"```sh\nmake\n")
    result = cub("init", "--diff")
    assert result.err.startswith("warning: AGENTS.md: the section goes to the top: ")
    assert result.out.startswith("--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ ")


def without_reader(project: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run cub with a stdout that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [*get_cub_command(), *arguments],
            cwd=project,
            env=environment(home),
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)


@posix
@pytest.mark.parametrize(
    "command", [*RESULTS, "init", pytest.param("demo", marks=pytest.mark.thorough)]
)
def test_a_reader_that_is_gone_gets_no_traceback(project: Path, home: Path, command: str) -> None:
    (project / "AGENTS.md").write_bytes(MINE * 20_000)
    done = without_reader(project, home, *command.split())
    assert done.returncode in (0, 1)
    for word in ("Traceback", "Exception", "BrokenPipe", "this is a bug"):
        assert word not in done.stderr


@posix
def test_a_reader_that_is_gone_leaves_nothing_half_done(
    project: Path, home: Path, cub: Cub
) -> None:
    (project / "AGENTS.md").write_bytes(MINE)
    without_reader(project, home, "init")
    names = sorted(path.name for path in project.iterdir())
    assert names in ([".git", "AGENTS.md"], [".cub", ".git", "AGENTS.md", "CLAUDE.md"])
    assert cub("init").code == 0
    assert cub("update", "--check").code == 0


@posix
def test_head_takes_one_line_and_goes(project: Path, home: Path) -> None:
    (project / "AGENTS.md").write_bytes(b"x\n")
    done = run_in_shell("init --diff | head -n 1", project, home, get_cub_command())
    assert done.stdout == "--- a/AGENTS.md\n"
    assert "Traceback" not in done.stderr


def to_a_full_stdout(arguments: Sequence[str], cwd: Path, home: Path) -> Result:
    """What cub says where its stdout takes nothing."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*get_cub_command(), *arguments],
            cwd=cwd,
            env=environment(home),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    return Result(done.returncode, "", done.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", RESULTS)
def test_a_stdout_that_is_full_is_a_known_error(project: Path, home: Path, command: str) -> None:
    done = to_a_full_stdout(command.split(), project, home)
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert "no space left on device" in done.err


@posix
@pytest.mark.parametrize(
    ("command", "closed"),
    [
        pytest.param(command, closed, marks=() if closed in fast else pytest.mark.thorough)
        for command, fast in CLOSED.items()
        for closed in (">&-", "2>&-", "<&-", ALL_CLOSED)
    ],
)
def test_streams_may_be_closed(
    project: Path, home: Path, cub: Cub, command: str, closed: str
) -> None:
    if command != "init":
        cub("init")
    # An interpreter of its own: a stream that is closed can't be handed on to a server.
    done = run_in_shell(f"{command} {closed}", project, home, [sys.executable, "-m", "cub"])
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    assert "this is a bug" not in done.stderr
    assert cub("update", "--check").code == 0
