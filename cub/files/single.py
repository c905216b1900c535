"""One file that belongs to no project: read whole, replaced whole.

There is no lock and no journal. One rename puts the new file in place, so that a reader, and
whoever comes after a crash, sees the old one or the new one.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from cub.errors import CubError
from cub.files.disk import Disk
from cub.files.reading import read, trouble


def read_single(path: Path, shown: str) -> bytes | None:
    """The bytes of `path`, links followed; None where there is no file. `shown` is for messages."""
    real = _real(path)
    try:
        return read(real.parent, real.name)
    except CubError as error:
        raise CubError(error.message, where=shown, hint=error.hint) from error


def replace_single(
    path: Path, before: bytes | None, after: bytes, shown: str, disk: Disk | None = None
) -> None:
    """Put `after` in the place of `before`, what `read_single` gave; links and mode stay.

    Raises CubError, with the file as it was, if it has changed since or can't be written.
    """
    disk, real = disk or Disk(), _real(path)
    temp = real.with_name(f".{real.name}.cub-{secrets.token_hex(4)}.tmp")
    if read_single(path, shown) != before:
        raise CubError("changed since cub read it: run the command again", where=shown)
    try:
        if before is not None and not (real.stat().st_mode & 0o222 and os.access(real, os.W_OK)):
            raise CubError("this file is read-only", where=shown, hint="make it writable")
        real.parent.mkdir(parents=True, exist_ok=True)
        disk.create(temp, after, None if before is None else real)
        disk.rename(temp, real)
        disk.sync_folder(real.parent)
    except OSError as error:
        with suppress(OSError):
            temp.unlink()
        raise trouble(error, shown, "cannot be written") from error


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
