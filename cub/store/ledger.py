"""Append to, read and archive the ledger, `.cub/ledger.jsonl`: one event in each line.

Events are only ever added. Older ones move to an archive, a file of the same form beside it.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from cub.files.disk import Disk
from cub.files.lock import lock_project
from cub.files.read_files import find_regular_file, make_os_error
from cub.files.single_file import replace_single_file
from cub.git.tracked_files import read_tracked_file
from cub.store.events import ATTEMPT_END, Event, encode_event, get_timestamp
from cub.store.jsonl import decode_record, encode_record
from cub.store.jsonl_append import append_lines, filter_missing_lines, require_appendable
from cub.store.store_paths import ARCHIVE_FILE, LEDGER_FILE


@dataclass(frozen=True, slots=True)
class Ledger:
    """Keep the events below `root` in `path`, with the secrets in them masked."""

    root: Path
    path: str = LEDGER_FILE
    disk: Disk = field(default_factory=Disk)

    def append_events(self, *events: Event) -> None:
        """Add events, under the project's lock; they are on disk when this returns."""
        with lock_project(self.root) as lock:
            append_lines(lock, self.path, self._encode(events), self.disk)

    def remove_events(self, *events: Event) -> None:
        """Remove the lines of events that turned out not to have happened."""
        removed = set(self._encode(events))
        with lock_project(self.root):
            data = read_tracked_file(self.root, self.path) or b""
            lines = data.split(b"\n")
            kept = [line for line in lines if line not in removed]
            if len(kept) < len(lines):
                path = self.root / self.path
                replace_single_file(path, data, b"\n".join(kept), self.path, self.disk)

    def _encode(self, events: Iterable[Event]) -> list[bytes]:
        return [encode_event({"v": 1, **event}) for event in events]

    def require_writable(self) -> None:
        """Raise CubError if no event may be added; call it before other writes."""
        require_appendable(self.root, self.path)

    def iter_events(self) -> Iterator[Event]:
        """Yield all events from the first to the last; other lines are skipped."""
        with self.open_file() as file:
            yield from parse_events(file or ())

    def iter_task_events(
        self, task: str, kinds: tuple[str, ...] = (ATTEMPT_END,)
    ) -> Iterator[Event]:
        """Yield the events of a task, the last one first, reading only as far as needed."""
        for event in self.iter_backwards(task):
            if event.get("task") == task and event.get("ev") in kinds:
                yield event

    def iter_backwards(self, text: str = "") -> Iterator[Event]:
        """Yield the events that have `text` as a JSON string, the last one first."""
        with self.open_file() as file:
            if file:
                needle = encode_json_text(text) if text else EVENT_MARK
                yield from iter_events_backwards(file, needle)

    def follow(self, count: int) -> Iterator[Event | None]:
        """Yield the last events, then each new one; None whenever there is nothing new.

        Each event comes once, also after archiving has replaced the file. `offset` is the end of
        the last whole line that was read of the file with the number `inode`.
        """
        inode, offset, events = 0, 0, []
        with self.open_file() as file:
            if file:
                inode, offset = _get_inode(file), _find_end(file)
                backwards = iter_events_backwards(file, EVENT_MARK, offset)
                events = [*islice(backwards, max(count, 1))][::-1]
        last_timestamp = max(map(get_timestamp, events), default="")
        yield from events if count else ()
        while True:
            with self.open_file() as file:
                replaced = file is not None and inode not in (0, _get_inode(file))
                offset = 0 if replaced else offset
                whole = b""
                if file:
                    inode = _get_inode(file)
                    file.seek(offset)
                    whole = b"".join(file.read().rpartition(b"\n")[:2])
            offset += len(whole)
            events = [*parse_events(whole.split(b"\n"))]
            if replaced:
                events = [event for event in events if get_timestamp(event) > last_timestamp]
            last_timestamp = max([last_timestamp, *map(get_timestamp, events)])
            yield from events
            yield None

    @contextmanager
    def open_file(self) -> Iterator[BinaryIO | None]:
        """Open the file to be read; None if there is none yet."""
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
    """Return a string as JSON spells it in a line of the ledger."""
    return encode_record({"": text})[4:-1]


EVENT_MARK = b'"ev"'  # every event has it


def parse_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of lines; other lines are skipped."""
    return (event for raw in lines if (event := parse_event(raw)))


def iter_events_backwards(file: BinaryIO, needle: bytes, end: int | None = None) -> Iterator[Event]:
    """Yield the events whose line has `needle`, the last one before `end` first."""
    if file.seek(0, os.SEEK_END):
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            lines = _iter_lines_backwards(data, needle, len(data) if end is None else end)
            yield from parse_events(lines)


def parse_event(raw: bytes) -> Event | None:
    """Return the event of a line; None if it has none."""
    try:
        return decode_record(raw.strip())
    except ValueError:
        return None


def _get_inode(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_ino


def _find_end(file: BinaryIO) -> int:
    """Return the end of the last whole line: the rest is still being written, or torn."""
    if not file.seek(0, os.SEEK_END):
        return 0
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.rfind(b"\n") + 1


def _iter_lines_backwards(data: mmap.mmap, needle: bytes, end: int) -> Iterator[bytes]:
    """Yield the lines that have `needle`, the last one first."""
    while (place := data.rfind(needle, 0, end)) >= 0:
        start = data.rfind(b"\n", 0, place) + 1
        stop = data.find(b"\n", place)
        yield data[start : stop if stop >= 0 else len(data)]
        end = start


class ArchiveResult(NamedTuple):
    """Count the events that moved, and older ones that stay as their task is not closed."""

    moved_count: int
    kept_count: int


def move_to_archive(ledger: Ledger, before: str, is_open: Callable[[str], bool]) -> ArchiveResult:
    """Move events from before a time to the archive.

    A crash in between leaves events in both files, never in none; the next call does not add them
    again.
    """
    with lock_project(ledger.root) as lock:
        data = read_tracked_file(ledger.root, ledger.path) or b""
        old: list[bytes] = []
        rest: list[bytes] = []
        kept_count = 0
        for line in data.split(b"\n"):
            event = parse_event(line)
            is_old = event is not None and "" < get_timestamp(event) < before
            task = event.get("task") if event is not None else None
            is_needed = isinstance(task, str) and is_open(task)
            kept_count += is_old and is_needed
            (old if is_old and not is_needed else rest).append(line)
        if old:
            ledger.require_writable()
            new = filter_missing_lines(ledger.root, ARCHIVE_FILE, old)
            append_lines(lock, ARCHIVE_FILE, new, ledger.disk)
            path, after = ledger.root / ledger.path, b"\n".join(rest)
            replace_single_file(path, data, after, ledger.path, ledger.disk)
        return ArchiveResult(len(old), kept_count)
