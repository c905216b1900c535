"""Read fields of another tool's object as cub's, if they are of the kind that cub means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from cub.json_values import get_object
from cub.store.jsonl import Record, dump_canonical
from cub.store.task_schema import KEYS_OF_OTHERS, KNOWN_KEYS, LAST_IMPORT, normalize_priority

ORIGIN = "origin"
NO_ALIASES: Mapping[str, Sequence[str]] = {}
# Fields that most other tools have no word for are read in cub's.
_EXTRA_TEXTS, _EXTRA_LISTS = ("issue_type", "parent", "assignee"), ("labels", "checks")
_BULLET = re.compile(r"(?:[-*+•] (?:\[[ xX]\] )?|\d+[.)] )\s*")


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
