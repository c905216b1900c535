"""Name temporary files after the process that writes them, and remove those of killed ones.

The files of a plan are not among them: its journal has their names.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path

MAX_NAME_CHARS = 50  # of the target in the name of a temporary file, which may have 255 bytes
_NAME = re.compile(r"\..+\.cub-(\d+)-[0-9a-f]{8}\.tmp", re.DOTALL)
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_MAX_AGE = 3600.0  # seconds: a write takes less, and another process may have the number by then


def make_temp_path(target: Path) -> Path:
    """Return a new name beside a file, which says that this process writes it."""
    name = f".{target.name[:MAX_NAME_CHARS]}.cub-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    return target.with_name(name)


def open_temp_file(target: Path) -> tuple[int, Path]:
    """Open a new temporary file beside `target` that no other user can read. Raises OSError."""
    remove_stale_temps(target.parent)
    path = make_temp_path(target)
    return os.open(path, _FLAGS, 0o600), path


def remove_stale_temps(folder: Path) -> None:
    """Remove the temporary files in a folder that no process writes any more.

    What can't be removed stays.
    """
    try:
        named = [(path, _NAME.fullmatch(path.name)) for path in folder.iterdir()]
    except OSError:
        return
    for path, match in named:
        with suppress(OSError):
            if match and _is_stale(path, int(match[1])):
                path.unlink()


def _is_stale(path: Path, pid: int) -> bool:
    return not is_running(pid) or time.time() - path.lstat().st_mtime > _MAX_AGE


def is_running(pid: int) -> bool:
    """Tell whether a process of this machine has a number."""
    import psutil

    try:
        return psutil.pid_exists(pid)
    except OverflowError:  # no machine has a process of that number
        return False
