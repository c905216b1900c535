"""The locks of runs: one run in a checkout at a time, and who is alive. The kernel frees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cub import git
from cub.actions.run.folders import LOCK, RUNS, RunFolder
from cub.errors import CubError
from cub.files.signed import project_state
from cub.git.place import git_folder

if TYPE_CHECKING:
    from filelock import BaseFileLock


@contextmanager
def at_work(folder: RunFolder, checkout: Path | None) -> Iterator[None]:
    """Be alive, and be the one run that works in `checkout`, if that is not the run's own."""
    with ExitStack() as held:
        for path in _of_checkout(checkout) if checkout else ():
            lock = _lock(path)
            if lock is None:
                raise CubError(
                    "another run is at work in this checkout",
                    where=RUNS,
                    hint="`cub run status` shows it; `cub run --worktree` works beside it",
                )
            held.callback(lock.release)
        if own := _lock(folder.state / LOCK):
            held.callback(own.release)
        yield


def _of_checkout(folder: Path) -> tuple[Path, ...]:
    """One for all projects in a checkout that no agent takes away, and one for all users."""
    top = git.top_level(folder)
    own = project_state(top or folder) / "checkout.lock"
    return (own, git_folder(top) / "cub-run.lock") if top else (own,)


@contextmanager
def if_dead(folder: RunFolder) -> Iterator[bool]:
    """Whether the process of a run is gone; meanwhile nobody else finds it so."""
    lock = _lock(folder.state / LOCK)
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
