"""Ids of task-master: numbers within a tag, and within their task for subtasks; cub's are whole."""

from __future__ import annotations

import re
from collections.abc import Collection

from cub.store.formats.document import Place
from cub.store.jsonl import Record

_MASTER = "master"
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")


def prefix(place: Place) -> str:
    """What the ids of a list begin with: only those of master stand alone."""
    return "" if len(place) == 1 or place[0] == _MASTER else f"{place[0]}-"


def whole(said: str, parent: str, tag: str) -> str:
    """The id of a task, or of a subtask of `parent`."""
    if parent:
        return said if said.startswith(f"{parent}.") else f"{parent}.{said}"
    return tag + said if _NUMBERS.fullmatch(said) else said


def is_nested(record: Record, tasks: Collection[str]) -> bool:
    """Whether a task stands within its parent in the document."""
    parent = record.get("parent")
    return parent in tasks and record["id"].startswith(f"{parent}.")


def within(key: str, parent: str, tag: str) -> int | str:
    """An id as the document has it, below `parent` or at the top of a tag."""
    return _number(key.removeprefix(f"{parent}.") if parent else _bare(key, tag))


def target(said: object, parent: str, tag: str, known: Collection[str]) -> str | None:
    """The id that a dependency means; None for what means none. A number is that of a sister
    first.
    """
    if isinstance(said, str) and said:
        return tag + said if _NUMBERS.fullmatch(said) else said
    if type(said) is not int:
        return None
    return sister if (sister := f"{parent}.{said}") in known else f"{tag}{said}"


def named(other: str, parent: str, tag: str) -> int | str:
    """A dependency as the document has it: below a task, a number is that of a sister."""
    sister = other.removeprefix(f"{parent}.")
    if parent and sister != other and _NUMBER.fullmatch(sister):
        return int(sister)
    return _bare(other, tag) if parent else _number(_bare(other, tag))


def _bare(key: str, tag: str) -> str:
    rest = key.removeprefix(tag)
    return rest if _NUMBERS.fullmatch(rest) else key


def _number(text: str) -> int | str:
    return int(text) if _NUMBER.fullmatch(text) else text
