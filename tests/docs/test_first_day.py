"""From README alone to the first closed task: with one agent, with a key, and with neither.

Each script begins with the first command of README's quick start. After it, a script types what a
command printed for the user to copy, so the words can't differ from what works.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from cub.model_server.exchange import Reply, ScriptedCall
from cub.model_server.server import ModelServer
from tests.conftest import git
from tests.docs.pages import Done, commands, typed
from tests.docs.test_readme import BAKERY, CLAUDE, README

pytestmark = pytest.mark.skipif(
    os.name != "posix" or shutil.which("bash") is None, reason="the commands are for a shell"
)
MOST = 4  # commands to the first closed task
CLOSED = re.compile(r"^  \S+ is closed$", re.MULTILINE)
WRITTEN = "def rest(loaves):\n    return loaves % 12\n"


class Desk:
    """A repository, and a shell on a machine that has git, Python and cub."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.home = home
        self.exports = ['export PATH="$HOME/bin:/usr/bin:/bin"']
        (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
        (home / "bin").mkdir()
        for name in ("git", "python3"):  # beside them, agents may be installed
            (home / "bin" / name).symlink_to(str(shutil.which(name)))
        folder.mkdir()
        for name, text in BAKERY.items():
            (folder / name).write_text(text)
        for line in ("git init -q", "git add .", "git commit -qm Bakery"):
            self.type(line)

    def type(self, line: str) -> Done:
        """Type a line; it has to work."""
        done = typed([*self.exports, line], self.folder, self.home)[-1]
        assert done.code == 0, (line, done.output)
        return done

    def follow(self) -> list[str]:
        """Type README's first command, then what it printed; return the lines up to the one that
        closed a task.
        """
        lines = [commands(README)[0].text]
        done = self.type(lines[0])
        for line in find_printed_commands(done.output):
            lines.append(line)
            if CLOSED.search("\n".join(self.type(line).output)):
                break
        else:
            pytest.fail("\n".join(["no task is closed after", *lines, "", *done.output]))
        return lines


def find_printed_commands(output: Sequence[str]) -> list[str]:
    """The lines that a command prints for the user to copy, without the comment after each."""
    found = (re.match(r"  ((?:cub|git|cd|export) .*?)(?:  +# .*)?$", line) for line in output)
    return [match[1] for match in found if match]


@pytest.fixture
def desk(tmp_path: Path, home: Path) -> Desk:
    return Desk(tmp_path / "bakery", home)


def assert_one_commit_closed_the_task(desk: Desk, lines: Sequence[str]) -> None:
    assert len(lines) <= MOST
    subjects = git(desk.folder, "log", "--format=%s").splitlines()
    assert len([subject for subject in subjects if subject.startswith("task(")]) == 1
    assert WRITTEN in git(desk.folder, "show", "HEAD:bread.py")


def test_with_one_agent(desk: Desk) -> None:
    (desk.home / "bin" / "claude").write_text(CLAUDE)
    (desk.home / "bin" / "claude").chmod(0o755)
    assert_one_commit_closed_the_task(desk, desk.follow())


@pytest.mark.thorough
def test_with_a_key_only(desk: Desk) -> None:
    change = {"file_path": "bread.py", "content": f"{BAKERY['bread.py']}\n\n{WRITTEN}"}
    replies = (
        Reply("I read it.", calls=[ScriptedCall("Read", {"file_path": "bread.py"})]),
        Reply("I add it.", calls=[ScriptedCall("Write", change)]),
        Reply("I added rest().\n\nStatus: done"),
    )
    with ModelServer(iter(replies)) as server:
        desk.exports += [
            "export ANTHROPIC_API_KEY=dummy",
            f"export ANTHROPIC_BASE_URL={server.url} NO_PROXY='*'",
        ]
        lines = desk.follow()
    assert_one_commit_closed_the_task(desk, lines)


@pytest.mark.thorough
def test_without_an_agent(desk: Desk) -> None:
    first = desk.type(commands(README)[0].text)
    (line,) = set(re.findall(r"`(cub demo)`", "\n".join(first.output)))
    assert CLOSED.search("\n".join(desk.type(line).output))
