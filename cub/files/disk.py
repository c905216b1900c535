"""Make the system calls of a transaction, one method each: the seam for tests of crashes."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

FileContent = bytes | Iterable[bytes]  # whole, or in pieces

_CHUNK_SIZE = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would translate line endings otherwise


class Disk:
    """Write so that all is on disk when a method returns; `before` is called for each step."""

    def __init__(
        self, before: Callable[[str, Path], None] = lambda *_: None, chunk: int = _CHUNK_SIZE
    ) -> None:
        self._before = before
        self._chunk = chunk

    def create(
        self,
        path: Path,
        data: FileContent,
        like: Path | None = None,
        is_executable: bool | None = None,
    ) -> None:
        """Make a new file, with the mode, owner and attributes of `like`.

        `is_executable` decides on its mode instead: whoever may read it may execute it, or nobody.
        """
        self._before("create", path)
        mode = 0o666 if like is None else 0o600  # a private file is private from its first byte on
        self._write(path, data, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        if like is not None:
            self._before("copy attributes", path)
            _copy_attributes(like, path)
        if is_executable is not None:
            self._before("set mode", path)
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode | (mode & 0o444) >> 2 if is_executable else mode & ~0o111)

    def append(self, path: Path, data: bytes) -> None:
        """Add to the end of an existing file."""
        self._write(path, data, os.O_WRONLY | os.O_APPEND)

    def truncate(self, path: Path, count: int) -> None:
        """Take bytes off the end of a file."""
        self._before("truncate", path)
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - count)
            self._before("fsync", path)
            os.fsync(file.fileno())

    def overwrite(self, path: Path, data: bytes) -> None:
        """Replace the content and keep the inode, for files with several hard links."""
        self._write(path, data, os.O_WRONLY, truncates=True)

    def rename(self, source: Path, target: Path) -> None:
        """Replace a file with another one, in one step."""
        self._before("rename", target)
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name."""
        self._before("link", target)
        target.hardlink_to(source)

    def move_aside(self, path: Path, rescue_folder: Path) -> None:
        """Move a file, or a link itself, to another name."""
        self._before("set aside", path)
        path.rename(rescue_folder)

    def unlink(self, path: Path) -> None:
        """Remove a file, if it exists."""
        self._before("unlink", path)
        path.unlink(missing_ok=True)

    def make_folder(self, path: Path) -> None:
        """Make a folder, unless it exists."""
        self._before("mkdir", path)
        path.mkdir(exist_ok=True)

    def remove_folder(self, path: Path) -> None:
        """Remove a folder if it is empty."""
        self._before("rmdir", path)
        with suppress(OSError):  # not empty, or gone: both are fine
            path.rmdir()

    def sync_folder(self, path: Path) -> None:
        """Sync the names in a folder; Windows has no such call."""
        if os.name == "nt":
            return
        self._before("fsync", path)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def write_unsynced(self, path: Path, data: bytes) -> None:
        """Write a file that is not needed after a crash."""
        self._before("write", path)
        path.write_bytes(data)

    def try_write(self, path: Path) -> None:
        """Raise OSError if a file may not be written. The file is opened and not changed."""
        self._before("try", path)
        os.close(os.open(path, os.O_WRONLY | _BINARY))

    def try_replace(self, path: Path) -> None:
        """Raise OSError if a file, or a link itself, may not be replaced, moved or deleted.

        rmdir always fails, but the system first makes the same checks: the folder's mode and sticky
        bit, the flags of both, the mount. A system that first reports "not a directory" tells
        nothing.
        """
        self._before("try", path)
        try:
            path.rmdir()
        except NotADirectoryError:
            return
        path.mkdir()  # an empty folder that took the file's place just now

    def try_change_folder(self, folder: Path) -> None:
        """Raise OSError if names may not be added to a folder or removed from it."""
        self._before("try", folder)
        if os.name == "nt":
            return
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fspath(folder))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(folder))

    def _write(
        self,
        path: Path,
        data: FileContent,
        flags: int,
        mode: int = 0o666,
        *,
        truncates: bool = False,
    ) -> None:
        descriptor = os.open(path, flags | _BINARY, mode)
        try:
            for piece in (data,) if isinstance(data, bytes) else data:
                view = memoryview(piece)
                while view:
                    self._before("write", path)
                    view = view[os.write(descriptor, view[: self._chunk]) :]
            if truncates:
                self._before("truncate", path)
                os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_CUR))
            self._before("fsync", path)
            os.fsync(descriptor)
        except OSError as error:
            error.filename = error.filename or os.fspath(path)  # an open file's error names none
            raise
        finally:
            os.close(descriptor)


def _copy_attributes(source: Path, target: Path) -> None:
    status = source.stat()
    if hasattr(os, "chown"):
        # A shared file of another user: the content matters more than the owner.
        with suppress(PermissionError):
            os.chown(target, status.st_uid, status.st_gid)
    shutil.copystat(source, target)
    os.utime(target)
