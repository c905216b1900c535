"""The ledger, `.cub/ledger.jsonl`: what happened, one event a line, only ever added to.

A ledger's file read: forwards, backwards from its end, and on and on as it grows.

Older events moved from the ledger to its archive, a file of the same form beside it.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from cub.files import lock_project
from cub.files.disk import Disk
from cub.files.read_files import find_regular_file, make_os_error
from cub.files.single_file import replace_single_file
from cub.git import read_tracked_file
from cub.masking import mask_text
from cub.store.events import ATTEMPT_END, Event, MaskFunction, encode_event, get_timestamp
from cub.store.jsonl import decode_record, encode_record
from cub.store.jsonl_append import (
    append_lines,
    filter_missing_lines,
    remove_stale_temp_files,
    require_appendable,
)
from cub.store.store_paths import ARCHIVE_FILE, LEDGER_FILE


@dataclass(frozen=True, slots=True)
class Ledger:
    """The events below `root`; `path` says where, `mask` hides what is secret in them."""

    root: Path
    path: str = LEDGER_FILE
    disk: Disk = field(default_factory=Disk)
    mask: MaskFunction = mask_text

    def append_events(self, *events: Event) -> None:
        """Add events; they are on disk when this returns. Takes the project's lock."""
        lines = [encode_event({"v": 1, **event}, self.mask) for event in events]
        with lock_project(self.root) as held:
            append_lines(held, self.path, lines, self.disk)

    def require_writable(self) -> None:
        """CubError if no event may be added: for those who write something else first."""
        require_appendable(self.root, self.path)

    def iter_events(self) -> Iterator[Event]:
        """All events from the first to the last; lines that are none are passed over."""
        with self.open_file() as file:
            yield from parse_events(file or ())

    def iter_task_events(
        self, task: str, kinds: tuple[str, ...] = (ATTEMPT_END,)
    ) -> Iterator[Event]:
        """The events of a task, the last one first: looked for from the end, read as they come."""
        for event in self.iter_backwards(task):
            if event.get("task") == task and event.get("ev") in kinds:
                yield event

    def iter_backwards(self, text: str = "") -> Iterator[Event]:
        """The events that hold `text` as a string of their own, the last one first."""
        with self.open_file() as file:
            yield from (
                iter_events_backwards(file, encode_json_text(text) if text else EVENT_MARK)
                if file
                else ()
            )

    def follow(self, count: int) -> Iterator[Event | None]:
        """The last events, then each one as it is added; None whenever there is nothing new."""
        follower = LedgerFollower(self.open_file)
        yield from follower.start(count)
        while True:
            yield from follower.read_new()
            yield None

    @contextmanager
    def open_file(self) -> Iterator[BinaryIO | None]:
        """The file to be read; None where there is none yet."""
        real = find_regular_file(self.root, self.path)
        if real is None:
            yield None
            return
        try:
            file = real.open("rb")
        except OSError as error:
            raise make_os_error(error, self.path, "cannot be read") from error
        with file:
            yield file


def encode_json_text(text: str) -> bytes:
    """A text as JSON spells it in a line of cub's."""
    return encode_record({"": text})[4:-1]


EVENT_MARK = b'"ev"'  # every event has it


def parse_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of lines; those that are none are passed over."""
    return (event for raw in lines if (event := parse_event(raw)))


def iter_events_backwards(file: BinaryIO, needle: bytes, end: int | None = None) -> Iterator[Event]:
    """The events whose line has `needle`, the last one before `end` first."""
    if file.seek(0, os.SEEK_END):
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from parse_events(_lines_back(data, needle, len(data) if end is None else end))


def parse_event(raw: bytes) -> Event | None:
    """The event of a line; None for one that is none."""
    try:
        return decode_record(raw.strip())
    except ValueError:
        return None


@dataclass(slots=True)
class LedgerFollower:
    """Tells each event of a growing file once, also when archiving has replaced the file.

    `offset` is behind the last whole line that was read of the file with the number `inode`, and
    `last_timestamp` the latest time that an event told so far.
    """

    open_file: Callable[[], AbstractContextManager[BinaryIO | None]]
    inode: int = 0
    offset: int = 0
    last_timestamp: str = ""

    def start(self, count: int) -> list[Event]:
        """The last events; `read_new` goes on behind them."""
        with self.open_file() as file:
            if file is None:
                return []
            self.inode, self.offset = _inode(file), _end(file)
            newest = [*islice(iter_events_backwards(file, EVENT_MARK, self.offset), max(count, 1))][
                ::-1
            ]
        self._saw(newest)
        return newest if count else []

    def read_new(self) -> list[Event]:
        """The events that were added since."""
        with self.open_file() as file:
            if file is None:
                return []
            replaced = self.inode not in (0, _inode(file))
            self.inode, self.offset = _inode(file), 0 if replaced else self.offset
            file.seek(self.offset)
            whole, end, _ = file.read().rpartition(b"\n")
        self.offset += len(whole) + len(end)
        found = [
            e
            for e in parse_events(whole.split(b"\n"))
            if not replaced or get_timestamp(e) > self.last_timestamp
        ]
        self._saw(found)
        return found

    def _saw(self, events: list[Event]) -> None:
        self.last_timestamp = max([self.last_timestamp, *map(get_timestamp, events)])


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


class ArchiveResult(NamedTuple):
    """How many events moved, and how many older ones stay because their task is not closed."""

    moved_count: int
    kept_count: int


def move_to_archive(ledger: Ledger, before: str, is_open: Callable[[str], bool]) -> ArchiveResult:
    """Move what happened before a moment. A crash in between leaves events in both files, never
    in none; the next time, they are not added again.
    """
    with lock_project(ledger.root) as held:
        data = read_tracked_file(ledger.root, ledger.path) or b""
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
            new = filter_missing_lines(ledger.root, ARCHIVE_FILE, old)
            append_lines(held, ARCHIVE_FILE, new, ledger.disk)
            rest = b"\n".join(stay)
            remove_stale_temp_files(ledger.root / ledger.path)
            replace_single_file(ledger.root / ledger.path, data, rest, ledger.path, ledger.disk)
        return ArchiveResult(len(old), kept)


def _older(line: bytes, before: str) -> Event | None:
    event = parse_event(line)
    return event if event and "" < get_timestamp(event) < before else None


def _of_open(event: Event, is_open: Callable[[str], bool]) -> bool:
    task = event.get("task")
    return isinstance(task, str) and is_open(task)
