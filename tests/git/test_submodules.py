from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.git.restore_snapshot import restore_snapshot
from cub.git.snapshot import count_changed_lines, list_changed_submodules, list_changes, write_patch
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree_status import list_dirty_paths
from tests.conftest import git
from tests.git.checkouts import checkout, copy_repository, lines, save, state, write

ALLOW = ("-c", "protocol.file.allow=always")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    """A repository with a submodule `mod`, which has one `deep` itself; to be copied."""
    folder = tmp_path_factory.mktemp("submodules")
    project = copy_repository(empty_repository, folder)
    deep, module = folder / "deep", folder / "module"
    for made in (deep, module):
        made.mkdir()
        git(made, "init", "-q")
        write(made, {"f.txt": "1\n", "g.txt": "1\n"})
        save(made)
    git(module, *ALLOW, "submodule", "add", "-q", str(deep), "deep")
    save(module)
    git(project, *ALLOW, "submodule", "add", "-q", str(module), "mod")
    git(project, *ALLOW, "submodule", "update", "-q", "--init", "--recursive")
    write(project, {"a.txt": "1\n"})
    save(project)
    write(project, {"mod/dirty.txt": "x\n", "mod/deep/dirty.txt": "x\n", "mod/g.txt": "2\n"})
    return project


@pytest.fixture
def top(tmp_path: Path, template: Path) -> Path:
    """A copy of that repository."""
    return copy_repository(template, tmp_path)


def conditions(top: Path) -> list[list[str]]:
    return [lines(folder) for folder in (top, top / "mod", top / "mod/deep")]


def test_their_files_are_seen_and_put_back(top: Path, tmp_path: Path) -> None:
    files, seen = state(top), conditions(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    assert before.submodules["mod"].untracked_paths == ("dirty.txt",)
    assert list_dirty_paths(ours) == ["mod"]
    copy = tmp_path / "copy"
    shutil.copytree(top, copy, symlinks=True)
    write(top, {"mod/f.txt": "2\n", "mod/deep/f.txt": "2\n", "mod/deep/n.txt": "2\n"})
    after = take_snapshot(ours, before)
    assert list_changes(ours, before, after) == []
    assert list_changed_submodules(before, after) == ["mod"]
    assert count_changed_lines(ours, before, after) == (3, 2)
    assert write_patch(ours, before, after, tmp_path / "patch")
    git(copy, "apply", str(tmp_path / "patch"))
    assert state(copy) == state(top)
    assert restore_snapshot(ours, before, after).failed_paths == ()
    assert (state(top), conditions(top)) == (files, seen)


def test_a_commit_in_one_is_a_change_that_is_undone_and_kept(top: Path) -> None:
    files, seen = state(top), conditions(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    commit = save(top / "mod", "agent")
    save(top, "agent")
    after = take_snapshot(ours, before)
    [change] = list_changes(ours, before, after)
    assert (change.path, change.kind, change.is_submodule) == ("mod", "M", True)
    assert list_changed_submodules(before, after) == []
    assert count_changed_lines(ours, before, after) == (0, 0)
    done = restore_snapshot(ours, before, after)
    assert (state(top), conditions(top)) == (files, seen)
    assert f"mod:refs/cub/kept/{commit[:12]}" in done.rescued_refs


def test_one_that_is_gone_is_told(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    shutil.rmtree(top / "mod")
    write(top, {"a.txt": "2\n"})
    assert restore_snapshot(ours, before, take_snapshot(ours, before)).failed_paths == ("mod",)
    assert (top / "a.txt").read_text() == "1\n"


def test_one_that_came_is_left(top: Path, template: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    git(top, *ALLOW, "submodule", "add", "-q", str(template.parent / "deep"), "more")
    after = take_snapshot(ours, before)
    assert [(c.path, c.is_submodule) for c in list_changes(ours, before, after)] == [
        (".gitmodules", False),
        ("more", True),
    ]
    assert restore_snapshot(ours, before, after).failed_paths == ()
    assert (top / "more/f.txt").exists()
    assert "more" not in (top / ".gitmodules").read_text()
    assert "more" not in git(top, "ls-files")


def test_without_its_name_in_gitmodules_it_is_put_back_all_the_same(top: Path) -> None:
    files = state(top)
    ours = checkout(top)
    before = take_snapshot(ours)
    (top / ".gitmodules").unlink()
    write(top, {"mod/f.txt": "2\n"})
    assert restore_snapshot(ours, before, take_snapshot(ours, before)).failed_paths == ()
    assert state(top) == files
