"""Remove lock files that a killed git left, once no git is at work on them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cub.git.worktree import find_common_dir, find_git_dir

_NAMES = ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock")
_SLACK = 1.0  # seconds by which clocks of files and of processes may differ
_PATIENCE = 0.5  # seconds: another git holds a lock for milliseconds
_STEP = 0.02


def remove_stale_locks(toplevel: Path, since: float) -> list[str]:
    """Remove locks that were made after `since` (seconds since 1970), last for half a second, and
    can't be those of a git at work; return their names.
    """
    deadline = time.monotonic() + _PATIENCE
    while locks := [
        lock for lock in _find_locks(toplevel) if _get_time_made(lock) >= since - _SLACK
    ]:
        if time.monotonic() < deadline:
            time.sleep(_STEP)
            continue
        if _is_git_at_work(toplevel):
            break
        for lock in locks:
            with suppress(OSError):
                lock.unlink()
        return sorted(lock.name for lock in locks)
    return []


def _find_locks(toplevel: Path) -> Iterator[Path]:
    """Yield the locks of the index, HEAD and refs, those that linked work trees share, too."""
    folders = dict.fromkeys(filter(None, (find_git_dir(toplevel), find_common_dir(toplevel))))
    for folder in folders:
        for name in _NAMES:
            if os.path.lexists(folder / name):
                yield folder / name
        for inner, _, files in os.walk(folder / "refs"):
            yield from (Path(inner, name) for name in files if name.endswith(".lock"))


def _get_time_made(lock: Path) -> float:
    try:
        status = lock.lstat()
    except OSError:
        return 0.0
    return max(status.st_mtime, status.st_ctime)  # only the first can be set at will


def _is_git_at_work(toplevel: Path) -> bool:
    """Return whether this user started a git in the work tree or the repository that still runs."""
    from psutil import STATUS_ZOMBIE, Error, process_iter

    folders = [toplevel, *filter(None, (find_git_dir(toplevel), find_common_dir(toplevel)))]
    roots = [os.path.realpath(folder) for folder in folders]
    for process in process_iter():
        try:
            if not process.name().startswith("git") or process.status() == STATUS_ZOMBIE:
                continue
            folder = Path(os.path.realpath(process.cwd()))
        except (Error, OSError):  # it has gone, or is none of ours
            continue
        if any(folder.is_relative_to(root) for root in roots):
            return True
    return False
