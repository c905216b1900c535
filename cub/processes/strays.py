"""Processes of a run whose cub and keeper were both killed, known by a mark they inherited."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psutil import Process

_ROUNDS = 10  # each finds what the killed ones started meanwhile
_PATIENCE = 3.0  # seconds for a killed process to go


def end_strays(mark: tuple[str, str]) -> int:
    """Kill this user's processes that have the variable `mark` (its name and value).

    Not this process and its parents. Returns how many, once they have gone.
    """
    killed = set[int]()
    for _ in range(_ROUNDS):
        found = [process for process in _marked(mark) if process.pid not in killed]
        if not found:
            break
        killed |= {process.pid for process in found if _kill(process)}
        deadline = time.monotonic() + _PATIENCE
        while any(map(_lives, found)) and time.monotonic() < deadline:
            time.sleep(0.01)
    return len(killed)


def _marked(mark: tuple[str, str]) -> Iterator[Process]:
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


def _kill(process: Process) -> bool:
    from psutil import Error

    try:
        process.kill()
    except Error:
        return False
    return True


def _lives(process: Process) -> bool:
    from psutil import STATUS_ZOMBIE, Error

    try:
        return process.is_running() and process.status() != STATUS_ZOMBIE
    except Error:
        return False
