from __future__ import annotations

from pathlib import Path

import pytest

from cub.git.worktree import find_toplevel, is_bare_repository, is_ignored
from tests.conftest import git


def test_the_top_is_found_from_everywhere_inside(project: Path) -> None:
    (project / "a" / "b").mkdir(parents=True)
    assert find_toplevel(project) == find_toplevel(project / "a" / "b") == project


def test_outside_git_there_is_no_top(tmp_path: Path) -> None:
    assert find_toplevel(tmp_path) is None


def test_a_dot_git_that_is_no_repository_is_no_top(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert find_toplevel(tmp_path) is None


def test_the_innermost_top_counts(project: Path) -> None:
    (project / "inner").mkdir()
    git(project / "inner", "init", "-q")
    assert find_toplevel(project / "inner") == project / "inner"


def test_a_repository_without_a_work_tree_is_told(project: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    assert is_bare_repository(tmp_path / "bare")
    for folder in (project, project / ".git", tmp_path, tmp_path / "nowhere"):
        assert not is_bare_repository(folder)


@pytest.mark.parametrize(
    ("path", "answer"),
    [("build", True), ("build/x", True), ("src", False), ("src/a.log", True), ("*.log", True)],
)
def test_git_is_asked_what_it_ignores(project: Path, path: str, answer: bool) -> None:
    (project / ".gitignore").write_text("/build/\n*.log\n")
    (project / "build").mkdir()
    assert is_ignored(project, path) is answer


@pytest.mark.parametrize("path", ["../outside", "/", "a"])
def test_where_git_can_t_tell_nothing_is_ignored(tmp_path: Path, path: str) -> None:
    assert is_ignored(tmp_path, path) is False
    assert is_ignored(tmp_path / "nowhere", path) is False
