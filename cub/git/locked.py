"""Lock files that a process of git's left when it was killed."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from cub.git.place import git_folder

_NAMES = ("index.lock", "HEAD.lock")
_PATIENCE = 1.0  # seconds: somebody else's git holds a lock for milliseconds


def unlock(top: Path, since: float) -> None:
    """Remove locks that were made after `since` (seconds since 1970) and that nobody lets go."""
    for name in _NAMES:
        lock = git_folder(top) / name
        deadline = time.monotonic() + _PATIENCE
        while made := _made(lock):
            if made < since:
                break
            if time.monotonic() >= deadline:
                with suppress(OSError):
                    lock.unlink()
                break
            time.sleep(0.02)


def _made(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
