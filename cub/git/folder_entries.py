"""Read, compare, move and create entries of a folder of git's.

Every step goes by an open folder, so that no link is followed; and only regular files are opened,
so that none makes the reader wait.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from cub.errors import CubError
from cub.files.stat_signature import StatSignature
from cub.text import describe_os_error

_MAX_IN_MEMORY = 1 << 20  # bytes
_NO_LINK = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
_TO_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
_TO_LIST = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0)


class FileCopies:
    """Hold copies of large files by their signature, each a file without a name."""

    def __init__(self) -> None:
        self._files: dict[StatSignature, IO[bytes]] = {}

    def __del__(self) -> None:
        self.retain_only(())

    def __contains__(self, signature: StatSignature) -> bool:
        return signature in self._files

    def add(self, signature: StatSignature, source: IO[bytes], copy_folder: Path) -> None:
        """Copy a file to the disk of `copy_folder`."""
        copy_folder.mkdir(parents=True, exist_ok=True)
        copy = self._files[signature] = tempfile.TemporaryFile(dir=copy_folder)  # noqa: SIM115 - it stays
        shutil.copyfileobj(source, copy)

    def write(self, signature: StatSignature, target: IO[bytes]) -> None:
        """Write a copy to another file."""
        copy = self._files[signature]
        copy.seek(0)
        shutil.copyfileobj(copy, target)

    def retain_only(self, signatures: Collection[StatSignature]) -> None:
        """Drop all other copies."""
        for signature in [one for one in self._files if one not in signatures]:
            self._files.pop(signature).close()


class FolderEntry(NamedTuple):
    """Hold an entry's kind (of stat) and mode; the bytes of a file, or the text of a link.

    For a large file, `data` is None, and there is a `signature` instead.
    """

    kind: int
    mode: int
    data: bytes | None = None
    signature: StatSignature | None = None


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """Work on the entries of an open folder, by its handle."""

    handle: int

    def list_names(self) -> list[str]:
        """List the names in it."""
        return os.listdir(self.handle)  # noqa: PTH208

    def stat_entry(self, name: str) -> os.stat_result | None:
        """Return the status of an entry, links not followed; None for nothing."""
        try:
            return os.stat(name, dir_fd=self.handle, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read_entry(self, name: str, copies: FileCopies, copy_folder: Path) -> FolderEntry | None:
        """Return an entry with its content; a large file is copied to `copy_folder`, once."""
        status = self.stat_entry(name)
        if status is None:
            return None
        kind, mode = stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode)
        if kind == stat.S_IFLNK:
            return FolderEntry(kind, 0, self._read_link(name))
        if kind != stat.S_IFREG:
            return FolderEntry(kind, mode)
        if status.st_size <= _MAX_IN_MEMORY:
            return FolderEntry(kind, mode, self.read_file(name))
        signature = StatSignature.from_stat(status)
        if signature not in copies:
            with self._open_entry(name) as file:
                copies.add(signature, file, copy_folder)
        return FolderEntry(kind, mode, None, signature)

    def read_file(self, name: str) -> bytes:
        """Return the bytes of a small regular file. Raises OSError for anything else."""
        with self._open_entry(name) as file:
            data = file.read(_MAX_IN_MEMORY + 1)
        if len(data) > _MAX_IN_MEMORY:
            raise OSError(errno.EFBIG, "file too large")
        return data

    def has_entry(self, name: str, entry: FolderEntry) -> bool:
        """Return whether an entry is as it was read; of a folder, only whether it is there."""
        status = self.stat_entry(name)
        if status is None or stat.S_IFMT(status.st_mode) != entry.kind:
            return False
        if entry.kind == stat.S_IFLNK:
            return self._read_link(name) == entry.data
        return entry.kind != stat.S_IFREG or self._has_file(name, entry, status)

    def _has_file(self, name: str, entry: FolderEntry, status: os.stat_result) -> bool:
        if stat.S_IMODE(status.st_mode) != entry.mode:
            return False
        if entry.data is None:
            return StatSignature.from_stat(status) == entry.signature
        try:
            return status.st_size == len(entry.data) and self.read_file(name) == entry.data
        except OSError:
            return False

    def open_subfolder(self, name: str) -> AbstractContextManager[OpenFolder]:
        """Open a folder in it. Raises OSError for a link."""
        return open_folder(name, self.handle)

    def create_entry(self, name: str, entry: FolderEntry, copies: FileCopies) -> None:
        """Create an entry where there is nothing."""
        if entry.kind == stat.S_IFDIR:
            os.mkdir(name, 0o700, dir_fd=self.handle)
            self.set_mode(name, entry.mode)
        elif entry.kind == stat.S_IFLNK:
            os.symlink(os.fsdecode(entry.data or b""), name, dir_fd=self.handle)
        elif entry.kind == stat.S_IFREG:
            with os.fdopen(self._create_file(name), "wb") as file:
                if entry.signature is not None:
                    copies.write(entry.signature, file)
                else:
                    file.write(entry.data or b"")
                file.flush()
                if hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), entry.mode)

    def set_mode(self, name: str, mode: int) -> None:
        """Give a folder its mode."""
        os.chmod(name, mode, dir_fd=self.handle)

    def move_entry(self, name: str, target: Path, spare: OpenFolder) -> None:
        """Move an entry away; to another disk, copy what is small, and move the entry to a folder
        in `spare`.
        """
        status = self.stat_entry(name)
        if status and stat.S_ISDIR(status.st_mode):
            self.set_mode(name, 0o700)  # else it can't leave its folder
        try:
            os.rename(name, target, src_dir_fd=self.handle)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            if status and stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_IN_MEMORY:
                with suppress(OSError):
                    target.write_bytes(self.read_file(name))
            self._move_near(name, target.name, spare)

    def _move_near(self, name: str, target: str, spare: OpenFolder) -> None:
        with suppress(FileExistsError):
            os.mkdir("cub-aside", 0o700, dir_fd=spare.handle)
        with spare.open_subfolder("cub-aside") as near:
            os.rename(name, target, src_dir_fd=self.handle, dst_dir_fd=near.handle)

    def _read_link(self, name: str) -> bytes:
        return os.fsencode(os.readlink(name, dir_fd=self.handle))

    def _open_entry(self, name: str) -> IO[bytes]:
        handle = os.open(name, _TO_READ, dir_fd=self.handle)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return os.fdopen(handle, "rb")
        os.close(handle)
        raise OSError(errno.EINVAL, "no regular file")

    def _create_file(self, name: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
        return os.open(name, flags, 0o600, dir_fd=self.handle)


@contextmanager
def open_folder(path: str, near: int | None = None) -> Iterator[OpenFolder]:
    """Open a folder, `path` from the open folder `near` if there is one. Raises OSError for a link,
    and for what is not a folder.
    """
    handle = os.open(path, _TO_LIST, dir_fd=near)
    try:
        yield OpenFolder(handle)
    finally:
        os.close(handle)


def make_restore_error(error: OSError, name: str) -> CubError:
    """Make the error for an entry that could not be put back."""
    reason = describe_os_error(error)
    return CubError(f"the attempt changed {name}, and it can't be restored: {reason}")
