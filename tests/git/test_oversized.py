from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from cub.git.checkout import Checkout
from cub.git.take_snapshot import OversizedError
from tests.conftest import git
from tests.git.checkouts import checkout, state, write

_LARGEST = 10_000


@pytest.fixture
def ours(furnished_project: Path) -> Checkout:
    project = furnished_project
    return replace(checkout(project), max_file_size=_LARGEST)


def _make(path: Path) -> None:
    """A file with a hole of 20 GB, which takes a minute to read."""
    with path.open("wb") as file:
        os.truncate(file.fileno(), 20 << 30)


def test_one_that_was_there_before_is_an_error(ours: Checkout) -> None:
    _make(ours.toplevel / "giant")
    with pytest.raises(OversizedError, match="giant") as refused:
        ours.snapshot()
    assert "have git ignore it" in refused.value.hint
    with (ours.toplevel / ".gitignore").open("a") as file:
        file.write("giant\n")
    assert "giant" not in ours.snapshot().untracked_paths


@pytest.mark.parametrize("name", ["giant", "a.txt", "mine.txt", "sub/giant"])
def test_one_that_an_attempt_made_is_removed_unread(ours: Checkout, name: str) -> None:
    before, files = ours.snapshot(), state(ours.toplevel)
    (ours.toplevel / name).unlink(missing_ok=True)
    _make(ours.toplevel / name)
    ours.restore_untracked(before, ours.toplevel.parent / "p")
    now = ours.snapshot(before)
    assert now.oversized_files == (() if name == "mine.txt" else (name,))
    ours.restore(before, now)
    assert state(ours.toplevel) == files


def test_what_is_as_large_as_allowed_is_kept(ours: Checkout) -> None:
    write(ours.toplevel, {"large": "x" * _LARGEST})
    assert "large" in ours.snapshot().untracked_paths


def test_one_that_was_committed_is_no_trouble_before_an_attempt(ours: Checkout) -> None:
    write(ours.toplevel, {"large": "x" * (_LARGEST + 1)})
    git(ours.toplevel, "add", "large")
    git(ours.toplevel, "commit", "-qm", "large")
    before = ours.snapshot()
    assert "large" in git(ours.toplevel, "ls-tree", "--name-only", before.tree)


@pytest.mark.parametrize("name", ["a.txt", "mine.txt", "pipe"])
def test_pipes_never_block(ours: Checkout, name: str) -> None:
    before, files = ours.snapshot(), state(ours.toplevel)
    (ours.toplevel / name).unlink(missing_ok=True)
    os.mkfifo(ours.toplevel / name)
    ours.restore_untracked(before, ours.toplevel.parent / "p")
    ours.restore(before, ours.snapshot(before))
    (ours.toplevel / "pipe").unlink(missing_ok=True)  # git has no word for it
    assert state(ours.toplevel) == files
