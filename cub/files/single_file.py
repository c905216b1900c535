"""Read and replace one whole file that is in no plan, in a project or outside.

There is no journal, and the caller holds any lock. One rename puts the new file in place, so that
readers see the old one or the new one, even after a crash. Only a file that is a mount point of its
own, which can't be renamed over, is overwritten.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from cub.errors import CubError
from cub.files.disk import Disk, FileContent
from cub.files.read_files import make_os_error, read_file, require_writable
from cub.files.temporary_files import make_temp_path, remove_stale_temps

_MOUNT_ERRORS = (errno.EBUSY, errno.EXDEV)  # of a rename onto a mount point


def read_single_file(path: Path, display_path: str) -> bytes | None:
    """Return the bytes of `path`, following links; None if there is no file.

    `display_path` is for messages.
    """
    real = Path(os.path.realpath(path))
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
    """Replace `before`, as `read_single_file` returned it, with `after`; links and mode stay.

    Raises CubError, with the file as it was, if it has changed since or can't be written.
    """
    disk, real = disk or Disk(), Path(os.path.realpath(path))
    temp = make_temp_path(real)
    remove_stale_temps(real.parent)
    if read_single_file(path, display_path) != before:
        raise CubError("changed since cub read it: run the command again", where=display_path)
    try:
        if before is not None:
            require_writable(real, display_path)
        real.parent.mkdir(parents=True, exist_ok=True)
        disk.create(temp, after, None if before is None else real)
        _put_in_place(temp, real, before, disk)
    except BaseException as error:
        with suppress(OSError):
            temp.unlink()
        if not isinstance(error, OSError):
            raise
        raise make_os_error(error, display_path, "cannot be written") from error
    with suppress(OSError):  # the file is in place: only a power cut could undo that
        disk.sync_folder(real.parent)


def _put_in_place(temp: Path, real: Path, before: bytes | None, disk: Disk) -> None:
    try:
        disk.rename(temp, real)
    except OSError as error:
        if error.errno not in _MOUNT_ERRORS or before is None:
            raise
        try:
            disk.overwrite(real, temp.read_bytes())
        except OSError:
            disk.overwrite(real, before)
            raise
        disk.unlink(temp)
