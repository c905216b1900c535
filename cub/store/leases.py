"""Leases: who works on a task, and until when nobody else does."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from cub.store.jsonl import Record
from cub.store.timestamps import format_timestamp, normalize_timestamp, parse_timestamp

# A person who claims a task in a shell has no process that lives as long as the work.
MANUAL_DURATION = timedelta(hours=24)
# No work takes longer: a claim that says so was made by hand, or by a clock that is wrong.
_LONGEST = timedelta(days=31)


def make_lease(
    now: str, *, run: str | None = None, duration: timedelta = MANUAL_DURATION
) -> Record:
    """A lease from `now` on; that of a run ends with its process, too."""
    ends = format_timestamp((parse_timestamp(now) or datetime.now(UTC)) + duration)
    owner = {"run": run, "pid": os.getpid()} if run else {}
    return {**owner, "host": socket.gethostname(), "expires": ends}


class LeaseChecker(NamedTuple):
    """What tells whether a lease still holds: the time, this machine, and its processes."""

    timestamp: str
    host: str
    is_alive: Callable[[int], bool]

    def is_expired(self, lease: Record | None) -> bool:
        """Whether nobody works under a lease any more: it is over, or its process is gone."""
        if lease is None:
            return False
        expires, pid = lease.get("expires"), lease.get("pid")
        if (
            isinstance(expires, str)
            and not self.timestamp < normalize_timestamp(expires) <= self._latest()
        ):
            return True
        here = lease.get("host") == self.host and type(pid) is int
        return here and not self.is_alive(pid)  # type: ignore[arg-type]

    def _latest(self) -> str:
        return format_timestamp((parse_timestamp(self.timestamp) or datetime.now(UTC)) + _LONGEST)


def make_lease_checker(now: str) -> LeaseChecker:
    """This machine, at a moment."""
    return LeaseChecker(now, socket.gethostname(), _is_alive)


def _is_alive(pid: int) -> bool:
    import psutil

    try:
        return psutil.pid_exists(pid)
    except OverflowError:  # no machine has a process of that number
        return False
