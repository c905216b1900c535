"""Parse one JSON document that has lists of tasks in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.store.jsonl import JSON_DECODER, Record, RejectedLine
from cub.syntax_errors import describe_json_error

TaskLists = dict[str, list[Any]]  # by the keys that lead to them, joined by a dot
_FIX_HINT = "nothing was imported; fix the file, then import it again"


class ImportedTasks(NamedTuple):
    """Hold what was read of a file: its format, tasks in cub's spelling, and rejected lines.

    `renamed_ids` are the new ids of tasks that had the id of another one before them.
    """

    format: str
    records: list[Record]
    rejected_lines: list[RejectedLine]
    renamed_ids: Sequence[str] = ()


@dataclass(slots=True)
class UniqueIds:
    """Give each id of a document to one task only."""

    used_ids: set[str] = field(default_factory=set)
    renamed_ids: list[str] = field(default_factory=list)

    def assign(self, task_id: str) -> str:
        """Return an id, or the first free one of `ID-2`, `ID-3`, … if another task has it."""
        names = chain([task_id], (f"{task_id}-{number}" for number in count(2)))
        free_id = next(name for name in names if name not in self.used_ids)
        self.used_ids.add(free_id)
        if free_id != task_id:
            self.renamed_ids.append(free_id)
        return free_id


def parse_document(data: bytes, where: str) -> Any:
    """Return the value of a document; CubError, with line and column, if it has none."""
    try:
        return JSON_DECODER.decode(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CubError("this is not UTF-8", where=f"{where}:{line}", hint=_FIX_HINT) from None
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}:{error.colno}"
        what = f"invalid JSON: {describe_json_error(error.msg)}"
        raise CubError(what, where=place, hint=_FIX_HINT) from None
    except (ValueError, RecursionError) as error:
        what = str(error) if isinstance(error, ValueError) else "this is nested too deep"
        raise CubError(what, where=where, hint=_FIX_HINT) from None


def require_objects(lists: TaskLists, where: str) -> None:
    """Raise CubError if there is anything but objects in lists."""
    for name, items in lists.items():
        for number, item in enumerate(items, 1):
            if not isinstance(item, dict):
                what = f"entry {number} of {name or 'the list'} is not an object"
                raise CubError(what, where=where, hint=_FIX_HINT)


def require_id(raw: Record, what: str, where: str) -> str:
    """Return an id as a string; CubError for a task without one."""
    task_id = raw.get("id")
    if type(task_id) not in (str, int) or task_id == "":
        raise CubError(f"{what} has no id", where=where, hint="an id is a string or a number")
    return str(task_id)
