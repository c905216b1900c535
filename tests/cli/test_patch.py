"""`--diff` in a pipe is a patch of every byte, and on a terminal it moves nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import in_terminal
from tests.conftest import Cub, environment, git, tree

ESCAPES = b"\x1b]0;owned\x07 \x1b[2J \x9b31m\n"
MINE = b"# Mine\n" + ESCAPES + b"\xff\xfe caf\xc3\xa9\r\nCR\rno end " + ESCAPES[:-1]
BROKEN = b"<!-- END CUB MANAGED SECTION -->\n" + ESCAPES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and terminals")


def shared(root: Path) -> dict[str, bytes]:
    """What git would see of a project."""
    paths = git(root, "ls-files", "-z", "--others", "--cached", "--exclude-standard")
    files = tree(root)
    return {path: files[path] for path in paths.split("\0")[:-1]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_patch_makes_exactly_what_the_command_writes(
    project: Path, home: Path, cub: Cub, encoding: str
) -> None:
    for path in ("AGENTS.md", "CLAUDE.md"):
        (project / path).write_bytes(MINE)
    # An interpreter of its own: it is told the encoding when it starts.
    text = subprocess.run(
        [sys.executable, "-m", "cub", "init", "--diff"],
        cwd=project,
        env={**environment(home), "PYTHONIOENCODING": encoding},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    subprocess.run(["git", "apply"], cwd=project, input=text, check=True)
    applied = shared(project)
    for path in applied:
        (project / path).unlink()
    for path in ("AGENTS.md", "CLAUDE.md"):
        (project / path).write_bytes(MINE)
    assert cub("init").code == 0
    assert shared(project) == applied
    assert applied["AGENTS.md"].startswith(MINE)


def test_a_choice_of_repair_is_a_patch_too(project: Path, cub_process: Cub) -> None:
    (project / "AGENTS.md").write_bytes(BROKEN)
    text = cub_process("repair").out.encode("utf-8", "surrogateescape")
    start = text.index(b"--- a/AGENTS.md")
    subprocess.run(["git", "apply"], cwd=project, input=text[start:], check=True)
    assert (project / "AGENTS.md").read_bytes() == ESCAPES


@pytest.mark.parametrize(("command", "data"), [("init --diff", MINE), ("repair", BROKEN)])
def test_what_a_terminal_gets_of_a_file_does_not_move_it(
    project: Path, home: Path, command: str, data: bytes
) -> None:
    (project / "AGENTS.md").write_bytes(data)
    seen = in_terminal(*command.split(), cwd=project, home=home).text
    assert [word for word in ("\x1b]", "\x07", "\x1b[2J", "\x9b") if word in seen] == []
    assert "\\x1b]0;owned\\x07" in seen
