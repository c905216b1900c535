"""What stands under a name in a folder of git's: noted, compared, moved aside and made again.

Every step goes by an open folder, so that no link is followed, whoever put it there; and nothing
but a regular file is opened, so that none makes the reader wait.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from cub.errors import CubError
from cub.text import describe_os_error

_LARGEST = 1 << 20  # bytes that are kept in memory
_HAS_DIR_FD = {os.open, os.stat, os.rename, os.mkdir, os.unlink} <= os.supports_dir_fd
_NO_LINK = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
_TO_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0)
_TO_LIST = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0)

StatSignature = tuple[int, ...]


class FileCopies:
    """Copies of large files, by what tells that one is still the same; each without a name, so
    that nobody else finds it.
    """

    def __init__(self) -> None:
        self._files: dict[StatSignature, IO[bytes]] = {}

    def __del__(self) -> None:
        self.retain_only(())

    def __contains__(self, mark: StatSignature) -> bool:
        return mark in self._files

    def add(self, signature: StatSignature, source: IO[bytes], copy_folder: Path) -> None:
        """Copy a file, on the disk of the folder `copy_folder`."""
        copy_folder.mkdir(parents=True, exist_ok=True)
        copy = self._files[signature] = tempfile.TemporaryFile(dir=copy_folder)  # noqa: SIM115 - it stays
        shutil.copyfileobj(source, copy)

    def write(self, signature: StatSignature, target: IO[bytes]) -> None:
        """Write a copy into another file."""
        copy = self._files[signature]
        copy.seek(0)
        shutil.copyfileobj(copy, target)

    def retain_only(self, signatures: Collection[StatSignature]) -> None:
        """Let go of all others."""
        for mark in [mark for mark in self._files if mark not in signatures]:
            self._files.pop(mark).close()


class FolderEntry(NamedTuple):
    """Its kind (of stat) and rights; the bytes of a file, or the text of a link.

    Of a large file, `data` is None and `signature` tells whether it is still the same.
    """

    kind: int
    mode: int
    data: bytes | None = None
    signature: StatSignature = ()


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """An open folder: its handle (None where the system knows no steps by one), and its path."""

    handle: int | None
    path: str

    def list_names(self) -> list[str]:
        """The names in it."""
        return os.listdir(self.path if self.handle is None else self.handle)  # noqa: PTH208

    def stat_entry(self, name: str) -> os.stat_result | None:
        """What stands there, a link as itself; None for nothing."""
        try:
            return os.stat(self.path_for(name), dir_fd=self.handle, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read_entry(self, name: str, copies: FileCopies, copy_folder: Path) -> FolderEntry | None:
        """What stands there, with its content; a large one is copied into `copy_folder`, once."""
        found = self.stat_entry(name)
        if found is None:
            return None
        kind, mode = stat.S_IFMT(found.st_mode), stat.S_IMODE(found.st_mode)
        if kind == stat.S_IFLNK:
            return FolderEntry(kind, 0, self._link(name))
        if kind != stat.S_IFREG:
            return FolderEntry(kind, mode)
        if found.st_size <= _LARGEST:
            return FolderEntry(kind, mode, self.read_file(name))
        mark = _make_signature(found)
        if mark not in copies:
            with self._open_entry(name) as file:
                copies.add(mark, file, copy_folder)
        return FolderEntry(kind, mode, None, mark)

    def read_file(self, name: str) -> bytes:
        """The bytes of a small regular file; OSError for anything else."""
        with self._open_entry(name) as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise OSError(errno.EFBIG, "file too large")
        return data

    def has_entry(self, name: str, entry: FolderEntry) -> bool:
        """Whether an entry stands there as it was noted; for a folder, whether there is one."""
        found = self.stat_entry(name)
        if found is None or stat.S_IFMT(found.st_mode) != entry.kind:
            return False
        if entry.kind == stat.S_IFLNK:
            return self._link(name) == entry.data
        return entry.kind != stat.S_IFREG or self._holds_file(name, entry, found)

    def _holds_file(self, name: str, entry: FolderEntry, found: os.stat_result) -> bool:
        if stat.S_IMODE(found.st_mode) != entry.mode:
            return False
        if entry.data is None:
            return _make_signature(found) == entry.signature
        try:
            return found.st_size == len(entry.data) and self.read_file(name) == entry.data
        except OSError:
            return False

    @contextmanager
    def open_subfolder(self, name: str) -> Iterator[OpenFolder]:
        """A folder in it; OSError for a link."""
        with open_folder(self.path_for(name), self.handle, f"{self.path}/{name}") as folder:
            yield folder

    def create_entry(self, name: str, entry: FolderEntry, copies: FileCopies) -> None:
        """Have an entry stand where nothing does."""
        if entry.kind == stat.S_IFDIR:
            os.mkdir(self.path_for(name), 0o700, dir_fd=self.handle)
            self.set_mode(name, entry.mode)
        elif entry.kind == stat.S_IFLNK:
            os.symlink(os.fsdecode(entry.data or b""), self.path_for(name), dir_fd=self.handle)
        elif entry.kind == stat.S_IFREG:
            with os.fdopen(self._create_file(name), "wb") as file:
                if entry.data is None:
                    copies.write(entry.signature, file)
                else:
                    file.write(entry.data)
                file.flush()
                if hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), entry.mode)

    def set_mode(self, name: str, mode: int) -> None:
        """Give a folder its rights."""
        os.chmod(
            self.path_for(name),
            mode,
            dir_fd=self.handle if os.chmod in os.supports_dir_fd else None,
        )

    def move_entry(self, name: str, target: Path, spare: OpenFolder) -> None:
        """Move an entry away; on another disk, into a folder of `spare`, and what is small is
        copied.
        """
        found = self.stat_entry(name)
        if found and stat.S_ISDIR(found.st_mode):
            self.set_mode(name, 0o700)  # else it can't leave its folder
        try:
            os.rename(self.path_for(name), target, src_dir_fd=self.handle)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            if found and stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST:
                with suppress(OSError):
                    target.write_bytes(self.read_file(name))
            self._move_near(name, target.name, spare)

    def _move_near(self, name: str, target: str, spare: OpenFolder) -> None:
        with suppress(FileExistsError):
            os.mkdir(spare.path_for("cub-aside"), 0o700, dir_fd=spare.handle)
        with spare.open_subfolder("cub-aside") as near:
            os.rename(
                self.path_for(name),
                near.path_for(target),
                src_dir_fd=self.handle,
                dst_dir_fd=near.handle,
            )

    def path_for(self, name: str) -> str:
        """How the system is told of a name, beside the handle."""
        return name if self.handle is not None else f"{self.path}/{name}"

    def _link(self, name: str) -> bytes:
        return os.fsencode(os.readlink(self.path_for(name), dir_fd=self.handle))

    def _open_entry(self, name: str) -> IO[bytes]:
        handle = os.open(self.path_for(name), _TO_READ, dir_fd=self.handle)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return os.fdopen(handle, "rb")
        os.close(handle)
        raise OSError(errno.EINVAL, "no regular file")

    def _create_file(self, name: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
        return os.open(self.path_for(name), flags, 0o600, dir_fd=self.handle)


@contextmanager
def open_folder(path: str, near: int | None = None, display_path: str = "") -> Iterator[OpenFolder]:
    """A folder to work in, `path` from the open folder `near` if there is one; OSError for what
    is none, and for a link.
    """
    if not _HAS_DIR_FD:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "not a directory")
        yield OpenFolder(None, display_path or path)
        return
    handle = os.open(path, _TO_LIST, dir_fd=near)
    try:
        yield OpenFolder(handle, display_path or path)
    finally:
        os.close(handle)


def make_restore_error(error: OSError, name: str) -> CubError:
    """The error for an entry that could not be put back."""
    reason = describe_os_error(error)
    return CubError(f"the attempt changed {name}, and it can't be put back: {reason}")


def _make_signature(found: os.stat_result) -> StatSignature:
    """What no edit leaves as it is: the system alone sets the time of the last change."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
