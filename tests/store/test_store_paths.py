from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError
from cub.store.store_paths import find_store_root
from tests.conftest import git


def commit(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/file").write_text("x")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")


def work_tree(root: Path, folder: Path) -> Path:
    git(root, "worktree", "add", "-q", "--detach", str(folder))
    return folder.resolve()


def test_the_main_checkout_keeps_its_own_store(project: Path) -> None:
    (project / ".cub/worktrees").mkdir(parents=True)
    assert find_store_root(project, {}) == project


def test_without_git_a_project_keeps_its_own_store(tmp_path: Path) -> None:
    inside = tmp_path.resolve() / "p/.cub/worktrees/x"
    inside.mkdir(parents=True)
    assert find_store_root(inside, {}) == inside


@pytest.mark.parametrize("name", ["t-1", "run-7/t-1", "a/b/c"])
def test_a_work_tree_of_cubs_has_the_store_of_its_project(project: Path, name: str) -> None:
    commit(project)
    tree = work_tree(project, project / ".cub/worktrees" / name)
    assert find_store_root(tree, {}) == project


@pytest.mark.parametrize("name", ["t-1", "run-7/t-1"])
def test_so_has_one_of_a_project_in_a_folder_of_the_repository(project: Path, name: str) -> None:
    commit(project)
    tree = work_tree(project, project / "sub/.cub/worktrees" / name)
    assert find_store_root(tree / "sub", {}) == project / "sub"
    assert find_store_root(tree, {}) == project / "sub"


def test_a_work_tree_in_a_work_tree_belongs_where_that_one_does(project: Path) -> None:
    commit(project)
    outer = work_tree(project, project / ".cub/worktrees/outer")
    inner = work_tree(outer, outer / ".cub/worktrees/inner")
    assert find_store_root(inner, {}) == project


def test_a_work_tree_elsewhere_keeps_its_own_store(project: Path, tmp_path: Path) -> None:
    commit(project)
    for folder in (tmp_path / "elsewhere", project / "worktrees/x", tmp_path / "worktrees/x"):
        tree = work_tree(project, folder)
        assert find_store_root(tree, {}) == tree


def test_another_repository_below_the_work_trees_keeps_its_own_store(project: Path) -> None:
    other = project / ".cub/worktrees/other"
    other.mkdir(parents=True)
    git(other, "init", "-q")
    assert find_store_root(other, {}) == other


def test_a_submodule_keeps_its_own_store(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    commit(other)
    commit(project)
    add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"]
    git(project, *add, str(other), ".cub/worktrees/x/module")
    assert find_store_root(project / ".cub/worktrees/x/module", {}) == (
        project / ".cub/worktrees/x/module"
    )
    git(project, *add, str(other), "module")
    assert find_store_root(project / "module", {}) == project / "module"


@pytest.mark.parametrize("text", ["", "gitdir: /nowhere", "nothing", "\0"])
def test_a_git_file_that_leads_nowhere_does_no_harm(project: Path, text: str) -> None:
    tree = project / ".cub/worktrees/x"
    tree.mkdir(parents=True)
    (tree / ".git").write_text(text)
    assert find_store_root(tree, {}) == tree


def test_the_variable_names_the_store(project: Path, tmp_path: Path) -> None:
    assert find_store_root(project, {"CUB_ROOT": str(tmp_path)}) == tmp_path.resolve()
    assert find_store_root(project, {"CUB_ROOT": f"{tmp_path}/x/.."}) == tmp_path.resolve()
    assert find_store_root(project, {"CUB_ROOT": ""}) == project


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_variable_that_names_no_folder_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(CubError, match="CUB_ROOT is not a directory") as error:
        find_store_root(tmp_path, {"CUB_ROOT": str(tmp_path / name)})
    assert error.value.hint == "unset CUB_ROOT"
