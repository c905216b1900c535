"""One JSON document with lists of tasks in it: parsed, taken apart, and put together again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.store.formats.source_fields import get_origin
from cub.store.jsonl import JSON_DECODER, SURROGATE_ERRORS, Record, RejectedLine

KeyPath = tuple[str, ...]  # the keys that lead to a list
_MEND = "nothing was imported; mend the file, and do it again"


class ImportedTasks(NamedTuple):
    """What was read of a file: in which format, the tasks in cub's spelling, and what is none.

    `renamed_ids` are the ids of tasks that had the id of one before them.
    """

    format: str
    records: list[Record]
    rejected_lines: list[RejectedLine]
    renamed_ids: Sequence[str] = ()


@dataclass(slots=True)
class UniqueIds:
    """The ids of a document, each given once."""

    used_ids: set[str] = field(default_factory=set)
    renamed_ids: list[str] = field(default_factory=list)

    def assign(self, key: str) -> str:
        """An id, or the first of `ID-2`, `ID-3`, … where another task has it."""
        names = chain([key], (f"{key}-{number}" for number in count(2)))
        found = next(name for name in names if name not in self.used_ids)
        self.used_ids.add(found)
        self.renamed_ids += [found] if found != key else []
        return found


def parse_document(data: bytes, where: str) -> Any:
    """The value of a document; CubError, with line and column, for none."""
    try:
        return JSON_DECODER.decode(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CubError("this is not UTF-8", where=f"{where}:{line}", hint=_MEND) from None
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}:{error.colno}"
        raise CubError(f"this is not JSON: {error.msg.lower()}", where=place, hint=_MEND) from None
    except (ValueError, RecursionError) as error:
        what = str(error) if isinstance(error, ValueError) else "this is nested too deep"
        raise CubError(what, where=where, hint=_MEND) from None


def list_items(document: Any, key_path: KeyPath, where: str) -> list[Record]:
    """The objects of a list; CubError if there is anything else in it."""
    for key in key_path:
        document = document[key]
    for number, item in enumerate(document, 1):
        if not isinstance(item, dict):
            name = ".".join(key_path) or "the list"
            raise CubError(f"entry {number} of {name} is no object", where=where, hint=_MEND)
    return list(document)


def remove_task_lists(document: Any, places: Iterable[KeyPath]) -> Any:
    """A document without its tasks."""
    return insert_task_lists(document, dict.fromkeys(places, ()))


def insert_task_lists(skeleton: Any, lists: Mapping[KeyPath, Sequence[Record]]) -> Any:
    """A document with lists put in their places."""
    if () in lists:
        return list(lists[()])
    made = deepcopy(skeleton)
    for place, found in lists.items():
        inner = made
        for key in place[:-1]:
            inner = inner.setdefault(key, {})
        inner[place[-1]] = list(found)
    return made


def find_skeleton(records: Iterable[Record], name: str) -> Any:
    """The document that tasks of a format came from, without them; None for none."""
    found = (get_origin(record, name).get("document") for record in records)
    return next((one for one in found if one is not None), None)


def find_key_path(record: Record, name: str) -> KeyPath | None:
    """The list that a task came from."""
    place = get_origin(record, name).get("place")
    return tuple(place) if isinstance(place, list) and all(type(p) is str for p in place) else None


def sort_by_origin(records: Iterable[Record], name: str) -> list[Record]:
    """Tasks as they stood in their document, and new ones behind them by their ids."""
    return sorted(records, key=lambda record: (_at(record, name), natural_sort_key(record["id"])))


def natural_sort_key(key: str) -> tuple[tuple[int, int, str], ...]:
    """What ids are sorted by, so that 2 comes before 10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", key)
    return tuple((0, int(p), p) if p.isdecimal() else (1, 0, p) for p in parts)


def require_id(raw: Record, what: str, where: str) -> str:
    """An id as text; CubError for a task without one."""
    key = raw.get("id")
    if type(key) not in (str, int) or key == "":
        raise CubError(f"{what} has no id", where=where, hint="an id is a text or a number")
    return str(key)


def dump_document(document: Any) -> bytes:
    """A document as people read it."""
    made = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return made.encode("utf-8", SURROGATE_ERRORS)


def _at(record: Record, name: str) -> tuple[bool, int]:
    at = get_origin(record, name).get("at")
    return (False, at) if type(at) is int else (True, 0)
