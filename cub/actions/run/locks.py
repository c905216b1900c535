"""The locks of runs: one run in a checkout at a time, and who is alive. The kernel frees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cub import git
from cub.actions.run.folders import LOCK, RUNS, RunFolder
from cub.errors import CubError
from cub.git.place import git_folder

if TYPE_CHECKING:
    from filelock import BaseFileLock


@contextmanager
def at_work(folder: RunFolder, checkout: Path | None) -> Iterator[None]:
    """Be alive, and be the one run that works in `checkout`, if that is not the run's own."""
    tree = _lock(_of_checkout(checkout)) if checkout else None
    if checkout and tree is None:
        raise CubError(
            "another run is at work in this checkout",
            where=RUNS,
            hint="`cub run status` shows it; `cub run --worktree` works beside it",
        )
    own = _lock(folder.path / LOCK)
    try:
        yield
    finally:
        for lock in filter(None, (own, tree)):
            lock.release()


def _of_checkout(folder: Path) -> Path:
    """One for all projects in a checkout, and where no agent takes it away."""
    top = git.top_level(folder)
    return git_folder(top) / "cub-run.lock" if top else folder / RUNS / "folder.lock"


@contextmanager
def if_dead(folder: RunFolder) -> Iterator[bool]:
    """Whether the process of a run is gone; meanwhile nobody else finds it so."""
    lock = _lock(folder.path / LOCK)
    try:
        yield lock is not None
    finally:
        if lock:
            lock.release()


def is_alive(folder: RunFolder) -> bool:
    """Whether the process of a run is there."""
    with if_dead(folder) as dead:
        return not dead


def _lock(path: Path) -> BaseFileLock | None:
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(path, timeout=0)
        return lock.acquire().lock
    except Timeout:
        return None
