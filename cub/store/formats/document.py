"""Parse one JSON document that has lists of tasks in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.store.jsonl import JSON_DECODER, JsonlLine, Record, RejectedLine
from cub.store.record_merge import make_stamped_record
from cub.store.timestamps import normalize_timestamp
from cub.syntax_errors import describe_json_error

TaskLists = dict[str, list[Any]]  # by the keys that lead to them, joined by a dot
_OTHER_TIME = "and was created at another time"
_UNORDERED = "with other values, and no date says which are newer"
_FIX_HINT = "nothing was imported; fix the file, then import it again"


class ImportedTasks(NamedTuple):
    """Hold what was read of a file: its format, tasks in cub's spelling, and rejected lines.

    `warnings` name the places that have one id, and what is imported of them.
    """

    format: str
    records: list[Record]
    rejected_lines: list[RejectedLine]
    warnings: Sequence[str] = ()


@dataclass(slots=True)
class UniqueIds:
    """Give each id of a document to one task only."""

    places: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def assign(self, task_id: str) -> str:
        """Return an id, or the first free one of `ID-2`, `ID-3`, … if another task has it."""
        names = chain([task_id], (f"{task_id}-{number}" for number in count(2)))
        free_id = next(name for name in names if name not in self.places)
        place = self.places[free_id] = len(self.places) + 1
        if free_id != task_id:
            which = f"tasks {self.places[task_id]} and {place} of the file"
            self.warnings.append(f"{which} have the ID {task_id}: the second one is now {free_id}")
        return free_id


class DoubledLines(NamedTuple):
    """Hold the lines of a file that repeat an id: rejected ones, and warnings of the others."""

    rejected_lines: list[RejectedLine]
    warnings: list[str]

    def add_group(
        self, key: str, lines: Sequence[tuple[JsonlLine, Record]], new_ids: Sequence[str] = ()
    ) -> None:
        """Look at all lines with one id; `new_ids` are those of other tasks among them.

        A line is rejected if nothing says whether it, or one before it, has the newer values.
        """
        (first, before), *others = lines
        for number, (line, record) in enumerate(others):
            places = f"lines {first.number} and {line.number} have the ID {key}"
            fault = _find_fault(before, record)
            if new_ids and fault == _OTHER_TIME:
                new_id = new_ids[min(number, len(new_ids) - 1)]
                self.warnings.append(f"{places}: one of the tasks is now {new_id}")
            elif fault:
                reason = f"line {first.number} also has the ID {key}, {fault}"
                self.rejected_lines.append(RejectedLine(line, reason))
            else:
                self.warnings.append(f"{places}: the newest values of both are imported")


def _find_fault(one: Record, other: Record) -> str:
    """Return why two records with one id can't be merged; "" if they can."""
    created = [normalize_timestamp(record.get("created_at")) for record in (one, other)]
    if all(created) and created[0] != created[1]:
        return _OTHER_TIME
    sides = [make_stamped_record(record) for record in (one, other)]
    is_ordered = sides[0].base[0] != sides[1].base[0] or any(side.stamps for side in sides)
    return "" if is_ordered or one == other else _UNORDERED


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
