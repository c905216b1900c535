from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError
from cub.git.branches import add_worktree, head, remove_worktree, switch
from tests.conftest import git
from tests.git.checkouts import lines, save, write


@pytest.fixture
def top(project: Path) -> Path:
    git(project, "checkout", "-q", "-b", "main")
    write(project, {"a.txt": "1\n", ".gitignore": "*.log\n"})
    save(project)
    return project


def test_a_branch_is_made_or_switched_to(top: Path) -> None:
    write(top, {"a.txt": "2\n"})
    assert switch(top, "cub/t-1") == "refs/heads/cub/t-1"
    assert lines(top) == ["## cub/t-1", " M a.txt"]
    git(top, "commit", "-q", "-a", "-m", "x")
    assert switch(top, "main") == "refs/heads/main"
    assert (top / "a.txt").read_text() == "1\n"


@pytest.mark.parametrize("name", ["", "-b", "a..b", "a b", "HEAD", "@{-1}", "x.lock", "a\n"])
def test_a_name_that_git_refuses_is_an_error(top: Path, name: str) -> None:
    with pytest.raises(CubError, match="name of a branch"):
        switch(top, name)
    assert lines(top) == ["## main"]


def test_what_stands_in_the_way_is_told(top: Path) -> None:
    switch(top, "side")
    write(top, {"a.txt": "2\n"})
    git(top, "commit", "-q", "-a", "-m", "x")
    switch(top, "main")
    write(top, {"a.txt": "3\n"})
    with pytest.raises(CubError, match=r"git switch failed: .*overwritten") as error:
        switch(top, "side")
    assert any("a.txt" in line for line in error.value.details)


def test_a_work_tree_comes_and_goes(top: Path, tmp_path: Path) -> None:
    folder = tmp_path / "linked"
    for _ in range(2):  # its branch is there the second time
        add_worktree(top, folder, "cub/t-1")
        assert lines(folder) == ["## cub/t-1"]
        write(folder, {"x.log": "ignored"})
        assert remove_worktree(top, folder)
        assert not folder.exists()


@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
def test_a_work_tree_with_work_in_it_stays(top: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "linked"
    add_worktree(top, folder, "side")
    write(folder, {name: "work"})
    assert not remove_worktree(top, folder)
    assert (folder / name).read_text() == "work"


def test_head_is_a_commit_or_nothing(top: Path, tmp_path: Path) -> None:
    assert head(top) == git(top, "rev-parse", "HEAD").strip()
    git(tmp_path, "init", "-q", "new")
    assert head(tmp_path / "new") == ""
