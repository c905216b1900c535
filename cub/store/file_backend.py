"""Tasks in `.cub/tasks.jsonl`: one line each, sorted by id, replaced as a whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cub.debug_log import log_debug
from cub.files import Held, exclusive
from cub.files.disk import Disk
from cub.files.single import replace_single
from cub.git import read_checked_out
from cub.store.appending import append, missing_lines
from cub.store.jsonl import Record, encode
from cub.store.place import REJECTED, TASKS
from cub.store.tasks import Tasks

_PIECE = 1 << 20


def _nothing(_: Held) -> None:
    pass


@dataclass(slots=True)
class FileChange:
    """See `cub.store.backend.Change`."""

    tasks: Tasks
    changed: bool = False

    def put(self, record: Record) -> None:
        """Add or replace a task."""
        key = record["id"]
        known = key in self.tasks or key in self.tasks.deleted
        if not known or self.tasks.record(key) != record:
            self.tasks.put(record)
            self.changed = True

    def settle(self) -> None:
        """Write doubled lines as one, and leave rejected ones out."""
        self.changed |= bool(self.tasks.doubled or self.tasks.rejected)


@dataclass(frozen=True, slots=True)
class FileBackend:
    """The tasks below `root`. `prepare` is called, with the lock held, before the first ones are
    written.
    """

    root: Path
    disk: Disk = field(default_factory=Disk)
    prepare: Callable[[Held], None] = _nothing
    name: str = "jsonl"
    keeps_deleted: bool = True

    def read(self) -> Tasks:
        """The tasks as they are now. Nothing is written: lines that are none stay."""
        tasks = Tasks.parse(read_checked_out(self.root, TASKS) or b"")
        log_debug(f"tasks: {len(tasks):,}; lines that are none: {len(tasks.rejected):,}")
        return tasks

    @contextmanager
    def change(self) -> Iterator[FileChange]:
        """Hold the project's lock, read anew, and replace the file if a task has changed."""
        with exclusive(self.root) as held:
            before = read_checked_out(self.root, TASKS)
            change = FileChange(Tasks.parse(before or b""))
            yield change
            if change.changed:
                if before is None:
                    self.prepare(held)
                self._write(change.tasks, before, held)

    def closing(self, key: str) -> tuple[str, ...]:
        """The commands of this cub."""
        return (f"cub task close {key}", f"cub task close {key} --reason no_change")

    def _write(self, tasks: Tasks, before: bytes | None, held: Held) -> None:
        self._keep_rejected(tasks, held)
        sweep(self.root / TASKS)
        replace_single(self.root / TASKS, before, serialized(tasks), TASKS, self.disk)

    def _keep_rejected(self, tasks: Tasks, held: Held) -> None:
        """Before they leave the file, and each once."""
        lines = [rejected.kept for rejected in tasks.rejected]
        append(held, REJECTED, missing_lines(self.root, REJECTED, lines), self.disk)


def sweep(path: Path) -> None:
    """Remove what a writer of a file left that was killed; the lock says that there is none."""
    real = Path(os.path.realpath(path))
    with suppress(OSError):
        for temp in real.parent.glob(f".{real.name}.cub-*.tmp"):
            temp.unlink()


def serialized(tasks: Tasks) -> Iterator[bytes]:
    """The file, in pieces of about a megabyte, so that a large one is not held a second time.

    Tasks that nobody changed keep the bytes of their lines.
    """
    piece = bytearray()
    for key in sorted(tasks.ids):
        piece += encode(tasks.apart[key]) if key in tasks.apart else tasks.line(key)
        piece += b"\n"
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)
