"""Append lines to a file; a crash costs at most the line that is being written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from cub.files.disk import Disk
from cub.files.file_tree import require_real_file
from cub.files.lock import ProjectLock
from cub.files.read_files import find_regular_file, make_os_error, read_file, require_writable
from cub.git.tracked_files import require_in_checkout


def append_lines(lock: ProjectLock, path: str, lines: Sequence[bytes], disk: Disk) -> None:
    """Add lines to `path` in the project whose lock is held, on disk when this returns.

    A line that a crash cut off is ended first. Raises CubError, with the file as it was, if they
    cannot be written.
    """
    if not lines:
        return
    lock.require_held()
    real = require_appendable(lock.root, path)
    data = b"".join(line + b"\n" for line in lines)
    try:
        if not real.exists():
            _create_file(real, data, disk)
            return
        _append(real, data if _ends_with_newline(real) else b"\n" + data, disk)
    except OSError as error:
        raise make_os_error(error, path, "cannot be written") from error


def require_appendable(root: Path, path: str) -> Path:
    """Return the real path of `path`; CubError if no lines may be added to it."""
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
    """Return those of `lines` that a file does not have yet, without duplicates."""
    old_lines = set((read_file(root, path) or b"").split(b"\n"))
    return [line for line in dict.fromkeys(lines) if line not in old_lines]


def _create_file(real: Path, data: bytes, disk: Disk) -> None:
    try:
        disk.create(real, data)
        disk.sync_folder(real.parent)
    except OSError:
        real.unlink(missing_ok=True)  # there was none, and no other writer holds the lock
        raise


def _append(real: Path, data: bytes, disk: Disk) -> None:
    size = real.stat().st_size
    try:
        disk.append(real, data)
    except OSError:
        # A full disk took a part: cut it off, and the file is what it was.
        if (written := real.stat().st_size - size) > 0:
            disk.truncate(real, written)
        raise


def _ends_with_newline(real: Path) -> bool:
    with real.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
