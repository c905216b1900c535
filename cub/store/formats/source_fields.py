"""Where a task came from, and what of its source cub's own fields can't say: so that an export
gives back, for everything that nobody changed, the values that were read.

Fields of a foreign object taken as cub's, as far as they are of the kind that cub means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from cub.store.jsonl import Record, dump_canonical
from cub.store.task_schema import KNOWN_KEYS, TASK_KEYS, normalize_priority

Aliases = Mapping[str, Sequence[str]]


def attach_origin(
    record: Record, raw: Record, written: Record, source: Mapping[str, Any]
) -> Record:
    """A record that was read of `raw` and would be `written`, with what differs between the two."""
    apart = [key for key in {**raw, **written} if not _same(key, raw, written)]
    said = {key: raw[key] for key in apart if key in raw}
    read = {key: digest_value(written[key]) for key in apart if key in written}
    facts = {"said": said, "read": read}
    kept = {key: value for key, value in facts.items() if value}
    return {**record, ORIGIN: {**source, "digest": digest_value(raw), **kept}}


def restore_source_fields(record: Record, written: Record, name: str) -> Record:
    """`written`, with the source's own value of each field that would be written as it was then."""
    origin = get_origin(record, name)
    said, read = (_object(origin, key) for key in ("said", "read"))
    made = dict(written)
    for key in {**said, **read}:
        if (digest_value(written[key]) if key in written else None) == read.get(key):
            made.pop(key, None)
            made |= {key: said[key]} if key in said else {}
    return made


def get_origin(record: Record, name: str) -> Record:
    """What a record remembers of a source of the format `name`; nothing for any other."""
    origin = _object(record, ORIGIN)
    return origin if origin.get("format") == name else {}


def digest_value(value: object) -> str:
    """A few letters that differ where values do."""
    return blake2b(dump_canonical(value).encode(), digest_size=6).hexdigest()


def find_aliases(raw: Record, aliases: Aliases) -> dict[str, str]:
    """Which fields `raw` calls by another name: by the one that it has first."""
    found = {}
    for own, others in aliases.items():
        alias = next((name for name in others if name in raw), None)
        if own not in raw and alias is not None:
            found[own] = alias
    return found


def rename_keys(raw: Record, names: Mapping[str, str]) -> Record:
    """`raw` with each field under the name that `names` gives it."""
    return {names.get(key, key): value for key, value in raw.items()}


def _same(key: str, raw: Record, written: Record) -> bool:
    return (
        key in raw and key in written and dump_canonical(raw[key]) == dump_canonical(written[key])
    )


def _object(record: Record, key: str) -> Record:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


ORIGIN = "origin"
# What most other tools have no word for is read and written in cub's.
_EXTRA_TEXTS, _EXTRA_LISTS = ("issue_type", "parent", "assignee"), ("labels", "checks")
_BULLET = re.compile(r"(?:[-*+•] (?:\[[ xX]\] )?|\d+[.)] )\s*")


def pick_texts(raw: Record, keys: Iterable[str]) -> Record:
    """Those of `keys` that hold a text."""
    return {key: raw[key] for key in keys if isinstance(raw.get(key), str)}


def pick_extras(raw: Record) -> Record:
    """What a foreign object says in cub's words; an empty text says nothing."""
    lists = {key: raw[key] for key in _EXTRA_LISTS if is_text_list(raw.get(key)) and raw[key]}
    return {key: value for key, value in pick_texts(raw, _EXTRA_TEXTS).items() if value} | lists


def dump_extras(record: Record, keys: Sequence[str] = _EXTRA_TEXTS + _EXTRA_LISTS) -> Record:
    """What `pick_extras` reads, without what goes without saying."""
    usual = {"issue_type": "task"}
    found = {key: record.get(key) for key in keys}
    return {key: value for key, value in found.items() if value and value != usual.get(key)}


def pick_unknown(raw: Record, used: Iterable[str]) -> Record:
    """The fields that neither `used` has nor cub would take for its own."""
    known = {*used, *KNOWN_KEYS, ORIGIN}
    return {key: value for key, value in raw.items() if key not in known and value is not None}


def dump_unknown(record: Record, used: Iterable[str]) -> Record:
    """What cub kept without knowing what it means, but for what the format has a use of."""
    known = {*used, *TASK_KEYS, ORIGIN}
    return {key: value for key, value in record.items() if key not in known}


def is_text_list(value: object) -> bool:
    """Whether a value is a list of texts, each there once, as cub keeps them."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return False
    return len(set(value)) == len(value)


def parse_criteria(value: object) -> list[str]:
    """Acceptance criteria: the lines of a text without their bullets, or the texts of a list."""
    if isinstance(value, str):
        found = (_BULLET.sub("", line.strip(), count=1) for line in value.splitlines())
        return list(dict.fromkeys(filter(None, found)))
    texts_ = value if isinstance(value, list) else []
    return list(dict.fromkeys(one for one in texts_ if isinstance(one, str) and one))


def join_criteria(items: object) -> str:
    """Acceptance criteria as one text: a line as it is, several with bullets."""
    lines = [str(item) for item in items] if isinstance(items, list) else []
    return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)


def take_first_line(text: str, most: int = 500) -> str:
    """What can stand as the title of a text."""
    return next((line.strip()[:most] for line in text.splitlines() if line.strip()), "")


def pick_priority(value: object) -> Record:
    """A priority that cub has, as a field; none for any other."""
    found: Any = normalize_priority(value)
    return {"priority": found} if type(found) is int and 0 <= found <= 4 else {}
