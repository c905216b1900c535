"""What is left of a command whose keeper was killed: on Linux it comes to cub, which ends it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cub.processes.leftovers import GIVE_UP, kill, left_by
from cub.processes.light import SUBREAPER, load_prctl

_STEP = 0.01  # seconds
# The keepers that are at work: what is below them is theirs to end.
keepers: set[int] = set()
_adopting: list[bool] = []


@contextmanager
def adopt_orphans() -> Iterator[None]:
    """Have the orphans of all that is started meanwhile come to this process (prctl(2))."""
    _adopting.append(_set_subreaper(1))
    try:
        yield
    finally:
        if _adopting.pop() and not _adopting:
            _set_subreaper(0)


def end_orphans(client: int) -> None:
    """Kill what is left of the command `client`, whose keeper is gone, whatever session it is in.

    What else this process has started in sessions of their own goes, too, but for keepers; so
    nothing is done but within `adopt_orphans`.
    """
    if not any(_adopting):
        return
    deadline = time.monotonic() + GIVE_UP
    while (left := left_by(client, True, frozenset(keepers))) and time.monotonic() < deadline:
        for process in left:
            kill(process)
        for process in left:  # those that have become our children are ours to bury
            with suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)
        time.sleep(_STEP)


def _set_subreaper(value: int) -> bool:
    return load_prctl()(SUBREAPER, value) == 0
