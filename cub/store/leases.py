"""Make and check leases: who works on a task, and until when nobody else does."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from cub.files.temporary_files import is_running
from cub.store.jsonl import Record
from cub.store.timestamps import format_timestamp, normalize_timestamp, parse_timestamp

# If you claim a task in a shell, no process lives as long as the work.
MANUAL_DURATION = timedelta(hours=24)
# No work takes longer: a lease that says so was edited manually, or made by a wrong clock.
_MAX_DURATION = timedelta(days=31)


def make_lease(
    now: str, *, run: str | None = None, duration: timedelta = MANUAL_DURATION
) -> Record:
    """Return a lease from `now` on; the lease of a run also ends with its process."""
    owner = {"run": run, "pid": os.getpid()} if run else {}
    return {**owner, "host": socket.gethostname(), "expires": _add_duration(now, duration)}


def _add_duration(timestamp: str, duration: timedelta) -> str:
    return format_timestamp((parse_timestamp(timestamp) or datetime.now(UTC)) + duration)


class LeaseChecker(NamedTuple):
    """Check leases at one time, on this machine, against its processes."""

    timestamp: str
    host: str = socket.gethostname()
    is_alive: Callable[[int], bool] = is_running

    def is_expired(self, lease: Record | None) -> bool:
        """Return whether nobody works under a lease now: it is over, or its process is gone."""
        if lease is None:
            return False
        expires, pid = lease.get("expires"), lease.get("pid")
        latest = _add_duration(self.timestamp, _MAX_DURATION)
        if isinstance(expires, str):
            expires = normalize_timestamp(expires)
            if expires <= self.timestamp or expires > latest:
                return True
        is_here = lease.get("host") == self.host and type(pid) is int
        return is_here and not self.is_alive(pid)  # type: ignore[arg-type]
