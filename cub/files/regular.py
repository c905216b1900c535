"""Reading the many files of a project: by the bytes of their paths, so that no locale matters, and
regular files alone, so that none makes the reader wait.
"""

from __future__ import annotations

import errno
import os
import stat

_NAMES = ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY")  # each where the system has it
_FLAGS = sum(getattr(os, name, 0) for name in _NAMES)


def place(root: str, path: str) -> bytes:
    """Where `path`, relative to `root` and with `/`, is on disk."""
    return os.fsencode(root) + b"/" + path.encode("utf-8", "surrogateescape")


def read_start(root: str, path: str, most: int) -> bytes:
    """The first `most` bytes of a file; OSError for what is none, and for a link."""
    with os.fdopen(_opened(place(root, path)), "rb") as file:
        return file.read(most)


def _opened(path: bytes) -> int:
    """A FIFO opens without anybody at its other end, and is found out."""
    handle = os.open(path, os.O_RDONLY | _FLAGS)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, "no regular file")
