"""All tasks of a store at one moment: briefs of all, and the whole of each that is asked for.

The brief of a task: the few facts by which tasks are found and ordered, kept for all of them.
"""

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

_SUFFIX = 3


class RenamedTask(NamedTuple):
    """An id that was given to two tasks, on two branches; the younger one has another id now."""

    id: str
    new_id: str


@dataclass(slots=True)
class TaskIndex:
    """`changed_records` holds the tasks that are not as a line of `data` has them.

    Deleted tasks have their briefs apart, so that nobody finds them who does not ask for them.
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
        """The tasks of a file, with what a merge left of each put together."""
        read = read_summaries(BytesIO(data))
        tasks = cls(read.summaries, data, {}, read.rejected_lines, [], sorted(read.duplicates))
        tasks._settle(read)
        for key in [row.id for row in tasks if row.is_deleted]:
            tasks.deleted_summaries[key] = tasks.summaries.pop(key)
        return tasks

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> TaskIndex:
        """Tasks that are in no file of cub's."""
        apart = {record["id"]: record for record in map(normalize_record, map(parse_task, records))}
        return cls({key: summarize_task(record) for key, record in apart.items()}, b"", apart)

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
        """The ids of all tasks, also of deleted ones: no new task may have one of them."""
        return [*self.summaries, *self.deleted_summaries]

    def find_id(self, text: str) -> str:
        """The id of the task that `text` is, or begins; CubError for none, or a deleted one."""
        if key := self.find_deleted_id(text):
            on = str(self.read_record(key)["deleted_at"])[:10]
            raise CubError(
                f"{key} was deleted on {on}", hint=f"`cub task reopen {key}` brings it back"
            )
        return match_id(text, self.summaries)

    def find_deleted_id(self, text: str) -> str | None:
        """The deleted task whose id `text` is; or begins, where none that is there begins so."""
        if text in self.deleted_summaries or text in self.summaries or not self.deleted_summaries:
            return text if text in self.deleted_summaries else None
        if list_ids_with_prefix(text, self.summaries) or not list_ids_with_prefix(
            text, self.deleted_summaries
        ):
            return None
        return match_id(text, self.deleted_summaries)

    def read_record(self, task_id: str) -> Record:
        """A whole task, in cub's spelling; also a deleted one."""
        return (
            self.changed_records[task_id]
            if task_id in self.changed_records
            else normalize_record(decode_record(self.read_line(task_id)))
        )

    def read_raw_record(self, task_id: str) -> Record:
        """A whole task to be shown: its line as it is, where that is in cub's spelling already."""
        return (
            self.changed_records[task_id]
            if task_id in self.changed_records
            else parse_task(decode_record(self.read_line(task_id)))
        )

    def read_line(self, task_id: str) -> bytes:
        """The line of a task, as it is in the file."""
        return self._text(
            self.summaries[task_id]
            if task_id in self.summaries
            else self.deleted_summaries[task_id]
        )

    def put_record(self, record: Record) -> None:
        """Add a task, or put it in the place of the one with its id."""
        key, row = record["id"], summarize_task(record)
        self.changed_records[key] = record
        here, there = (
            (self.deleted_summaries, self.summaries)
            if row.is_deleted
            else (self.summaries, self.deleted_summaries)
        )
        here[key] = row
        there.pop(key, None)

    def list_children(self, task_id: str) -> list[TaskSummary]:
        """The tasks whose parent a task is."""
        return [row for row in self if row.parent == task_id]

    def _settle(self, read: ParsedTasks) -> None:
        """Make one of the lines of one task; of two tasks with one id, the elder one keeps it."""
        for key in self.duplicate_ids:
            groups: dict[str, list[Record]] = {}
            for record in (
                normalize_record(decode_record(self._text(row))) for row in read.duplicates[key]
            ):
                groups.setdefault(normalize_timestamp(record.get("created_at")), []).append(record)
            undated = groups.pop("", [])
            first, *others = sorted(groups) or [""]
            self._gather(key, groups.get(first, []) + undated)
            for created in others:
                renamed = f"{key}-{_mark(created)}"
                self._gather(renamed, [{**record, "id": renamed} for record in groups[created]])
                self.renamed_tasks.append(RenamedTask(key, renamed))

    def _gather(self, key: str, records: list[Record]) -> None:
        """Put together with what is known by that id already, but for lines to be gathered."""
        known = key in self.changed_records or (key in self and key not in self.duplicate_ids)
        self.put_record(merge_records([self.read_record(key), *records] if known else records))

    def _text(self, summary: TaskSummary) -> bytes:
        return self.data[summary.offset : summary.offset + summary.size]


def _mark(created: str) -> str:
    """A few letters that are the same on all branches."""
    return encode_letters(blake2b(created.encode()).digest(), _SUFFIX)


EPIC = "epic"


class TaskSummary(NamedTuple):
    """What the store keeps of each task; the rest is read when it is asked for.

    `status` is a word of cub's, or what another tool wrote; `created_at` is a moment, "" for none;
    `offset` and `size` are where its line is, in bytes; `has_checks` says whether it has commands.
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
        """Whether nothing is left to do."""
        return self.status == CLOSED

    @property
    def is_done(self) -> bool:
        """Whether what waits for it may begin: closed, and not because it will never be done."""
        return self.is_closed and self.reason not in UNDONE_REASONS

    @property
    def is_epic(self) -> bool:
        """Whether it is done by its children."""
        return self.type == EPIC


class ParsedTasks(NamedTuple):
    """A file's tasks by id; further lines of the same ids; and what is no task."""

    summaries: dict[str, TaskSummary]
    duplicates: dict[str, list[TaskSummary]]
    rejected_lines: list[RejectedLine]


def read_summaries(file: Iterable[bytes]) -> ParsedTasks:
    """The brief of every line, each parsed on its own and let go again."""
    found = ParsedTasks({}, {}, [])
    for line in iter_lines(file):
        try:
            row = summarize_task(parse_task(decode_record(line.text)), line.offset, len(line.text))
        except ValueError as error:
            found.rejected_lines.append(RejectedLine(line, str(error)))
            continue
        if row.id in found.summaries:
            found.duplicates.setdefault(row.id, [found.summaries[row.id]]).append(row)
        else:
            found.summaries[row.id] = row
    return found


def parse_task(raw: Record) -> Record:
    """A line's object as a task; ValueError for one without an id."""
    if is_normalized(raw) and raw["id"]:
        return raw
    if type(raw.get("id")) not in (str, int) or raw["id"] == "":
        raise ValueError("this is no task: it has no id")
    return normalize_record(raw)


def summarize_task(task: Record, at: int = 0, size: int = 0) -> TaskSummary:
    """The brief of a task; texts that many tasks have in common are kept once."""
    get = task.get
    status = intern(_text(get("status"), OPEN))
    priority = get("priority")
    if type(priority) is not int:
        priority = normalize_priority(priority)
    depends_on, parent = get("depends_on"), get("parent")
    lease = get("lease") if status == IN_PROGRESS else None
    return TaskSummary(
        get("id", ""),
        status,
        priority if type(priority) is int and 0 <= priority <= 4 else DEFAULT_PRIORITY,
        intern(_text(get("issue_type"), "task")),
        parent if type(parent) is str else str(parent) if type(parent) is int else "",
        tuple(normalize_texts(depends_on)) if depends_on else (),
        normalize_timestamp(get("created_at")),
        intern(_text(get("close_reason"), "")) if status == CLOSED else "",
        lease if isinstance(lease, dict) else None,
        is_deleted(task),
        at,
        size,
        # As `normalize_record` reads it: anything but nothing is a command.
        get("checks") not in (None, "", []),
    )


def is_deleted(task: Record) -> bool:
    """Whether somebody deleted a task: its line stays, so that a merge can't bring it back."""
    return bool(task.get("deleted_at"))


def _text(value: Any, default: str) -> str:
    return value if type(value) is str else default if value is None else str(value)
