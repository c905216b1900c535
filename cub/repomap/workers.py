"""Run work in other processes, while this one goes on."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

T = TypeVar("T")

# A process costs about as much as scanning this many bytes; a spawned one starts a new Python.
_BYTES_PER_PROCESS = 1_500_000 if sys.platform == "linux" else 6_000_000
_MAX_PROCESSES = 8
MIN_FORK_BYTES = 150_000
MIN_FORK_FILES = 150  # with fewer, a process for all but the scan costs as much as it saves


def can_fork() -> bool:
    """Return whether a process is cheap, and safe: a thread may hold a lock that nobody frees."""
    return sys.platform == "linux" and threading.active_count() == 1


def count_workers(scan_bytes: int, file_count: int) -> int:
    """Return how many processes save more than they cost."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    count = min(1 + scan_bytes // _BYTES_PER_PROCESS, usable, _MAX_PROCESSES)
    if count > 1:
        return count
    is_enough = scan_bytes >= MIN_FORK_BYTES or file_count >= MIN_FORK_FILES
    return int(usable > 1 and is_enough and can_fork())


class Workers:
    """Hold `count` processes for the work in a `with` block; without any, it is done when needed.

    Work and result must be picklable. What a process can't do, this one does.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = _make_pool(count) if count else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)

    def start(self, work: Callable[[], T]) -> Callable[[], T]:
        """Start the work, and return a function that waits for its result."""
        if self._pool is None:
            return work
        from concurrent.futures import BrokenExecutor

        try:
            future = self._pool.submit(work)
        except (BrokenExecutor, OSError):  # out of memory or of processes
            return work

        def wait_for_result() -> T:
            try:
                return future.result()
            except (BrokenExecutor, OSError):  # a process was killed
                return work()

        return wait_for_result


def _make_pool(count: int) -> ProcessPoolExecutor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("fork" if can_fork() else "spawn")
    return ProcessPoolExecutor(count, context, initializer=_ignore_interrupts)


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C in a child: it ends the parent, which ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
