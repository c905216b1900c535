"""Tell whether a file is the same as before, without reading it."""

from __future__ import annotations

import os
from typing import NamedTuple


class StatSignature(NamedTuple):
    """Hold what an edit of a file changes: the system alone sets the time of its last change."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def from_stat(cls, status: os.stat_result) -> StatSignature:
        """Take the signature from the result of stat or lstat."""
        times = status.st_mtime_ns, status.st_ctime_ns
        return cls(status.st_dev, status.st_ino, status.st_size, *times)
