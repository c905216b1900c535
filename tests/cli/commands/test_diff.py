from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.standing import MINE
from tests.conftest import Cub, environment, git, tree
from tests.fork_server import get_cub_command

TEXTS = {
    "no file": None,
    "empty": b"",
    "LF": b"# Title\n\nText.\n",
    "CRLF": MINE,
    "mixed": b"a\r\nb\nc\r\n",
    "no last line end": b"# Title\r\n\r\nText",
    "UTF-8": "# Bäckerei\n\nÜber 🥖\u2028\u0085\x0c\n".encode(),
    "a mark in front": b"\xef\xbb\xbf# Title\n",
    "an open fence": b"# Title\n\n```sh\nmake\n",
}


def apply_diff(project: Path, home: Path, *command: str) -> None:
    """Give git what cub prints, byte for byte."""
    cub = [*get_cub_command(), *command, "--diff"]
    diff = subprocess.run(cub, cwd=project, env=environment(home), capture_output=True, check=True)
    subprocess.run(["git", "apply", "-"], cwd=project, input=diff.stdout, check=True)


def shared(project: Path) -> dict[str, bytes]:
    """The files that a commit would have."""
    listed = git(project, "ls-files", "-co", "--exclude-standard", "-z").split("\0")[:-1]
    return {name: (project / name).read_bytes() for name in listed}


@pytest.mark.parametrize("text", TEXTS)
def test_git_makes_of_the_diff_what_init_makes(
    project: Path, home: Path, cub: Cub, text: str
) -> None:
    data = TEXTS[text]
    if data is not None:
        (project / "AGENTS.md").write_bytes(data)
    apply_diff(project, home, "init")
    applied = tree(project)
    git(project, "clean", "-qfdx")
    if data is not None:
        (project / "AGENTS.md").write_bytes(data)
    cub("init")
    assert applied == shared(project)


@pytest.mark.parametrize("folder", ["packages/api", "with a blank", "ünïcode", "a-(b)"])
def test_git_reads_the_names_of_nested_files(
    project: Path, home: Path, cub: Cub, folder: str
) -> None:
    (project / folder).mkdir(parents=True)
    apply_diff(project, home, "init", folder)
    applied = (project / folder / "AGENTS.md").read_bytes()
    git(project, "clean", "-qfdx")
    (project / folder).mkdir(parents=True)
    cub("init", folder)
    assert (project / folder / "AGENTS.md").read_bytes() == applied


def test_git_makes_of_the_diff_what_update_makes(project: Path, home: Path, cub: Cub) -> None:
    cub("init")
    stale = (project / "AGENTS.md").read_bytes().replace(b"cub:digest", b"digest")
    (project / "AGENTS.md").write_bytes(b"Above.\n\n" + stale + b"\nBelow.\n")
    before = tree(project)
    apply_diff(project, home, "update")
    applied = (project / "AGENTS.md").read_bytes()
    for name, data in before.items():
        (project / name).write_bytes(data)
    cub("update")
    assert (project / "AGENTS.md").read_bytes() == applied


def test_nothing_to_change_is_an_empty_diff(cub: Cub) -> None:
    cub("init")
    assert cub("init", "--diff").out == cub("update", "--diff").out == ""


def test_the_diff_does_not_show_local_files(cub: Cub) -> None:
    assert "+++ b/.cub/state.json" not in cub("init", "--diff").out
