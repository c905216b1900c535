"""A change of a task: new values, with a new revision and the stamps that merging needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cub.store.jsonl import Record
from cub.store.merge import APART, STATUS
from cub.store.moments import later, moment
from cub.store.spelling import SETS, in_order


def changed(record: Record, values: Mapping[str, Any], now: str) -> Record:
    """`record` with `values`, None for a field that goes; itself where nothing is different."""
    different = {k: v for k, v in values.items() if v != record.get(k)}
    if not different:
        return record
    at = next_moment(record, now)
    stamps = dict(record["stamps"]) if isinstance(record.get("stamps"), dict) else _first(record)
    for key, value in different.items():
        name = "status" if key in STATUS else key
        stamps[name] = _of_set(record, value, key, stamps, at) if key in SETS else at
    made = {**record, **different, "rev": _rev(record) + 1, "updated_at": at}
    made["stamps"] = dict(sorted(stamps.items()))
    return in_order({key: value for key, value in made.items() if value is not None})


def next_moment(record: Record, now: str) -> str:
    """When a change of a record happens: now, and in any case behind its last change."""
    return later(now, moment(record.get("updated_at", record.get("created_at"))))


def _first(record: Record) -> dict[str, Any]:
    """What a foreign record says of itself as a whole, said of each field before one changes."""
    created, updated = record.get("created_at"), record.get("updated_at")
    if updated is None or updated == created:
        return {}
    plain = {key: updated for key in record if key not in APART}
    sets = {key: dict.fromkeys(record[key], updated) for key in SETS if record.get(key)}
    return plain | sets | {"status": updated}


def _of_set(record: Record, values: Any, key: str, stamps: Record, at: str) -> dict[str, str]:
    """The times of a set's elements, with those that come or go now."""
    said = stamps.get(key)
    before, after = set(record.get(key) or ()), set(values or ())
    known = said if isinstance(said, dict) else {}
    times = dict.fromkeys(before, said) if isinstance(said, str) else known
    return dict(sorted({**times, **dict.fromkeys(before ^ after, at)}.items()))


def _rev(record: Record) -> int:
    rev = record.get("rev")
    return rev if type(rev) is int else 0
