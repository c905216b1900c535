"""Kill what is left of a command whose keeper was killed.

On Linux it becomes cub's child. If cub was killed, too, a variable that it inherited identifies it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from cub.processes.process_tree import (
    GIVE_UP_SECONDS,
    SUBREAPER,
    find_descendant_pids,
    kill_process_group,
    load_prctl,
)

if TYPE_CHECKING:
    from psutil import Process

_STEP = 0.01  # seconds
_MAX_ROUNDS = 10  # each finds what the killed ones started in the meantime
_PATIENCE = 3.0  # seconds for a killed process to go
_adopting: list[bool] = []


@contextmanager
def adopt_orphans() -> Iterator[None]:
    """Make this process the parent of orphans of what it starts in the block (prctl(2))."""
    _adopting.append(_set_subreaper(1))
    try:
        yield
    finally:
        if _adopting.pop() and not _adopting:
            _set_subreaper(0)


def kill_orphans(command_pid: int, keepers: Collection[int]) -> None:
    """Kill what is left of the command `command_pid`, whose keeper is gone, in any session.

    What is below the other `keepers`, which are at work, is theirs to end. Do nothing outside
    `adopt_orphans`: all else that this process has started in other sessions is killed, too.
    """
    if not any(_adopting):
        return
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while (
        left := find_descendant_pids(command_pid, True, frozenset(keepers))
    ) and time.monotonic() < deadline:
        for process in left:
            kill_process_group(process)
        for process in left:  # those that have become our children are ours to reap
            with suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)
        time.sleep(_STEP)


def _set_subreaper(value: int) -> bool:
    return load_prctl()(SUBREAPER, value) == 0


def kill_by_environment(mark: tuple[str, str]) -> int:
    """Kill this user's processes that have the variable `mark` (its name and value), except this
    process and its parents. Return how many, once they have gone.
    """
    from psutil import Error

    killed = set[int]()
    for _ in range(_MAX_ROUNDS):
        marked = [process for process in _find_by_environment(mark) if process.pid not in killed]
        if not marked:
            break
        for process in marked:
            with suppress(Error):
                process.kill()
                killed.add(process.pid)
        deadline = time.monotonic() + _PATIENCE
        while any(map(_is_running, marked)) and time.monotonic() < deadline:
            time.sleep(_STEP)
    return len(killed)


def _find_by_environment(mark: tuple[str, str]) -> Iterator[Process]:
    from psutil import Error, Process, process_iter

    name, value = mark
    own = Process()
    spared = {own.pid, *(parent.pid for parent in own.parents())}
    for process in process_iter():
        try:
            if process.pid in spared or process.uids().real != os.getuid():
                continue
            if process.environ().get(name) == value:
                yield process
        except (Error, OSError):  # it has gone, or is none of ours
            continue


def _is_running(process: Process) -> bool:
    from psutil import STATUS_ZOMBIE, Error

    try:
        return process.is_running() and process.status() != STATUS_ZOMBIE
    except Error:
        return False
