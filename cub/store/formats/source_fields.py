"""Read files of other tools: a JSON document with lists of tasks, ids that come twice, and fields.

A field is read as cub's if it is of the kind that cub means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, count
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.json_values import get_object
from cub.store.jsonl import JSON_DECODER, JsonlLine, Record, RejectedLine, dump_canonical
from cub.store.record_merge import make_stamped_record
from cub.store.task_schema import KEYS_OF_OTHERS, KNOWN_KEYS, LAST_IMPORT, normalize_priority
from cub.store.timestamps import normalize_timestamp
from cub.syntax_errors import describe_json_error

TaskLists = dict[str, list[Any]]  # by the keys that lead to them, joined by a dot
_OTHER_TIME = "and was created at another time"
_UNORDERED = "with other values, and no date says which are newer"
_FIX_HINT = "nothing was imported; fix the file, then import it again"
ORIGIN = "origin"
NO_ALIASES: Mapping[str, Sequence[str]] = {}
# Fields that most other tools have no word for are read in cub's.
_EXTRA_TEXTS, _EXTRA_LISTS = ("issue_type", "parent", "assignee"), ("labels", "checks")
_BULLET = re.compile(r"(?:[-*+•] (?:\[[ xX]\] )?|\d+[.)] )\s*")


class ImportedTasks(NamedTuple):
    """Hold what was read of a file: its format, tasks in cub's spelling, and rejected lines.

    `warnings` name the places that have one id, and what is imported of them.
    """

    format: str
    records: list[Record]
    rejected_lines: list[RejectedLine]
    warnings: list[str]

    def compare_lines(
        self, key: str, lines: Sequence[tuple[JsonlLine, Record]], new_ids: Sequence[str] = ()
    ) -> None:
        """Judge all lines with one id; `new_ids` are those of other tasks among them.

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


def attach_origin(
    record: Record, raw: Record, format_name: str, aliases: Mapping[str, Sequence[str]] = NO_ALIASES
) -> Record:
    """Return a record with its source: a digest, and the fields that the record can't hold."""
    names = {alias: key for key, others in aliases.items() for alias in others}
    digest = blake2b(dump_canonical(raw).encode(), digest_size=6).hexdigest()
    lost = {k: v for k, v in raw.items() if not _holds_field(record, {k, names.get(k, k)}, v)}
    fields = {"fields": lost} if lost else {}
    return {**record, ORIGIN: {"format": format_name, "digest": digest, **fields}}


def _holds_field(record: Record, names: Iterable[str], value: object) -> bool:
    """Return whether a record has a value of its source, under one of its names or cub's."""
    for name in names:
        own = record.get(name, record.get(KEYS_OF_OTHERS.get(name, name)))
        own = join_criteria(own) if isinstance(own, list) and isinstance(value, str) else own
        if type(own) is type(value) and own == value:
            return True
    return False


def get_source_digest(record: Record, format_name: str) -> str | None:
    """Return the digest of a record's source; None if it came from no source of this format."""
    origin = record.get(ORIGIN)
    if not isinstance(origin, dict) or origin.get("format") != format_name:
        return None
    return str(origin.get("digest"))


def get_source_value(record: Record, key: str) -> Any:
    """Return the value that a field has at the source of a task, if it differs; None otherwise."""
    return get_object(get_object(record, ORIGIN), "fields").get(key)


def rename_aliases(raw: Record, aliases: Mapping[str, Sequence[str]]) -> Record:
    """Return `raw` with each field under its key in `aliases` if it has an alias of it alone."""
    names: dict[str, str] = {}
    for key, others in aliases.items():
        alias = next((name for name in others if name in raw), None)
        if key not in raw and alias is not None:
            names[alias] = key
    return {names.get(key, key): value for key, value in raw.items()}


def pick_texts(raw: Record, keys: Iterable[str]) -> Record:
    """Return those of `keys` that hold a string."""
    return {key: raw[key] for key in keys if isinstance(raw.get(key), str)}


def pick_extras(raw: Record) -> Record:
    """Return the fields that a foreign object has in cub's words, without empty ones."""
    lists = {key: raw[key] for key in _EXTRA_LISTS if is_text_list(raw.get(key)) and raw[key]}
    return {key: value for key, value in pick_texts(raw, _EXTRA_TEXTS).items() if value} | lists


def pick_unknown(raw: Record, used: Iterable[str]) -> Record:
    """Return the fields that are not in `used` and that cub would not take for its own."""
    known = {*used, *KNOWN_KEYS, ORIGIN, LAST_IMPORT}
    return {key: value for key, value in raw.items() if key not in known and value is not None}


def pick_priority(value: object) -> Record:
    """Return a priority that cub has, as a field; no field for any other."""
    priority: Any = normalize_priority(value)
    return {"priority": priority} if type(priority) is int and 0 <= priority <= 4 else {}


def is_text_list(value: object) -> bool:
    """Return whether a value is a list of strings without duplicates, as cub keeps them."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return False
    return len(set(value)) == len(value)


def parse_criteria(value: object) -> list[str]:
    """Return acceptance criteria: a string's lines without bullets, or the strings of a list."""
    if isinstance(value, str):
        lines = (_BULLET.sub("", line.strip(), count=1) for line in value.splitlines())
        return list(dict.fromkeys(filter(None, lines)))
    items = value if isinstance(value, list) else []
    return list(dict.fromkeys(item for item in items if isinstance(item, str) and item))


def join_criteria(criteria: list[Any]) -> str:
    """Return acceptance criteria as one string: one as it is, several as lines with bullets."""
    lines = [str(item) for item in criteria]
    return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)


def take_first_line(text: str) -> str:
    """Return the first line of a text that is not blank, cut to the length of a title."""
    return next((line.strip()[:500] for line in text.splitlines() if line.strip()), "")
