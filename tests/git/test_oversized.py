from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from cub.git.restore_snapshot import restore_snapshot
from cub.git.restore_untracked import restore_untracked
from cub.git.take_snapshot import OversizedError, take_snapshot
from cub.git.worktree import Worktree
from tests.conftest import git
from tests.git.checkouts import checkout, state, write

_LARGEST = 10_000


@pytest.fixture
def ours(furnished_project: Path) -> Worktree:
    project = furnished_project
    return replace(checkout(project), max_file_size=_LARGEST)


def _make(path: Path) -> None:
    """A file with a hole of 20 GB, which takes a minute to read."""
    with path.open("wb") as file:
        os.truncate(file.fileno(), 20 << 30)


def test_one_that_was_there_before_is_an_error(ours: Worktree) -> None:
    _make(ours.toplevel / "giant")
    with pytest.raises(OversizedError, match="giant") as refused:
        take_snapshot(ours)
    assert "have git ignore it" in refused.value.hint
    with (ours.toplevel / ".gitignore").open("a") as file:
        file.write("giant\n")
    assert "giant" not in take_snapshot(ours).untracked_paths


@pytest.mark.parametrize("name", ["giant", "a.txt", "mine.txt", "sub/giant"])
def test_one_that_an_attempt_made_is_removed_unread(ours: Worktree, name: str) -> None:
    before, files = take_snapshot(ours), state(ours.toplevel)
    (ours.toplevel / name).unlink(missing_ok=True)
    _make(ours.toplevel / name)
    restore_untracked(ours, before, ours.toplevel.parent / "p")
    now = take_snapshot(ours, before)
    assert now.oversized_files == (() if name == "mine.txt" else (name,))
    restore_snapshot(ours, before, now)
    assert state(ours.toplevel) == files


def test_what_is_as_large_as_allowed_is_kept(ours: Worktree) -> None:
    write(ours.toplevel, {"large": "x" * _LARGEST})
    assert "large" in take_snapshot(ours).untracked_paths


def test_one_that_was_committed_is_no_trouble_before_an_attempt(ours: Worktree) -> None:
    write(ours.toplevel, {"large": "x" * (_LARGEST + 1)})
    git(ours.toplevel, "add", "large")
    git(ours.toplevel, "commit", "-qm", "large")
    before = take_snapshot(ours)
    assert "large" in git(ours.toplevel, "ls-tree", "--name-only", before.tree)


@pytest.mark.parametrize("name", ["a.txt", "mine.txt", "pipe"])
def test_pipes_never_block(ours: Worktree, name: str) -> None:
    before, files = take_snapshot(ours), state(ours.toplevel)
    (ours.toplevel / name).unlink(missing_ok=True)
    os.mkfifo(ours.toplevel / name)
    restore_untracked(ours, before, ours.toplevel.parent / "p")
    restore_snapshot(ours, before, take_snapshot(ours, before))
    (ours.toplevel / "pipe").unlink(missing_ok=True)  # git has no word for it
    assert state(ours.toplevel) == files
