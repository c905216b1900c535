"""All tasks of a store at one moment: briefs of all, and the whole of each that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from typing import NamedTuple

from cub.errors import CubError
from cub.store.briefs import Brief, Read, brief, read_briefs, task_of
from cub.store.ids import begun_by, find, letters
from cub.store.jsonl import Record, Rejected, decode
from cub.store.merge import merged
from cub.store.moments import moment
from cub.store.spelling import normal

_SUFFIX = 3


class Taken(NamedTuple):
    """An id that was given to two tasks, on two branches; the younger one has another id now."""

    id: str
    renamed: str


@dataclass(slots=True)
class Tasks:
    """`apart` holds the tasks that are not as a line of `data` has them.

    Deleted tasks have their briefs apart, so that nobody finds them who does not ask for them.
    """

    briefs: dict[str, Brief] = field(default_factory=dict)
    data: bytes = b""
    apart: dict[str, Record] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    deleted: dict[str, Brief] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes) -> Tasks:
        """The tasks of a file, with what a merge left of each put together."""
        read = read_briefs(BytesIO(data))
        tasks = cls(read.briefs, data, {}, read.rejected, [], sorted(read.doubled))
        tasks._settle(read)
        for key in [row.id for row in tasks if row.deleted]:
            tasks.deleted[key] = tasks.briefs.pop(key)
        return tasks

    @classmethod
    def of(cls, records: Iterable[Record]) -> Tasks:
        """Tasks that are in no file of cub's."""
        apart = {record["id"]: record for record in map(normal, map(task_of, records))}
        return cls({key: brief(record) for key, record in apart.items()}, b"", apart)

    def __contains__(self, key: str) -> bool:
        return key in self.briefs

    def __iter__(self) -> Iterator[Brief]:
        return iter(self.briefs.values())

    def __len__(self) -> int:
        return len(self.briefs)

    def __getitem__(self, key: str) -> Brief:
        return self.briefs[key]

    @property
    def ids(self) -> list[str]:
        """The ids of all tasks, also of deleted ones: no new task may have one of them."""
        return [*self.briefs, *self.deleted]

    def find(self, text: str) -> str:
        """The id of the task that `text` is, or begins; CubError for none, or a deleted one."""
        if key := self.deleted_as(text):
            on = str(self.record(key)["deleted_at"])[:10]
            raise CubError(
                f"{key} was deleted on {on}", hint=f"`cub task reopen {key}` brings it back"
            )
        return find(text, self.briefs)

    def deleted_as(self, text: str) -> str | None:
        """The deleted task whose id `text` is; or begins, where none that is there begins so."""
        if text in self.deleted or text in self.briefs or not self.deleted:
            return text if text in self.deleted else None
        if begun_by(text, self.briefs) or not begun_by(text, self.deleted):
            return None
        return find(text, self.deleted)

    def record(self, key: str) -> Record:
        """A whole task, in cub's spelling; also a deleted one."""
        return self.apart[key] if key in self.apart else normal(decode(self.line(key)))

    def seen(self, key: str) -> Record:
        """A whole task to be shown: its line as it is, where that is in cub's spelling already."""
        return self.apart[key] if key in self.apart else task_of(decode(self.line(key)))

    def line(self, key: str) -> bytes:
        """The line of a task, as it is in the file."""
        return self._text(self.briefs[key] if key in self.briefs else self.deleted[key])

    def put(self, record: Record) -> None:
        """Add a task, or put it in the place of the one with its id."""
        key, row = record["id"], brief(record)
        self.apart[key] = record
        here, there = (self.deleted, self.briefs) if row.deleted else (self.briefs, self.deleted)
        here[key] = row
        there.pop(key, None)

    def children(self, key: str) -> list[Brief]:
        """The tasks whose parent a task is."""
        return [row for row in self if row.parent == key]

    def _settle(self, read: Read) -> None:
        """Make one of the lines of one task; of two tasks with one id, the elder one keeps it."""
        for key in self.doubled:
            groups: dict[str, list[Record]] = {}
            for record in (normal(decode(self._text(row))) for row in read.doubled[key]):
                groups.setdefault(moment(record.get("created_at")), []).append(record)
            undated = groups.pop("", [])
            first, *others = sorted(groups) or [""]
            self._gather(key, groups.get(first, []) + undated)
            for created in others:
                renamed = f"{key}-{_mark(created)}"
                self._gather(renamed, [{**record, "id": renamed} for record in groups[created]])
                self.taken.append(Taken(key, renamed))

    def _gather(self, key: str, records: list[Record]) -> None:
        """Put together with what is known by that id already, but for lines to be gathered."""
        known = key in self.apart or (key in self and key not in self.doubled)
        self.put(merged([self.record(key), *records] if known else records))

    def _text(self, row: Brief) -> bytes:
        return self.data[row.at : row.at + row.size]


def _mark(created: str) -> str:
    """A few letters that are the same on all branches."""
    return letters(blake2b(created.encode()).digest(), _SUFFIX)
