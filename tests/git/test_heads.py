from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import git
from tests.git.checkouts import checkout, lines, save, state, write


@pytest.fixture
def top(project: Path) -> Path:
    git(project, "checkout", "-q", "-b", "main")
    write(project, {"a.txt": "1\n"})
    save(project, "first")
    write(project, {"a.txt": "2\n"})
    save(project, "second")
    return project


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ([], ""),
        (["commit", "-q", "--allow-empty", "-m", "x"], "forward"),
        (["switch", "-q", "-c", "agent"], "forward"),
        (["checkout", "-q", "--detach"], "forward"),
        (["reset", "-q", "--hard", "HEAD~1"], "away"),
        (["commit", "-q", "--amend", "-m", "x"], "away"),
        (["switch", "-q", "--orphan", "agent"], "away"),
    ],
    ids=str,
)
def test_where_head_went(top: Path, words: list[str], answer: str) -> None:
    ours = checkout(top)
    before = ours.snapshot()
    if words:
        git(top, *words)
    assert ours.took_over(before) == answer


def test_the_first_commit_is_a_step_forward(project: Path) -> None:
    ours = checkout(project)
    before = ours.snapshot()
    assert ours.took_over(before) == ""
    save(project)
    assert ours.took_over(before) == "forward"


@pytest.mark.parametrize("detached", [False, True])
def test_the_branch_of_before_gets_what_an_agent_committed(top: Path, detached: bool) -> None:
    if detached:
        git(top, "checkout", "-q", "--detach")
    ours = checkout(top)
    before = ours.snapshot()
    git(top, "switch", "-q", "-c", "agent")
    write(top, {"b.txt": "x"})
    commit = save(top)
    write(top, {"b.txt": "not committed"})
    files = state(top)
    assert ours.settle(before) == ((), ())
    assert ours.settle(before) == ((), ())
    assert lines(top) == ["## HEAD (no branch)" if detached else "## main", " M b.txt"]
    assert git(top, "rev-parse", "HEAD", "agent").split() == [commit, commit]
    assert state(top) == files


def test_what_a_person_did_not_commit_comes_into_no_history(top: Path) -> None:
    write(top, {"mine.txt": "x"})
    ours = checkout(top)
    before = ours.snapshot()
    commit = save(top)
    found = ours.settle(before)
    assert found.private == ("mine.txt",)
    assert git(top, "rev-parse", "main", *found.kept).split() == [before.head, commit]


def test_settling_keeps_what_only_the_branch_of_before_had(top: Path) -> None:
    ours = checkout(top)
    before = ours.snapshot()
    lost = save(top, "on main")
    git(top, "switch", "-q", "-c", "agent", "HEAD~1")
    commit = save(top, "on agent")
    [kept] = ours.settle(before).kept
    assert git(top, "rev-parse", kept, "main").split() == [lost, commit]
