"""Index the tasks of a store: a summary of each, and the whole record on request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from sys import intern
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.store.jsonl import Record, RejectedLine, decode_record, iter_lines
from cub.store.record_merge import merge_records
from cub.store.task_ids import encode_letters, list_ids_with_prefix, match_id
from cub.store.task_schema import (
    CLOSED,
    DEFAULT_PRIORITY,
    IN_PROGRESS,
    OPEN,
    UNDONE_REASONS,
    is_normalized,
    normalize_priority,
    normalize_record,
    normalize_texts,
)
from cub.store.timestamps import normalize_timestamp

_SUFFIX_LENGTH = 3
EPIC = "epic"


class TaskSummary(NamedTuple):
    """Hold what the store keeps of each task; the rest is read on request.

    `status` is cub's word, or another tool's; `created_at` is a timestamp, "" for none; `offset`
    and `size` are the place of its line, in bytes; `has_checks` says if it has commands.
    """

    id: str
    status: str
    priority: int
    type: str
    parent: str
    depends_on: tuple[str, ...]
    created_at: str
    reason: str
    lease: Record | None
    is_deleted: bool
    offset: int
    size: int
    has_checks: bool = False

    @property
    def is_closed(self) -> bool:
        """Return whether nothing is left to do."""
        return self.status == CLOSED

    @property
    def is_done(self) -> bool:
        """Return whether tasks that wait for it may start: it is closed, and was not given up."""
        return self.is_closed and self.reason not in UNDONE_REASONS

    @property
    def is_epic(self) -> bool:
        """Return whether it is done by its children."""
        return self.type == EPIC


class RenamedTask(NamedTuple):
    """Hold an id that two branches gave to two tasks, and the newer one's new id."""

    id: str
    new_id: str


@dataclass(slots=True)
class TaskIndex:
    """Hold the tasks of a file; `changed_records` differ from their lines in `data`.

    Deleted tasks have their summaries in `deleted_summaries`, where only those find them who ask
    for them.
    """

    summaries: dict[str, TaskSummary] = field(default_factory=dict)
    data: bytes = b""
    changed_records: dict[str, Record] = field(default_factory=dict)
    rejected_lines: list[RejectedLine] = field(default_factory=list)
    renamed_tasks: list[RenamedTask] = field(default_factory=list)
    duplicate_ids: list[str] = field(default_factory=list)
    deleted_summaries: dict[str, TaskSummary] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes) -> TaskIndex:
        """Return the tasks of a file; lines of one task that a git merge left are merged."""
        tasks = cls(data=data)
        duplicates: dict[str, list[TaskSummary]] = {}
        for line in iter_lines(BytesIO(data)):
            try:
                record = parse_task(decode_record(line.text))
            except ValueError as error:
                tasks.rejected_lines.append(RejectedLine(line, str(error)))
                continue
            task = summarize_task(record, line.offset, len(line.text))
            if task.id in tasks.summaries:
                duplicates.setdefault(task.id, [tasks.summaries[task.id]]).append(task)
            else:
                tasks.summaries[task.id] = task
        tasks._merge_duplicates(duplicates)
        for key in [task.id for task in tasks if task.is_deleted]:
            tasks.deleted_summaries[key] = tasks.summaries.pop(key)
        return tasks

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> TaskIndex:
        """Return an index of tasks that are not in a file of cub."""
        by_id = {record["id"]: record for record in map(normalize_record, map(parse_task, records))}
        return cls({key: summarize_task(record) for key, record in by_id.items()}, b"", by_id)

    def __contains__(self, key: str) -> bool:
        return key in self.summaries

    def __iter__(self) -> Iterator[TaskSummary]:
        return iter(self.summaries.values())

    def __len__(self) -> int:
        return len(self.summaries)

    def __getitem__(self, key: str) -> TaskSummary:
        return self.summaries[key]

    @property
    def all_ids(self) -> list[str]:
        """Return the ids of all tasks and deleted ones: a new task may have none of them."""
        return [*self.summaries, *self.deleted_summaries]

    def find_id(self, text: str) -> str:
        """Return the id that `text` is or begins; CubError for none, or a deleted task."""
        if key := self.find_deleted_id(text):
            on = str(self.read_record(key)["deleted_at"])[:10]
            hint = f"`cub task reopen {key}` brings it back"
            raise CubError(f"{key} was deleted on {on}", hint=hint)
        return match_id(text, self.summaries)

    def find_deleted_id(self, text: str) -> str | None:
        """Return the deleted task whose id `text` is, or begins if no other task's id does."""
        if text in self.deleted_summaries or text in self.summaries or not self.deleted_summaries:
            return text if text in self.deleted_summaries else None
        if list_ids_with_prefix(text, self.summaries):
            return None
        matches = list_ids_with_prefix(text, self.deleted_summaries)
        return match_id(text, self.deleted_summaries) if matches else None

    def read_record(self, task_id: str) -> Record:
        """Return a whole task, also a deleted one, in cub's spelling."""
        if task_id in self.changed_records:
            return self.changed_records[task_id]
        return normalize_record(decode_record(self.read_line(task_id)))

    def read_raw_record(self, task_id: str) -> Record:
        """Return a task to be shown, parsed faster if its line is in cub's spelling."""
        if task_id in self.changed_records:
            return self.changed_records[task_id]
        return parse_task(decode_record(self.read_line(task_id)))

    def read_line(self, task_id: str) -> bytes:
        """Return the line of a task, as it is in the file."""
        summaries = self.summaries if task_id in self.summaries else self.deleted_summaries
        return self._get_text(summaries[task_id])

    def put_record(self, record: Record) -> None:
        """Add a task, or replace the one with its id."""
        key, summary = record["id"], summarize_task(record)
        self.changed_records[key] = record
        for summaries in (self.summaries, self.deleted_summaries):
            if summary.is_deleted == (summaries is self.deleted_summaries):
                summaries[key] = summary
            else:
                summaries.pop(key, None)

    def list_children(self, task_id: str) -> list[TaskSummary]:
        """Return the tasks that have a task as their parent."""
        return [task for task in self if task.parent == task_id]

    def _merge_duplicates(self, duplicates: dict[str, list[TaskSummary]]) -> None:
        """Merge the lines of each task; of two tasks with one id, the older one keeps it."""
        self.duplicate_ids = sorted(duplicates)
        for key in self.duplicate_ids:
            groups: dict[str, list[Record]] = {}
            for task in duplicates[key]:
                record = normalize_record(decode_record(self._get_text(task)))
                groups.setdefault(normalize_timestamp(record.get("created_at")), []).append(record)
            undated = groups.pop("", [])
            first, *others = sorted(groups) or [""]
            self._merge_records(key, groups.get(first, []) + undated)
            for created in others:
                # These letters are the same on all branches.
                digest = blake2b(created.encode("utf-8", "surrogatepass")).digest()
                new_id = f"{key}-{encode_letters(digest, _SUFFIX_LENGTH)}"
                records = [{**record, "id": new_id} for record in groups[created]]
                self._merge_records(new_id, records)
                self.renamed_tasks.append(RenamedTask(key, new_id))

    def _merge_records(self, key: str, records: list[Record]) -> None:
        """Merge records with the task that has the id already, without its unmerged lines."""
        exists = key in self.changed_records or (key in self and key not in self.duplicate_ids)
        self.put_record(merge_records([self.read_record(key), *records] if exists else records))

    def _get_text(self, summary: TaskSummary) -> bytes:
        return self.data[summary.offset : summary.offset + summary.size]


def parse_task(raw: Record) -> Record:
    """Return a line's object as a task; ValueError for one without an id."""
    if is_normalized(raw) and raw["id"]:
        return raw
    if type(raw.get("id")) not in (str, int) or raw["id"] == "":
        raise ValueError("not a task: it has no id")
    return normalize_record(raw)


def summarize_task(task: Record, at: int = 0, size: int = 0) -> TaskSummary:
    """Return the summary of a task; strings that many tasks share are kept once."""
    get = task.get
    status = intern(_to_text(get("status"), OPEN))
    priority = get("priority")
    if type(priority) is not int:
        priority = normalize_priority(priority)
    depends_on, parent = get("depends_on"), get("parent")
    lease = get("lease") if status == IN_PROGRESS else None
    return TaskSummary(
        get("id", ""),
        status,
        priority if type(priority) is int and 0 <= priority <= 4 else DEFAULT_PRIORITY,
        intern(_to_text(get("issue_type"), "task")),
        parent if type(parent) is str else str(parent) if type(parent) is int else "",
        tuple(normalize_texts(depends_on)) if depends_on else (),
        normalize_timestamp(get("created_at")),
        intern(_to_text(get("close_reason"), "")) if status == CLOSED else "",
        lease if isinstance(lease, dict) else None,
        is_deleted(task),
        at,
        size,
        # As `normalize_record` reads it: anything but nothing is a command.
        get("checks") not in (None, "", []),
    )


def is_deleted(task: Record) -> bool:
    """Return whether a task was deleted; its line stays, so no merge can bring it back."""
    return bool(task.get("deleted_at"))


def _to_text(value: Any, default: str) -> str:
    return value if type(value) is str else default if value is None else str(value)
