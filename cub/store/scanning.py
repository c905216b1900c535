"""A ledger's file read: forwards, backwards from its end, and on and on as it grows."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from cub.store.events import Event, when
from cub.store.jsonl import decode

ANY = b'"ev"'  # every event has it


def events_in(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of lines; those that are none are passed over."""
    return (event for raw in lines if (event := event_of(raw)))


def events_back(file: BinaryIO, needle: bytes, end: int | None = None) -> Iterator[Event]:
    """The events whose line has `needle`, the last one before `end` first."""
    if file.seek(0, os.SEEK_END):
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from events_in(_lines_back(data, needle, len(data) if end is None else end))


def event_of(raw: bytes) -> Event | None:
    """The event of a line; None for one that is none."""
    try:
        return decode(raw.strip())
    except ValueError:
        return None


@dataclass(slots=True)
class Follower:
    """Tells each event of a growing file once, also when archiving has replaced the file.

    `place` is behind the last whole line that was read of the file with the number `inode`, and
    `last` the latest time that an event told so far.
    """

    opened: Callable[[], AbstractContextManager[BinaryIO | None]]
    inode: int = 0
    place: int = 0
    last: str = ""

    def begin(self, count: int) -> list[Event]:
        """The last events; `news` goes on behind them."""
        with self.opened() as file:
            if file is None:
                return []
            self.inode, self.place = _inode(file), _end(file)
            newest = [*islice(events_back(file, ANY, self.place), max(count, 1))][::-1]
        self._saw(newest)
        return newest if count else []

    def news(self) -> list[Event]:
        """The events that were added since."""
        with self.opened() as file:
            if file is None:
                return []
            replaced = self.inode not in (0, _inode(file))
            self.inode, self.place = _inode(file), 0 if replaced else self.place
            file.seek(self.place)
            whole, end, _ = file.read().rpartition(b"\n")
        self.place += len(whole) + len(end)
        found = [e for e in events_in(whole.split(b"\n")) if not replaced or when(e) > self.last]
        self._saw(found)
        return found

    def _saw(self, events: list[Event]) -> None:
        self.last = max([self.last, *map(when, events)])


def _inode(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_ino


def _end(file: BinaryIO) -> int:
    """Behind the last whole line: what follows is still being written, or torn."""
    if not file.seek(0, os.SEEK_END):
        return 0
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.rfind(b"\n") + 1


def _lines_back(data: mmap.mmap, needle: bytes, end: int) -> Iterator[bytes]:
    """The lines that hold `needle`, the last one first."""
    while (found := data.rfind(needle, 0, end)) >= 0:
        start = data.rfind(b"\n", 0, found) + 1
        stop = data.find(b"\n", found)
        yield data[start : stop if stop >= 0 else len(data)]
        end = start
