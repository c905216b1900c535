"""Lines added to the end of a file, so that a crash costs at most the one being written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from cub.files import ProjectLock
from cub.files.disk import Disk
from cub.files.file_tree import require_real_file
from cub.files.read_files import find_regular_file, make_os_error, read_file, require_writable
from cub.git import require_in_checkout


def remove_stale_temp_files(path: Path) -> None:
    """Remove what a writer of a file left that was killed; the lock says that there is none."""
    real = Path(os.path.realpath(path))
    with suppress(OSError):
        for temp in real.parent.glob(f".{real.name}.cub-*.tmp"):
            temp.unlink()


def append_lines(lock: ProjectLock, path: str, lines: Sequence[bytes], disk: Disk) -> None:
    """Add lines to `path` in the project whose lock is held, on disk when this returns.

    A line that a crash cut off is ended first. Raises CubError, with the file as it was, if
    they can't be written.
    """
    if not lines:
        return
    lock.require_held()
    real = require_appendable(lock.root, path)
    data = b"".join(line + b"\n" for line in lines)
    try:
        if not real.exists():
            _create(real, data, disk)
            return
        _add(real, data if _ends_well(real) else b"\n" + data, disk)
    except OSError as error:
        raise make_os_error(error, path, "cannot be written") from error


def require_appendable(root: Path, path: str) -> Path:
    """Where the lines of `path` go; CubError where none may be added, or git has others."""
    real = find_regular_file(root, path)
    if real is None:
        require_in_checkout(root, path)
        return Path(os.path.realpath(root / path))
    require_writable(real, path)
    try:
        require_real_file(real, path)
    except OSError as error:
        raise make_os_error(error, path, "cannot be read") from error
    return real


def filter_missing_lines(root: Path, path: str, lines: Iterable[bytes]) -> list[bytes]:
    """Those of `lines` that a file does not have yet, each once."""
    known = set((read_file(root, path) or b"").split(b"\n"))
    return [line for line in dict.fromkeys(lines) if line not in known]


def _create(real: Path, data: bytes, disk: Disk) -> None:
    try:
        disk.create(real, data)
        disk.sync_folder(real.parent)
    except OSError:
        real.unlink(missing_ok=True)  # there was none, and the lock says that nobody made one
        raise


def _add(real: Path, data: bytes, disk: Disk) -> None:
    size = real.stat().st_size
    try:
        disk.append(real, data)
    except OSError:
        # A full disk took a part: without it, the file is what it was.
        if (left := real.stat().st_size - size) > 0:
            disk.truncate(real, left)
        raise


def _ends_well(real: Path) -> bool:
    with real.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
