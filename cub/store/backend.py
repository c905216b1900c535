"""Keep tasks in `.cub/tasks.jsonl`; a store in beads has the same methods.

The file has one line for each task, sorted by id, and is replaced as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cub.debug_log import log_debug
from cub.files.disk import Disk
from cub.files.lock import ProjectLock, lock_project
from cub.files.single_file import replace_single_file
from cub.git.tracked_files import read_tracked_file
from cub.store.jsonl import Record, encode_record
from cub.store.jsonl_append import append_lines, filter_missing_lines
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex

_PIECE_SIZE = 1 << 20  # bytes


@dataclass(slots=True)
class StoreTransaction:
    """Collect changes of tasks in memory; `originals` has those that differ, as they were."""

    tasks: TaskIndex
    originals: dict[str, Record | None] = field(default_factory=dict)
    has_repairs: bool = False

    def put_record(self, record: Record) -> None:
        """Add or replace a task."""
        key = record["id"]
        exists = key in self.tasks or key in self.tasks.deleted_summaries
        before = self.tasks.read_record(key) if exists else None
        if record != before:
            self.originals.setdefault(key, before)
            self.tasks.put_record(record)

    def save_repairs(self) -> None:
        """Write duplicate lines as one, and leave out rejected ones."""
        self.has_repairs = bool(self.tasks.duplicate_ids or self.tasks.rejected_lines)


@dataclass(frozen=True, slots=True)
class JsonlBackend:
    """Keep the tasks in a file below `root`; `can_restore_deleted` ones stay in it.

    `before_first_write` is called, with the lock held, before the file is created.
    """

    root: Path
    disk: Disk = field(default_factory=Disk)
    before_first_write: Callable[[ProjectLock], None] | None = None
    name: str = "jsonl"
    can_restore_deleted: bool = True

    def read_tasks(self) -> TaskIndex:
        """Read the current tasks; nothing is written, also if lines are rejected."""
        tasks = TaskIndex.parse(read_tracked_file(self.root, TASKS_FILE) or b"")
        log_debug(f"tasks: {len(tasks):,}; lines that are none: {len(tasks.rejected_lines):,}")
        return tasks

    @contextmanager
    def transaction(self) -> Iterator[StoreTransaction]:
        """Hold the project's lock, read again, and replace the file if a task has changed.

        Nothing is written if the block raises.
        """
        with lock_project(self.root) as lock:
            before = read_tracked_file(self.root, TASKS_FILE)
            change = StoreTransaction(TaskIndex.parse(before or b""))
            yield change
            if change.originals or change.has_repairs:
                if before is None and self.before_first_write:
                    self.before_first_write(lock)
                self._write(change.tasks, before, lock)

    def list_close_commands(self, task_id: str) -> tuple[str, ...]:
        """Return commands of this cub."""
        return (f"cub task close {task_id}", f"cub task close {task_id} --reason no_change")

    def _write(self, tasks: TaskIndex, before: bytes | None, lock: ProjectLock) -> None:
        lines = [rejected.content for rejected in tasks.rejected_lines]
        lines = filter_missing_lines(self.root, REJECTED_FILE, lines)
        append_lines(lock, REJECTED_FILE, lines, self.disk)  # before they leave the file
        path = self.root / TASKS_FILE
        replace_single_file(path, before, serialize_tasks(tasks), TASKS_FILE, self.disk)


def serialize_tasks(tasks: TaskIndex) -> Iterator[bytes]:
    """Yield the file in pieces of about a megabyte, to hold a large one in memory only once.

    The lines of unchanged tasks keep their bytes.
    """
    piece = bytearray()
    changed = tasks.changed_records
    for key in sorted(tasks.all_ids):
        piece += encode_record(changed[key]) if key in changed else tasks.read_line(key)
        piece += b"\n"
        if len(piece) >= _PIECE_SIZE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)
