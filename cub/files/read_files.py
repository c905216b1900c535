"""Read files exactly, and decide which paths cub may touch at all.

The many files of a project are read by the bytes of their paths, as no locale may matter, and only
if they are regular files, as a FIFO would block the reader.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from pathlib import Path

from cub.debug_log import log_debug
from cub.errors import CubError
from cub.text import describe_os_error

_FILE_TYPES = {
    stat.S_IFDIR: "a directory",
    stat.S_IFREG: "a file",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}

_ABSENCES = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def read_file(root: Path, path: str, display_path: str = "") -> bytes | None:
    """Return the bytes of `path` (relative to `root`), or None if there is no such file.

    `display_path` replaces a path outside the project in the debug log.
    """
    real = find_regular_file(root, path)
    if real is None:
        log_debug(f"{display_path or path} is not there")
        return None
    try:
        data = real.read_bytes()
    except OSError as error:
        raise make_os_error(error, path, "cannot be read") from error
    log_debug(f"read {display_path or path}: {len(data):,} bytes")
    return data


def list_names(folder: Path) -> frozenset[str]:
    """Return the names in a folder, spelled as on disk; none if there is no folder.

    This decides whether a file exists: opening `AGENTS.md` would also open `agents.md` on a
    case-insensitive disk.
    """
    try:
        return frozenset(entry.name for entry in folder.iterdir())
    except (OSError, ValueError) as error:
        _require_absence(error, folder.as_posix(), "cannot be listed")
        return frozenset()


def find_regular_file(root: Path, path: str) -> Path | None:
    """Return the regular file that `path` leads to, following links; None if there is none.

    Links out of `root`, dangling or looping links, and anything but a regular file are errors: a
    FIFO would block the reader, and a file elsewhere is not this project's to change.
    """
    full = root / path
    try:
        os.lstat(full)
    except (OSError, ValueError) as error:
        _require_absence(error, path, "cannot be read")
        resolve_path(root, path)
        return None
    real = _follow_links(full, path)
    _require_inside(root, real, path)
    mode = real.stat().st_mode
    if not stat.S_ISREG(mode):
        raise CubError(
            f"this is {describe_file_type(mode)}, not a text file",
            where=path,
            hint="move it out of the way",
        )
    return real


def _require_absence(error: OSError | ValueError, path: str, problem: str) -> None:
    """Raise CubError unless no file is there, or can be: its name is too long, or has a NUL."""
    if isinstance(error, OSError) and error.errno not in _ABSENCES:
        raise make_os_error(error, path, problem) from error


def describe_file_type(mode: int) -> str:
    """Return the type of a file in words, such as "a directory"; `mode` is its `st_mode`."""
    return _FILE_TYPES.get(stat.S_IFMT(mode), "a device")


def resolve_path(root: Path, path: str) -> str:
    """Return where `path` leads, relative to `root`, even if nothing is there; CubError if out."""
    # No name has a NUL: such a path leads nowhere, and through no link.
    real = Path(os.path.normpath(root / path) if "\0" in path else os.path.realpath(root / path))
    _require_inside(root, real, path)
    return real.relative_to(root).as_posix()


def read_link_text(root: Path, path: str) -> bytes | None:
    """Return the text of the symbolic link `path` itself; None if it is not a link."""
    resolve_path(root, posixpath.dirname(path))
    try:
        return os.fsencode((root / path).readlink())
    except OSError:
        return None


def require_writable(real: Path, path: str) -> None:
    """Raise CubError for a file that may not be written; `path` is its name in messages."""
    # As root, access() allows everything, but a mode without any write bit is intended.
    if not real.stat().st_mode & 0o222 or not os.access(real, os.W_OK):
        raise CubError(
            "this file is read-only; nothing was written",
            where=path,
            hint=f"make it writable (chmod u+w {path}), then run the command again",
        )


def make_os_error(error: OSError, path: str, problem: str) -> CubError:
    """Return a system error as a CubError; `problem` says what failed, such as "cannot be read"."""
    return CubError(f"{problem}: {describe_os_error(error)}", where=path, hint=_suggest_fix(error))


def _suggest_fix(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "free some disk space; nothing was changed"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "check who owns it and whether it may be written; nothing was changed"
    return ""


def _follow_links(full: Path, path: str) -> Path:
    try:
        return Path(os.path.realpath(full, strict=True))
    except FileNotFoundError:
        raise CubError(
            f"this symbolic link points to {full.readlink().as_posix()}, which does not exist",
            where=path,
            hint="create the file that it points to, or delete the link",
        ) from None
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise make_os_error(error, path, "cannot be followed") from error
        raise CubError(
            "this symbolic link leads back to itself", where=path, hint="delete the link"
        ) from None


def _require_inside(root: Path, real: Path, path: str) -> None:
    is_inside = real.is_relative_to(root)
    if is_inside and ".git" in {part.casefold() for part in real.relative_to(root).parts}:
        raise CubError(
            "this leads into git's own directory", where=path, hint="replace the link by a file"
        )
    if not is_inside:
        raise CubError(
            "this leads out of the project",
            where=path,
            hint="cub changes only files inside the project: replace the link by a file",
            details=[f"it leads to {real.as_posix()}"],
        )


def make_stat_signature(status: os.stat_result) -> tuple[int, ...]:
    """Return what an edit of a file changes: the system alone sets the time of its last change."""
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_dev, status.st_ino, status.st_size, *times


_FLAG_NAMES = ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY")  # not every system has each
_FLAGS = sum(getattr(os, name, 0) for name in _FLAG_NAMES)


def encode_path(root: str, path: str) -> bytes:
    """Return the bytes of `path`, relative to `root` and with `/`, as the system takes them."""
    return os.fsencode(root) + b"/" + path.encode("utf-8", "surrogateescape")


def read_prefix(root: str, path: str, max_bytes: int) -> bytes:
    """Return the first `max_bytes` bytes of a file; OSError if there is none, or for a link."""
    with os.fdopen(open_regular_file(encode_path(root, path)), "rb") as file:
        return file.read(max_bytes)


def read_small_file(root: Path, path: str, max_bytes: int) -> bytes:
    """Read a file below `root`; b"" for a larger one, for a link, and for what can't be read."""
    try:
        data = read_prefix(os.fspath(root), path, max_bytes + 1)
    except (OSError, ValueError):
        return b""
    return data if len(data) <= max_bytes else b""


def open_regular_file(path: bytes) -> int:
    """Open a regular file to read it; OSError for anything else, such as a link or a FIFO.

    It never waits: a FIFO opens without a writer and is then refused.
    """
    handle = os.open(path, os.O_RDONLY | _FLAGS)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "no regular file")
