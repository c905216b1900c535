"""A request to stop that wakes every wait at once; it may come from a signal handler."""

from __future__ import annotations

import os
import selectors
from contextlib import suppress


class Stop:
    """Not requested at first; once it is, it stays so."""

    __slots__ = ("_reads", "_writes", "requested")

    def __init__(self) -> None:
        self.requested = False
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._writes, False)

    def request(self) -> None:
        """Ask to stop; asking again, or after `close`, does no harm."""
        self.requested = True
        if self._writes >= 0:
            with suppress(BlockingIOError):  # a full pipe is readable, too
                os.write(self._writes, b"!")

    def fileno(self) -> int:
        """A file that can be read once a stop is requested; nobody reads it."""
        return self._reads

    def wait(self, seconds: float) -> bool:
        """Sleep for so many seconds at most; True as soon as a stop is requested."""
        if self.requested or seconds <= 0:
            return self.requested
        with selectors.DefaultSelector() as selector:
            selector.register(self._reads, selectors.EVENT_READ)
            selector.select(seconds)
        return self.requested

    def close(self) -> None:
        """Give the pipe back."""
        reads, writes, self._reads, self._writes = self._reads, self._writes, -1, -1
        for end in (reads, writes):
            if end >= 0:
                os.close(end)
