from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.cli.standing import MINE, stand
from tests.cli.terminal import Screen, in_terminal
from tests.conftest import Cub, tree

QUESTION = "Delete these files permanently?"
terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")


@pytest.fixture(autouse=True)
def used(project: Path, cub: Cub) -> None:
    """A project that has been worked in."""
    (project / "AGENTS.md").write_bytes(MINE)
    assert cub("init").code == 0
    (project / ".cub" / "tasks.jsonl").write_bytes(b'{"id":"1"}\n')
    (project / ".cub" / "runs" / "1").mkdir(parents=True)
    (project / ".cub" / "runs" / "1" / "prompt.md").write_bytes(b"x")


def ask(project: Path, home: Path, answer: str | signal.Signals) -> Screen:
    return in_terminal("remove", "--purge", cwd=project, home=home, answer=answer, at=QUESTION)


def test_a_purge_that_nobody_can_be_asked_about_is_a_wrong_command_line(
    project: Path, cub: Cub
) -> None:
    before = tree(project)
    result = cub("remove", "--purge")
    assert result.code == 2
    assert result.err.splitlines()[-1] == "hint: pass --yes"
    assert tree(project) == before


def test_with_yes_nothing_of_cub_is_left(project: Path, cub: Cub) -> None:
    result = cub("remove", "--purge", "--yes")
    assert result.code == 0
    assert tree(project) == {"AGENTS.md": MINE}
    assert not (project / ".cub").exists()


def test_without_purge_what_is_the_user_s_stays(project: Path, cub: Cub) -> None:
    assert cub("remove").code == 0
    left = {".cub/constitution.md", ".cub/tasks.jsonl", ".cub/runs/1/prompt.md"}
    assert set(tree(project)) == {"AGENTS.md", *left}
    assert (project / "AGENTS.md").read_bytes() == MINE


@terminal
def test_a_person_sees_the_list_and_says_yes(project: Path, home: Path) -> None:
    screen = ask(project, home, "y\n")
    assert screen.code == 0
    listed = screen.text.partition(QUESTION)[0]
    for name in (".cub/constitution.md", ".cub/tasks.jsonl", ".cub/runs/1/prompt.md"):
        assert name in listed
    assert tree(project) == {"AGENTS.md": MINE}


@terminal
@pytest.mark.parametrize(
    ("answer", "codes"),
    [("n\n", (1,)), ("\n", (1,)), ("\x04", (1, 130)), (signal.SIGINT, (130,))],
    ids=["no", "enter", "^D", "^C"],
)
def test_a_person_who_does_not_say_yes_keeps_everything(
    project: Path, home: Path, answer: str | signal.Signals, codes: tuple[int, ...]
) -> None:
    before = stand(project)
    screen = ask(project, home, answer)
    assert screen.code in codes
    assert "Traceback" not in screen.text
    assert {**stand(project), ".cub": before[".cub"]} == before


def test_a_link_in_dot_cub_is_named_and_left(project: Path, cub: Cub) -> None:
    if sys.platform == "win32":
        pytest.skip("needs links")
    (project / ".cub" / "notes").symlink_to("..")
    result = cub("remove", "--purge", "--yes")
    assert result.code == 0
    assert "warning: .cub/notes: kept: not a regular file" in result.err
    assert set(tree(project)) == {"AGENTS.md"}
    assert (project / ".cub" / "notes").is_symlink()
