"""What every store of tasks can do, whatever it keeps them in.

Tasks in `.cub/tasks.jsonl`: one line each, sorted by id, replaced as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cub.debug_log import log_debug
from cub.files import ProjectLock, lock_project
from cub.files.disk import Disk
from cub.files.single_file import replace_single_file
from cub.git import read_tracked_file
from cub.store.jsonl import Record, encode_record
from cub.store.jsonl_append import append_lines, filter_missing_lines, remove_stale_temp_files
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex


class StoreTransaction(Protocol):
    """Tasks while nobody else can change them. What was put is written when the change ends."""

    @property
    def tasks(self) -> TaskIndex:
        """The tasks as they are, with what was put so far."""

    def put_record(self, record: Record) -> None:
        """Add a task, or put it in the place of the one with its id."""

    def save_repairs(self) -> None:
        """Write also what only reading has put right so far: doubled lines, and rejected ones."""


class TaskBackend(Protocol):
    """A store of tasks."""

    @property
    def name(self) -> str:
        """As `tasks.backend` names it."""

    @property
    def can_restore_deleted(self) -> bool:
        """Whether a task that was deleted can be brought back."""

    def read_tasks(self) -> TaskIndex:
        """The tasks as they are now."""

    def transaction(self) -> AbstractContextManager[StoreTransaction]:
        """A change: written as a whole when the block ends, and not at all if it raises."""

    def list_close_commands(self, task_id: str) -> tuple[str, ...]:
        """The commands by which an agent closes a task."""


_PIECE = 1 << 20


def _nothing(_: ProjectLock) -> None:
    pass


@dataclass(slots=True)
class JsonlTransaction:
    """See `cub.store.backend.StoreTransaction`."""

    tasks: TaskIndex
    has_changes: bool = False

    def put_record(self, record: Record) -> None:
        """Add or replace a task."""
        key = record["id"]
        known = key in self.tasks or key in self.tasks.deleted_summaries
        if not known or self.tasks.read_record(key) != record:
            self.tasks.put_record(record)
            self.has_changes = True

    def save_repairs(self) -> None:
        """Write doubled lines as one, and leave rejected ones out."""
        self.has_changes |= bool(self.tasks.duplicate_ids or self.tasks.rejected_lines)


@dataclass(frozen=True, slots=True)
class JsonlBackend:
    """The tasks below `root`. `before_first_write` is called, with the lock held, before the first
    ones are written.
    """

    root: Path
    disk: Disk = field(default_factory=Disk)
    before_first_write: Callable[[ProjectLock], None] = _nothing
    name: str = "jsonl"
    can_restore_deleted: bool = True

    def read_tasks(self) -> TaskIndex:
        """The tasks as they are now. Nothing is written: lines that are none stay."""
        tasks = TaskIndex.parse(read_tracked_file(self.root, TASKS_FILE) or b"")
        log_debug(f"tasks: {len(tasks):,}; lines that are none: {len(tasks.rejected_lines):,}")
        return tasks

    @contextmanager
    def transaction(self) -> Iterator[JsonlTransaction]:
        """Hold the project's lock, read anew, and replace the file if a task has changed."""
        with lock_project(self.root) as held:
            before = read_tracked_file(self.root, TASKS_FILE)
            change = JsonlTransaction(TaskIndex.parse(before or b""))
            yield change
            if change.has_changes:
                if before is None:
                    self.before_first_write(held)
                self._write(change.tasks, before, held)

    def list_close_commands(self, task_id: str) -> tuple[str, ...]:
        """The commands of this cub."""
        return (f"cub task close {task_id}", f"cub task close {task_id} --reason no_change")

    def _write(self, tasks: TaskIndex, before: bytes | None, lock: ProjectLock) -> None:
        self._keep_rejected(tasks, lock)
        remove_stale_temp_files(self.root / TASKS_FILE)
        replace_single_file(
            self.root / TASKS_FILE, before, serialize_tasks(tasks), TASKS_FILE, self.disk
        )

    def _keep_rejected(self, tasks: TaskIndex, lock: ProjectLock) -> None:
        """Before they leave the file, and each once."""
        lines = [rejected.content for rejected in tasks.rejected_lines]
        append_lines(
            lock, REJECTED_FILE, filter_missing_lines(self.root, REJECTED_FILE, lines), self.disk
        )


def serialize_tasks(tasks: TaskIndex) -> Iterator[bytes]:
    """The file, in pieces of about a megabyte, so that a large one is not held a second time.

    Tasks that nobody changed keep the bytes of their lines.
    """
    piece = bytearray()
    for key in sorted(tasks.all_ids):
        piece += (
            encode_record(tasks.changed_records[key])
            if key in tasks.changed_records
            else tasks.read_line(key)
        )
        piece += b"\n"
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)
