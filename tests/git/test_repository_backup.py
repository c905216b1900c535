from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.git.refs import restore_snapshot_refs
from cub.git.repository_backup import back_up_repository, make_backup_folder_path, repair_repository
from cub.git.restore_snapshot import release_snapshot, restore_snapshot
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree import Worktree
from tests.conftest import git
from tests.git.checkouts import checkout, copy_repository, save, state, write


@pytest.fixture(scope="module")
def template(furnished_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = copy_repository(furnished_repository, tmp_path_factory.mktemp("backed-up"))
    git(project, "tag", "light")
    write(project, {"a.txt": "stashed"})
    git(project, "stash", "push", "-qm", "one", "a.txt")
    return project


@pytest.fixture
def top(tmp_path: Path, template: Path) -> Path:
    return copy_repository(template, tmp_path)


def _seen(top: Path) -> tuple[str, ...]:
    """What a person has in a repository."""
    asked = (["log", "--all", "--format=%H"], ["for-each-ref"], ["stash", "list"], ["branch"])
    return tuple(git(top, *words) for words in (*asked, ["reflog"], ["config", "--local", "-l"]))


def _init(top: Path) -> None:
    shutil.rmtree(top / ".git")
    git(top, "init", "-q")
    save(top, "theirs")


def _elsewhere(top: Path) -> None:
    git(top.parent, "init", "-q", "other")
    save(top.parent / "other", "theirs")
    shutil.rmtree(top / ".git")
    (top / ".git").write_text(f"gitdir: {top.parent}/other/.git\n")


def _linked(top: Path) -> None:
    (top / ".git").rename(top.parent / "moved")
    (top / ".git").symlink_to(top.parent / "moved")


def _no_head(top: Path) -> None:
    (top / ".git/HEAD").unlink()


def _odd_head(top: Path) -> None:
    (top / ".git/HEAD").write_text("nonsense")


def _pipe(top: Path) -> None:
    shutil.rmtree(top / ".git")
    os.mkfifo(top / ".git")


def _no_refs(top: Path) -> None:
    shutil.rmtree(top / ".git/refs")


def _no_objects(top: Path) -> None:
    shutil.rmtree(top / ".git/objects")


def _gone(top: Path) -> None:
    shutil.rmtree(top / ".git")


_HARM = [_init, _elsewhere, _linked, _no_head, _odd_head, _pipe, _no_refs, _no_objects, _gone]


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(harm, marks=pytest.mark.thorough if harm in (_odd_head, _no_refs) else ())
        for harm in _HARM
    ],
)
def test_a_repository_that_was_destroyed_is_repaired(
    top: Path, harm: Callable[[Path], None]
) -> None:
    ours = checkout(top)
    before, files, then = take_snapshot(ours), state(top), _seen(top)
    assert back_up_repository(ours) == []
    (top / "mine.txt").unlink()
    write(top, {"a.txt": "evil"})
    harm(top)
    assert "which is back as it was" in repair_repository(ours, top.parent / "aside")
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert (state(top), _seen(top)) == (files, then)
    assert repair_repository(ours, top.parent / "aside") == ""
    git(top, "fsck", "--strict")


def test_what_stood_there_is_kept(top: Path) -> None:
    ours = checkout(top)
    back_up_repository(ours)
    _init(top)
    repair_repository(ours, top.parent / "aside")
    theirs = git(top.parent, "--git-dir=aside/repository", "log", "--format=%s")
    assert theirs == "theirs\n"


@pytest.mark.parametrize("words", [["gc", "-q", "--prune=now"], ["repack", "-adq"]])
def test_objects_that_git_threw_away_are_back(top: Path, words: list[str]) -> None:
    ours = checkout(top)
    before, files = take_snapshot(ours), state(top)
    back_up_repository(ours)
    for ref in git(top, "for-each-ref", "--format=%(refname)", "refs/worktree").split():
        git(top, "update-ref", "-d", ref)
    git(top, "stash", "clear")
    (top / "mine.txt").unlink()
    git(top, *words)
    git(top, "prune", "--expire=now")
    assert repair_repository(ours, top.parent / "aside") == ""
    restore_snapshot_refs(ours, before)
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert state(top) == files
    assert git(top, "stash", "show", "-p").count("+stashed") == 1


def test_times_that_are_set_back_hide_no_loss(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    back_up_repository(ours)
    folder = top / ".git/objects" / before.tree[:2]
    then = folder.stat()
    (folder / before.tree[2:]).unlink()
    os.utime(folder, ns=(then.st_atime_ns, then.st_mtime_ns))
    while folder.stat().st_ctime_ns == then.st_ctime_ns:  # clocks of file systems are coarse
        os.utime(folder, ns=(then.st_atime_ns, then.st_mtime_ns))
    repair_repository(ours, top.parent / "aside")
    assert git(top, "cat-file", "-t", before.tree) == "tree\n"


def test_modes_of_gits_folders_are_put_back(top: Path) -> None:
    ours = checkout(top)
    back_up_repository(ours)
    mode = stat.S_IMODE((top / ".git").stat().st_mode)
    (top / ".git").chmod(0)
    assert repair_repository(ours, top.parent / "aside") == ""
    assert stat.S_IMODE((top / ".git").stat().st_mode) == mode


def test_a_linked_work_tree_is_repaired_with_its_repository(top: Path) -> None:
    linked = top.parent / "linked"
    git(top, "worktree", "add", "-q", str(linked), "-b", "beside")
    ours = Worktree(linked, top.parent / "own" / "index", ())
    then = _seen(linked)
    back_up_repository(ours)
    shutil.rmtree(top / ".git")
    (linked / ".git").unlink()
    git(linked, "init", "-q")
    assert repair_repository(ours, top.parent / "aside")
    assert _seen(linked) == then
    assert git(top, "branch", "--show-current") == "main\n"


def _objects(folder: Path) -> set[str]:
    """The loose objects in a folder of them, by their path from there."""
    return {f"{path.parent.name}/{path.name}" for path in folder.glob("??/*")}


def test_only_what_changed_is_looked_at_again(top: Path) -> None:
    ours = checkout(top)
    back_up_repository(ours)
    objects, copies = top / ".git/objects", make_backup_folder_path(ours) / "copy/objects"
    old = _objects(objects)
    assert _objects(copies) == old
    assert all((copies / name).stat().st_nlink == 2 for name in old)
    save(top)
    new = _objects(objects) - old
    # Which folders a commit adds to depends on its time.
    passed_over = {name for name in old if name[:2] not in {other[:2] for other in new}}
    assert passed_over
    for name in passed_over:
        (copies / name).unlink()
    back_up_repository(ours)
    assert _objects(copies) == (old | new) - passed_over


def test_branches_that_are_gone_are_forgotten(top: Path) -> None:
    git(top, "branch", "side")
    ours = checkout(top)
    back_up_repository(ours)
    git(top, "branch", "-qD", "side")
    back_up_repository(ours)
    _gone(top)
    repair_repository(ours, top.parent / "aside")
    assert git(top, "branch") == "* main\n"


def test_a_kill_in_the_middle_is_made_up_for(top: Path) -> None:
    ours = checkout(top)
    then = _seen(top)
    back_up_repository(ours)
    _gone(top)
    (make_backup_folder_path(ours) / "broken").touch()
    (top / ".git/objects").mkdir(parents=True)
    (top / ".git/HEAD").write_text("ref: refs/heads/main\n")
    assert repair_repository(ours, top.parent / "aside")
    assert _seen(top) == then


def test_it_is_forgotten_in_the_end(top: Path) -> None:
    ours = checkout(top)
    back_up_repository(ours)
    release_snapshot(ours)
    assert not make_backup_folder_path(ours).exists()
    assert repair_repository(ours, top.parent / "aside") == ""
