"""How long a writer waits for the lock that another one holds: one rule for all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cub.errors import CubError
from cub.files.listener import listener
from cub.files.reading import trouble

# Seconds. A holder that dies frees the lock, and most work for a moment only. One that has it for
# so long is stopped, or waits for a person.
LIMIT = 120.0
_NOTICE = 1.0  # until the person is told
_STEP = 0.05  # between two tries
_VANISHED = 5.0  # for a folder that is gone again each time


@dataclass(frozen=True, slots=True)
class LockWait:
    """How long one and the same holder is waited for; the clock is a test's."""

    limit: float = LIMIT
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class Waiting:
    """One wait for the lock at `path`. Each new holder is progress: the time begins anew."""

    path: Path
    rule: LockWait
    began: float = field(init=False)
    since: float = field(init=False)
    mark: tuple[int, int] | None = None
    is_told: bool = False

    def __post_init__(self) -> None:
        self.began = self.since = self.rule.clock()

    def pause(self, where: str, missing: OSError | None = None) -> None:
        """Wait a moment; CubError where that has been done for long enough."""
        now, mark = self.rule.clock(), _mark(self.path)
        if mark not in (None, self.mark):
            self.mark, self.since = mark, now
        if missing and now - self.since >= min(_VANISHED, self.rule.limit):
            raise trouble(missing, where, "cannot be created") from missing
        if now - self.since >= self.rule.limit:
            raise _at_work(where, _holder(self.path))
        if not self.is_told and now - self.began >= _NOTICE:
            self.is_told = True
            listener().talk(f"Waiting for {_holder(self.path) or 'another cub'}")
        self.rule.sleep(_STEP)


def _at_work(where: str, holder: str) -> CubError:
    return CubError(
        "another cub is at work here",
        where=where,
        hint="wait for it to end, then run the command again",
        details=[f"held by {holder}"] if holder else [],
    )


def _mark(path: Path) -> tuple[int, int] | None:
    """What tells one holder from the next: each makes the file anew and signs it."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _holder(path: Path) -> str:
    with suppress(OSError):
        return os.fsdecode(path.read_bytes()).strip()
    return ""
