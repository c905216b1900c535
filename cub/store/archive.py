"""Older events moved from the ledger to its archive, a file of the same form beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cub.files import exclusive
from cub.files.single import replace_single
from cub.git import read_checked_out
from cub.store.appending import append, missing_lines
from cub.store.events import Event, when
from cub.store.file_backend import sweep
from cub.store.ledger import Ledger
from cub.store.place import ARCHIVE
from cub.store.scanning import event_of


class Archived(NamedTuple):
    """How many events moved, and how many older ones stay because their task is not closed."""

    moved: int
    kept: int


def archive(ledger: Ledger, before: str, is_open: Callable[[str], bool]) -> Archived:
    """Move what happened before a moment. A crash in between leaves events in both files, never
    in none; the next time, they are not added again.
    """
    with exclusive(ledger.root) as held:
        data = read_checked_out(ledger.root, ledger.path) or b""
        old: list[bytes] = []
        stay: list[bytes] = []
        kept = 0
        for line in data.split(b"\n"):
            event = _older(line, before)
            kept += bool(event and _of_open(event, is_open))
            moves = event is not None and not _of_open(event, is_open)
            (old if moves else stay).append(line)
        if old:
            ledger.require_writable()
            new = missing_lines(ledger.root, ARCHIVE, old)
            append(held, ARCHIVE, new, ledger.disk)
            rest = b"\n".join(stay)
            sweep(ledger.root / ledger.path)
            replace_single(ledger.root / ledger.path, data, rest, ledger.path, ledger.disk)
        return Archived(len(old), kept)


def _older(line: bytes, before: str) -> Event | None:
    event = event_of(line)
    return event if event and "" < when(event) < before else None


def _of_open(event: Event, is_open: Callable[[str], bool]) -> bool:
    task = event.get("task")
    return isinstance(task, str) and is_open(task)
