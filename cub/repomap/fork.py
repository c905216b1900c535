"""Work that a process of its own does, while this one goes on."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")


def can_fork() -> bool:
    """Whether a process is cheap, and safe to have: a thread may hold a lock that nobody frees.

    Elsewhere than on Linux it starts as a new Python, which takes longer than it saves.
    """
    return sys.platform == "linux" and threading.active_count() == 1 and count_usable_cores() > 1


def count_usable_cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_in_fork(work: Callable[[], T]) -> Callable[[], T]:
    """Begin the work, and return what waits for its result: anything that can be pickled.

    Where no process can be had, or it ends without a result, the work is done when it is asked for.
    """
    from multiprocessing import get_context

    context = get_context("fork")
    here, there = context.Pipe(duplex=False)
    try:
        process = context.Process(target=_send, args=(there, work), daemon=True)
        process.start()
    except OSError:  # out of memory or of processes
        return work
    there.close()

    def result() -> T:
        try:
            with here:
                made: T = here.recv()
        except (EOFError, OSError):
            return work()
        process.join()
        return made

    return result


def _send(there: Connection, work: Callable[[], T]) -> None:
    """What goes wrong here will go wrong in the parent as well."""
    ignore_interrupts()
    try:
        there.send(work())
    except Exception:  # noqa: BLE001 - told by the parent, who does the work again
        there.close()


def ignore_interrupts() -> None:
    """For a child: Ctrl-C ends the parent, which ends its processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
