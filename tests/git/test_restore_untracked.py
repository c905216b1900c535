from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from cub.git.restore_untracked import restore_untracked
from cub.git.snapshot import Snapshot, list_changes
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree import Worktree
from tests.conftest import git
from tests.git.checkouts import checkout, state, write


@pytest.fixture
def top(furnished_project: Path) -> Path:
    write(furnished_project, {"bytes": bytes(range(256)) + b"\r\n", "odd \n\udcff'": "x"})
    (furnished_project / "mine.link").symlink_to("mine.txt")
    (furnished_project / "mine.txt").chmod(0o640)
    return furnished_project


def _look(top: Path) -> tuple[Worktree, Snapshot]:
    ours = checkout(top)
    return ours, take_snapshot(ours)


def _remove(top: Path) -> None:
    for name in ("mine.txt", "mine.link", "bytes", "odd \n\udcff'"):
        (top / name).unlink()
    shutil.rmtree(top / "own")


def _overwrite(top: Path) -> None:
    write(top, {"mine.txt": "theirs", "bytes": b"\0", "own/mine.txt": "", "odd \n\udcff'": "\r\n"})
    (top / "mine.link").unlink()
    (top / "mine.link").symlink_to("/nowhere")


def _clean(top: Path) -> None:
    git(top, "clean", "-fdxq")


def _stash(top: Path) -> None:
    git(top, "stash", "-qu")


def _replace_by_folders(top: Path) -> None:
    _remove(top)
    write(top, {"mine.txt/deep/f": "x", "bytes/f": "x", "mine.link/f": "x"})


def _replace_by_links(top: Path) -> None:
    _remove(top)
    outside = top.parent / "outside"
    write(outside, {"mine.txt": "outside"})
    (top / "own").symlink_to(outside)
    (top / "mine.txt").symlink_to(outside / "mine.txt")


def _replace_folders(top: Path) -> None:
    _remove(top)
    write(top, {"own": "a file now"})


def _change_rights(top: Path) -> None:
    (top / "mine.txt").chmod(0)
    (top / "bytes").chmod(0o777)


def _put_pipes(top: Path) -> None:
    _remove(top)
    os.mkfifo(top / "mine.txt")


def _put_repositories(top: Path) -> None:
    _remove(top)
    git(top, "init", "-q", "mine.txt")


_HARM = [
    _remove,
    _overwrite,
    _clean,
    _stash,
    _replace_by_folders,
    _replace_by_links,
    _replace_folders,
    _change_rights,
    _put_pipes,
    _put_repositories,
]


def _persons(top: Path, before: Snapshot) -> dict[str, tuple[tuple[str, bytes], int]]:
    found = state(top)
    return {
        path: (found[path], stat.S_IMODE((top / path).lstat().st_mode))
        for path in before.untracked_paths
    }


@pytest.mark.parametrize("harm", _HARM)
def test_what_git_does_not_know_is_restored(top: Path, harm: object) -> None:
    ours, before = _look(top)
    files = _persons(top, before)
    assert callable(harm)
    harm(top)
    done = restore_untracked(ours, before, top.parent / "aside" / "untracked.patch")
    assert done.failed_paths == ()
    assert _persons(top, before) == files
    assert restore_untracked(ours, before, top.parent / "again") == ((), ())
    assert not (top.parent / "again").exists()
    outside = top.parent / "outside/mine.txt"
    assert not outside.exists() or outside.read_text() == "outside"
    tracked = [one.path for one in list_changes(ours, before, take_snapshot(ours, before))]
    assert not set(tracked) & set(before.untracked_paths)


@pytest.mark.parametrize("harm", [_remove, _overwrite, _replace_by_folders, _replace_folders])
def test_what_was_made_of_it_is_a_patch(top: Path, harm: object) -> None:
    ours, before = _look(top)
    assert callable(harm)
    harm(top)
    files = state(top)
    patch = top.parent / "untracked.patch"
    restore_untracked(ours, before, patch)
    assert state(top) != files
    git(top, "apply", str(patch))
    assert state(top) == files


def test_a_repository_in_the_place_of_a_file_is_kept_as_a_whole(top: Path) -> None:
    ours, before = _look(top)
    _put_repositories(top)
    restore_untracked(ours, before, top.parent / "aside" / "untracked.patch")
    assert (top.parent / "aside/replaced/mine.txt/.git/HEAD").exists()


def test_what_is_spared_stays_as_it_is(top: Path) -> None:
    ours, before = _look(top)
    _overwrite(top)
    done = restore_untracked(ours, before, top.parent / "p", {"mine.txt"})
    assert "mine.txt" not in done.restored_files
    assert (top / "mine.txt").read_text() == "theirs"


def test_it_needs_no_index_of_before(top: Path) -> None:
    ours, before = _look(top)
    files = _persons(top, before)
    _overwrite(top)
    shutil.rmtree(ours.index_file.parent)
    restore_untracked(ours, before, top.parent / "p")
    assert _persons(top, before) == files
