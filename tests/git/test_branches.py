from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError
from cub.git.branches import (
    add_worktree,
    classify_head_move,
    delete_merged_branch,
    has_branch,
    read_head_commit,
    reattach_branch,
    remove_worktree,
    switch_back,
    switch_branch,
)
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree import read_head
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
    before = take_snapshot(ours)
    if words:
        git(top, *words)
    assert classify_head_move(ours.toplevel, before) == answer


def test_the_first_commit_is_a_step_forward(project: Path) -> None:
    ours = checkout(project)
    before = take_snapshot(ours)
    assert classify_head_move(ours.toplevel, before) == ""
    save(project)
    assert classify_head_move(ours.toplevel, before) == "forward"


@pytest.mark.parametrize("detached", [False, True])
def test_the_branch_of_before_gets_what_an_agent_committed(top: Path, detached: bool) -> None:
    if detached:
        git(top, "checkout", "-q", "--detach")
    ours = checkout(top)
    before = take_snapshot(ours)
    git(top, "switch", "-q", "-c", "agent")
    write(top, {"b.txt": "x"})
    commit = save(top)
    write(top, {"b.txt": "not committed"})
    files = state(top)
    assert reattach_branch(ours, before) == ((), ())
    assert reattach_branch(ours, before) == ((), ())
    assert lines(top) == ["## HEAD (no branch)" if detached else "## main", " M b.txt"]
    assert git(top, "rev-parse", "HEAD", "agent").split() == [commit, commit]
    assert state(top) == files


def test_what_a_person_did_not_commit_comes_into_no_history(top: Path) -> None:
    write(top, {"mine.txt": "x"})
    ours = checkout(top)
    before = take_snapshot(ours)
    commit = save(top)
    found = reattach_branch(ours, before)
    assert found.private_files == ("mine.txt",)
    assert git(top, "rev-parse", "main", *found.rescued_refs).split() == [before.head, commit]


def test_settling_keeps_what_only_the_branch_of_before_had(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    lost = save(top, "on main")
    git(top, "switch", "-q", "-c", "agent", "HEAD~1")
    commit = save(top, "on agent")
    [kept] = reattach_branch(ours, before).rescued_refs
    assert git(top, "rev-parse", kept, "main").split() == [lost, commit]


@pytest.fixture
def branches_top(project: Path) -> Path:
    git(project, "checkout", "-q", "-b", "main")
    write(project, {"a.txt": "1\n", ".gitignore": "*.log\n"})
    save(project)
    return project


def test_a_branch_is_made_or_switched_to(branches_top: Path) -> None:
    write(branches_top, {"a.txt": "2\n"})
    switch_branch(branches_top, "cub/t-1")
    assert lines(branches_top) == ["## cub/t-1", " M a.txt"]
    git(branches_top, "commit", "-q", "-a", "-m", "x")
    switch_branch(branches_top, "main")
    assert (branches_top / "a.txt").read_text() == "1\n"


@pytest.mark.parametrize("name", ["", "-b", "a..b", "a b", "HEAD", "@{-1}", "x.lock", "a\n"])
def test_a_name_that_git_refuses_is_an_error(branches_top: Path, name: str) -> None:
    with pytest.raises(CubError, match="name of a branch"):
        switch_branch(branches_top, name)
    assert lines(branches_top) == ["## main"]


def test_what_stands_in_the_way_is_told(branches_top: Path) -> None:
    switch_branch(branches_top, "side")
    write(branches_top, {"a.txt": "2\n"})
    git(branches_top, "commit", "-q", "-a", "-m", "x")
    switch_branch(branches_top, "main")
    write(branches_top, {"a.txt": "3\n"})
    with pytest.raises(CubError, match=r"git switch failed: .*overwritten") as error:
        switch_branch(branches_top, "side")
    assert any("a.txt" in line for line in error.value.details)


def test_a_work_tree_comes_and_goes(branches_top: Path, tmp_path: Path) -> None:
    folder = tmp_path / "linked"
    for _ in range(2):  # its branch is there the second time
        add_worktree(branches_top, folder, "cub/t-1")
        assert lines(folder) == ["## cub/t-1"]
        write(folder, {"x.log": "ignored"})
        assert remove_worktree(branches_top, folder)
        assert not folder.exists()


@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
def test_a_work_tree_with_work_in_it_stays(branches_top: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "linked"
    add_worktree(branches_top, folder, "side")
    write(folder, {name: "work"})
    assert not remove_worktree(branches_top, folder)
    assert (folder / name).read_text() == "work"


def test_a_work_tree_goes_by_force(branches_top: Path, tmp_path: Path) -> None:
    add_worktree(branches_top, tmp_path / "linked", "side")
    write(tmp_path / "linked", {"a.txt": "changed", "new.txt": "new"})
    assert remove_worktree(branches_top, tmp_path / "linked", force=True)
    assert not (tmp_path / "linked").exists()


@pytest.mark.parametrize("before", ["main", "HEAD", "unborn"])
def test_a_switch_is_undone(branches_top: Path, before: str) -> None:
    if before == "unborn":
        git(branches_top, "switch", "-q", "--orphan", "unborn")
    elif before == "HEAD":
        git(branches_top, "switch", "-q", "--detach")
    head, files = read_head(branches_top), lines(branches_top)
    switch_branch(branches_top, "cub/t-1")
    assert read_head(branches_top) != head
    switch_back(branches_top, head)
    assert (read_head(branches_top), lines(branches_top)) == (head, files)


def test_only_a_branch_without_commits_of_its_own_is_deleted(branches_top: Path) -> None:
    git(branches_top, "branch", "empty")
    switch_branch(branches_top, "full")
    git(branches_top, "commit", "-q", "--allow-empty", "-m", "x")
    switch_branch(branches_top, "main")
    assert delete_merged_branch(branches_top, "empty")
    assert not delete_merged_branch(branches_top, "full")
    assert [has_branch(branches_top, name) for name in ("empty", "full")] == [False, True]


def test_head_is_a_commit_or_nothing(branches_top: Path, tmp_path: Path) -> None:
    assert read_head_commit(branches_top) == git(branches_top, "rev-parse", "HEAD").strip()
    git(tmp_path, "init", "-q", "new")
    assert read_head_commit(tmp_path / "new") == ""
