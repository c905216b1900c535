"""Where a task came from, and what of its source cub's own fields can't say: so that an export
gives back, for everything that nobody changed, the values that were read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from cub.store.formats.picking import ORIGIN
from cub.store.jsonl import Record, canonical

Aliases = Mapping[str, Sequence[str]]


def remembered(record: Record, raw: Record, written: Record, source: Mapping[str, Any]) -> Record:
    """A record that was read of `raw` and would be `written`, with what differs between the two."""
    apart = [key for key in {**raw, **written} if not _same(key, raw, written)]
    said = {key: raw[key] for key in apart if key in raw}
    read = {key: digest(written[key]) for key in apart if key in written}
    facts = {"said": said, "read": read}
    kept = {key: value for key, value in facts.items() if value}
    return {**record, ORIGIN: {**source, "digest": digest(raw), **kept}}


def restored(record: Record, written: Record, name: str) -> Record:
    """`written`, with the source's own value of each field that would be written as it was then."""
    origin = origin_of(record, name)
    said, read = (_object(origin, key) for key in ("said", "read"))
    made = dict(written)
    for key in {**said, **read}:
        if (digest(written[key]) if key in written else None) == read.get(key):
            made.pop(key, None)
            made |= {key: said[key]} if key in said else {}
    return made


def origin_of(record: Record, name: str) -> Record:
    """What a record remembers of a source of the format `name`; nothing for any other."""
    origin = _object(record, ORIGIN)
    return origin if origin.get("format") == name else {}


def digest(value: object) -> str:
    """A few letters that differ where values do."""
    return blake2b(canonical(value).encode(), digest_size=6).hexdigest()


def names_in(raw: Record, aliases: Aliases) -> dict[str, str]:
    """Which fields `raw` calls by another name: by the one that it has first."""
    found = {}
    for own, others in aliases.items():
        alias = next((name for name in others if name in raw), None)
        if own not in raw and alias is not None:
            found[own] = alias
    return found


def renamed(raw: Record, names: Mapping[str, str]) -> Record:
    """`raw` with each field under the name that `names` gives it."""
    return {names.get(key, key): value for key, value in raw.items()}


def _same(key: str, raw: Record, written: Record) -> bool:
    return key in raw and key in written and canonical(raw[key]) == canonical(written[key])


def _object(record: Record, key: str) -> Record:
    value = record.get(key)
    return value if isinstance(value, dict) else {}
