"""Fields of a foreign object taken as cub's, as far as they are of the kind that cub means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from cub.store.jsonl import Record
from cub.store.spelling import KEYS, NAMES, priority_of

ORIGIN = "origin"
# What most other tools have no word for is read and written in cub's.
_EXTRA_TEXTS, _EXTRA_LISTS = ("issue_type", "parent", "assignee"), ("labels", "checks")
_BULLET = re.compile(r"(?:[-*+•] (?:\[[ xX]\] )?|\d+[.)] )\s*")


def texts(raw: Record, keys: Iterable[str]) -> Record:
    """Those of `keys` that hold a text."""
    return {key: raw[key] for key in keys if isinstance(raw.get(key), str)}


def extras(raw: Record) -> Record:
    """What a foreign object says in cub's words; an empty text says nothing."""
    lists = {key: raw[key] for key in _EXTRA_LISTS if is_texts(raw.get(key)) and raw[key]}
    return {key: value for key, value in texts(raw, _EXTRA_TEXTS).items() if value} | lists


def written_extras(record: Record, keys: Sequence[str] = _EXTRA_TEXTS + _EXTRA_LISTS) -> Record:
    """What `extras` reads, without what goes without saying."""
    usual = {"issue_type": "task"}
    found = {key: record.get(key) for key in keys}
    return {key: value for key, value in found.items() if value and value != usual.get(key)}


def others(raw: Record, used: Iterable[str]) -> Record:
    """The fields that neither `used` has nor cub would take for its own."""
    known = {*used, *NAMES, ORIGIN}
    return {key: value for key, value in raw.items() if key not in known and value is not None}


def written_others(record: Record, used: Iterable[str]) -> Record:
    """What cub kept without knowing what it means, but for what the format has a use of."""
    known = {*used, *KEYS, ORIGIN}
    return {key: value for key, value in record.items() if key not in known}


def is_texts(value: object) -> bool:
    """Whether a value is a list of texts, each there once, as cub keeps them."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return False
    return len(set(value)) == len(value)


def criteria(value: object) -> list[str]:
    """Acceptance criteria: the lines of a text without their bullets, or the texts of a list."""
    if isinstance(value, str):
        found = (_BULLET.sub("", line.strip(), count=1) for line in value.splitlines())
        return list(dict.fromkeys(filter(None, found)))
    texts_ = value if isinstance(value, list) else []
    return list(dict.fromkeys(one for one in texts_ if isinstance(one, str) and one))


def as_text(items: object) -> str:
    """Acceptance criteria as one text: a line as it is, several with bullets."""
    lines = [str(item) for item in items] if isinstance(items, list) else []
    return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)


def first_line(text: str, most: int = 500) -> str:
    """What can stand as the title of a text."""
    return next((line.strip()[:most] for line in text.splitlines() if line.strip()), "")


def priority(value: object) -> Record:
    """A priority that cub has, as a field; none for any other."""
    found: Any = priority_of(value)
    return {"priority": found} if type(found) is int and 0 <= found <= 4 else {}
