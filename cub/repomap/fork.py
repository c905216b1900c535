"""Run work in a process of its own, while this one goes on."""

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
    """Return whether a process is cheap, and safe: a thread may hold a lock that nobody frees.

    Elsewhere than on Linux it starts as a new Python, which takes longer than it saves.
    """
    return sys.platform == "linux" and threading.active_count() == 1 and count_usable_cores() > 1


def count_usable_cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_in_fork(work: Callable[[], T]) -> Callable[[], T]:
    """Start the work, and return a function that waits for its result, which must be picklable.

    If no process can start, or it ends without a result, that function does the work itself.
    """
    from multiprocessing import get_context

    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    try:
        process = context.Process(target=_send_result, args=(sender, work), daemon=True)
        process.start()
    except OSError:  # out of memory or of processes
        return work
    sender.close()

    def wait_for_result() -> T:
        try:
            with receiver:
                result: T = receiver.recv()
        except (EOFError, OSError):
            return work()
        process.join()
        return result

    return wait_for_result


def _send_result(sender: Connection, work: Callable[[], T]) -> None:
    ignore_interrupts()
    try:
        sender.send(work())
    except Exception:  # noqa: BLE001 - the parent does the work again, and reports the error
        sender.close()


def ignore_interrupts() -> None:
    """Ignore Ctrl-C in a child: it ends the parent, which ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
