"""The system calls of a transaction, one method each: the seam where tests pull the plug."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

Data = bytes | Iterable[bytes]  # in one piece, or piece by piece

_CHUNK = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would translate line ends otherwise


def _nothing(operation: str, path: Path) -> None:
    pass


class Disk:
    """Writes that are on disk when they return. `before` is told of every single step."""

    def __init__(self, before: Callable[[str, Path], None] = _nothing, chunk: int = _CHUNK) -> None:
        self._before = before
        self._chunk = chunk

    def create(self, path: Path, data: Data, like: Path | None = None) -> None:
        """Make a new file, with the mode, owner and attributes of `like`."""
        self._before("create", path)
        mode = 0o666 if like is None else 0o600  # what is private is so from its first byte on
        self._put(path, data, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        if like is not None:
            self._before("copy attributes", path)
            _copy_attributes(like, path)

    def append(self, path: Path, data: bytes) -> None:
        """Add to the end of an existing file."""
        self._put(path, data, os.O_WRONLY | os.O_APPEND)

    def shorten(self, path: Path, count: int) -> None:
        """Take bytes off the end of a file."""
        self._before("truncate", path)
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - count)
            self._before("fsync", path)
            os.fsync(file.fileno())

    def overwrite(self, path: Path, data: bytes) -> None:
        """Replace the content and keep the inode, for files with several hard links."""
        self._put(path, data, os.O_WRONLY, cut=True)

    def rename(self, source: Path, target: Path) -> None:
        """Put a file in the place of another one, in one step."""
        self._before("rename", target)
        source.replace(target)

    def unlink(self, path: Path) -> None:
        """Remove a file, if it is there."""
        self._before("unlink", path)
        path.unlink(missing_ok=True)

    def make_folder(self, path: Path) -> None:
        """Make a folder, unless it is there."""
        self._before("mkdir", path)
        path.mkdir(exist_ok=True)

    def remove_folder(self, path: Path) -> None:
        """Remove a folder if it is empty."""
        self._before("rmdir", path)
        with suppress(OSError):  # not empty, or gone: both are fine
            path.rmdir()

    def sync_folder(self, path: Path) -> None:
        """Make renames in a folder last; Windows has no such call."""
        if os.name == "nt":
            return
        self._before("fsync", path)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _put(
        self, path: Path, data: Data, flags: int, mode: int = 0o666, *, cut: bool = False
    ) -> None:
        descriptor = os.open(path, flags | _BINARY, mode)
        try:
            for piece in (data,) if isinstance(data, bytes) else data:
                view = memoryview(piece)
                while view:
                    self._before("write", path)
                    view = view[os.write(descriptor, view[: self._chunk]) :]
            if cut:
                self._before("truncate", path)
                os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_CUR))
            self._before("fsync", path)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _copy_attributes(source: Path, target: Path) -> None:
    status = source.stat()
    if hasattr(os, "chown"):
        # A shared file of somebody else: the content matters more than the owner.
        with suppress(PermissionError):
            os.chown(target, status.st_uid, status.st_gid)
    shutil.copystat(source, target)
    os.utime(target)
