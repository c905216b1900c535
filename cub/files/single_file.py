"""Read and replace one whole file that is in no plan, in a project or outside.

There is no journal, and the caller holds any lock. One rename puts the new file in place, so that
readers see the old one or the new one, even after a crash.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from cub.errors import CubError
from cub.files.disk import Disk, FileContent
from cub.files.read_files import make_os_error, read_file, require_writable

_CHUNK = 1 << 20


def read_single_file(path: Path, display_path: str) -> bytes | None:
    """Return the bytes of `path`, following links; None if there is no file.

    `display_path` is for messages.
    """
    real = _real(path)
    try:
        return read_file(real.parent, real.name, display_path)
    except CubError as error:
        raise CubError(error.message, where=display_path, hint=error.hint) from error


def replace_single_file(
    path: Path,
    before: bytes | None,
    after: FileContent,
    display_path: str,
    disk: Disk | None = None,
) -> None:
    """Put `after` in the place of `before`, what `read_single_file` gave; links and mode stay.

    Raises CubError, with the file as it was, if it has changed since or can't be written.
    """
    disk, real = disk or Disk(), _real(path)
    temp = real.with_name(f".{real.name}.cub-{secrets.token_hex(4)}.tmp")
    if not _is_still(path, before, display_path):
        raise CubError("changed since cub read it: run the command again", where=display_path)
    try:
        if before is not None:
            require_writable(real, display_path)
        real.parent.mkdir(parents=True, exist_ok=True)
        disk.create(temp, after, None if before is None else real)
        disk.rename(temp, real)
    except OSError as error:
        with suppress(OSError):
            temp.unlink()
        raise make_os_error(error, display_path, "cannot be written") from error
    with suppress(OSError):  # it is in place; what may be lost now takes a crash of the machine
        disk.sync_folder(real.parent)


def _is_still(path: Path, before: bytes | None, display_path: str) -> bool:
    """Return whether a file is unchanged, without holding a large one in memory a second time."""
    real = _real(path)
    if before is None or not real.is_file() or real.stat().st_size <= _CHUNK:
        return read_single_file(path, display_path) == before
    view = memoryview(before)
    try:
        with real.open("rb") as file:
            while (chunk := file.read(_CHUNK)) and view[: len(chunk)] == chunk:
                view = view[len(chunk) :]
    except OSError as error:
        raise make_os_error(error, display_path, "cannot be read") from error
    return not chunk and not view


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
