"""Two records of one task as one: each field by the time of its last change, never the whole.

The result is the same whichever comes first, however many there are and in whatever groups, so
that all checkouts agree on what a merge of git's left. docs/explanation/stores.md has the rules.

When each field of a record changed, as its stamps tell: read to be compared, and written.

A change of a task: new values, with a new revision and the stamps that merging needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, NamedTuple

from cub.store.jsonl import Record, encode_record
from cub.store.task_schema import CLOSED, SET_KEYS, TASK_KEYS, sort_keys
from cub.store.timestamps import (
    format_timestamp,
    later_timestamp,
    normalize_timestamp,
    parse_timestamp,
)

# What a change of status sets: they are one fact, and go together.
STATUS_FIELDS = ("status", "close_reason", "closed_at", "reopened_at")
# All that has no stamp of its own as one value.
UNSTAMPED_FIELDS = {"id", "rev", "created_at", "updated_at", "stamps", *STATUS_FIELDS, *SET_KEYS}


class _Choice(NamedTuple):
    """Compared as a whole: the later stamp wins, and where they are equal, any fixed order: that
    of the letters, so that values which are equal but written otherwise have one, too.
    """

    stamp: Stamp
    present: bool
    order: str
    value: Any = None


def merge_records(records: Iterable[Record]) -> Record:
    """All records of one task, in cub's spelling, as one."""
    return reduce(_merge, records)


def _merge(a: Record, b: Record) -> Record:
    if encode_record(a) == encode_record(b):
        return a
    one, two = make_stamped_record(a), make_stamped_record(b)
    made: Record = {"id": a["id"], **_counts(a, b)}
    stamps: dict[str, Stamp | dict[str, Stamp]] = {}
    for key in _plain_keys(one, two):
        best = max(_choice(one, key), _choice(two, key), key=lambda c: c[:3])
        stamps[key] = best.stamp
        if best.present:
            made[key] = best.value
    status = max(one, two, key=_merge_status)
    made |= {key: status.record[key] for key in STATUS_FIELDS if key in status.record}
    stamps["status"] = get_stamp(status, "status")
    for key in SET_KEYS:
        found = _merged_set(one, two, key)
        if found is not None:
            made[key], stamps[key] = found
    return sort_keys(made | dump_stamps(made, stamps))


def _choice(side: StampedRecord, key: str) -> _Choice:
    present = key in side.record
    value = side.record.get(key)
    return _Choice(get_stamp(side, key), present, _spell(value) if present else "", value)


def _merge_status(side: StampedRecord) -> tuple[Any, ...]:
    """What a status is compared by. First the last time that somebody closed or reopened the task
    in so many words: no other change of its status undoes that.
    """
    closed = side.record.get("status") == CLOSED
    act = side.record.get("closed_at" if closed else "reopened_at")
    stamp = get_stamp(side, "status")
    when = parse_stamp(act) if act is not None or not closed else stamp
    return when, closed, stamp, _spell([side.record.get(key) for key in STATUS_FIELDS])


def _merged_set(
    one: StampedRecord, two: StampedRecord, key: str
) -> tuple[list[str], dict[str, Stamp]] | None:
    """Each element by the last time that it was added or removed; None for no set at all."""
    a, b = list_set_elements(one, key), list_set_elements(two, key)
    if key not in one.record and key not in two.record and not a and not b:
        return None
    never = (NEVER, False)
    best = {name: max(a.get(name, never), b.get(name, never)) for name in {**a, **b}}
    names = [name for name, (_, present) in best.items() if present]
    lists = [side.record.get(key) for side in (one, two)]
    same = lists[0] == lists[1] and len(names) == len(lists[0] or ())
    return lists[0] if same and lists[0] else sorted(names), {n: s for n, (s, _) in best.items()}


def _plain_keys(one: StampedRecord, two: StampedRecord) -> list[str]:
    """Fields that have one value: also those that one side removed, which only a stamp tells."""
    a, b = one.record, two.record
    found = dict.fromkeys([*a, *b, *list_stamped_fields(one), *list_stamped_fields(two)])
    known = [key for key in TASK_KEYS if key in found]
    others = [key for key in found if key not in TASK_KEYS]
    if [key for key in a if key not in TASK_KEYS] != [key for key in b if key not in TASK_KEYS]:
        others.sort()
    return [key for key in known + others if key not in UNSTAMPED_FIELDS]


def _counts(a: Record, b: Record) -> Record:
    """What only grows: the revision and the time of the last change; and the first creation."""
    revs = [r["rev"] for r in (a, b) if type(r.get("rev")) is int]
    created = [r["created_at"] for r in (a, b) if "created_at" in r]
    updated = [r["updated_at"] for r in (a, b) if "updated_at" in r]
    return {
        **({"rev": max(revs)} if revs else {}),
        **({"created_at": min(created, key=_time)} if created else {}),
        **({"updated_at": max(updated, key=_time)} if updated else {}),
    }


def _time(value: object) -> tuple[Stamp, str]:
    return parse_stamp(value), _spell(value)


def _spell(value: object) -> str:
    return encode_record({"": value}).decode()


Stamp = tuple[str, str]  # as a moment, to be compared; and as it is written
NEVER: Stamp = ("", "")


class StampedRecord(NamedTuple):
    """A record, its stamps, and the stamp of what has none."""

    record: Record
    stamps: dict[str, Any]
    base: Stamp


def make_stamped_record(record: Record) -> StampedRecord:
    """A record that was never stamped is a foreign one: it changed as a whole when it says so."""
    stamps = record.get("stamps")
    created = record.get("created_at", "")
    base = created if isinstance(stamps, dict) else record.get("updated_at", created)
    return StampedRecord(record, stamps if isinstance(stamps, dict) else {}, parse_stamp(base))


def parse_stamp(value: object) -> Stamp:
    """What tells no time came before what does: else no change of cub's could follow it."""
    if not isinstance(value, str):
        return NEVER
    at = parse_timestamp(value)
    return (format_timestamp(at) if at else "", value)


def get_stamp(side: StampedRecord, key: str) -> Stamp:
    """When a field changed last. What is not there, and never was, came before all."""
    said = side.stamps.get(key)
    if isinstance(said, str):
        return parse_stamp(said)
    return side.base if key in side.record else NEVER


def list_set_elements(side: StampedRecord, key: str) -> dict[str, tuple[Stamp, bool]]:
    """Every element that is or was in a set: when it came or went, and whether it is there."""
    said = side.stamps.get(key)
    times = said if isinstance(said, dict) else {}
    whole = get_stamp(side, key)
    here = dict.fromkeys(side.record.get(key, ()), True)
    gone = {name: False for name, at in times.items() if isinstance(at, str) and name not in here}
    known = {name: parse_stamp(at) for name, at in times.items() if isinstance(at, str)}
    return {name: (known.get(name, whole), there) for name, there in {**here, **gone}.items()}


def list_stamped_fields(side: StampedRecord) -> list[str]:
    """The fields of one value that have a stamp, also those that are not there any more."""
    return [key for key, at in side.stamps.items() if isinstance(at, str)]


def dump_stamps(made: Record, stamps: dict[str, Stamp | dict[str, Stamp]]) -> Record:
    """The stamps that differ from the time of creation, which stands for all others."""
    created = made.get("created_at", "")
    base = parse_stamp(created)
    found: dict[str, Any] = {}
    for key in sorted(stamps):
        at = stamps[key]
        if isinstance(at, dict):
            present = set(made.get(key, ()))
            odd = {n: at[n][1] for n in sorted(at) if at[n] != base or n not in present}
            found |= {key: odd} if odd else {}
        elif at != (base if key in made else NEVER):
            found[key] = at[1]
    needed = found or made.get("updated_at", created) != created
    return {"stamps": found} if needed else {}


def update_record(record: Record, values: Mapping[str, Any], now: str) -> Record:
    """`record` with `values`, None for a field that goes; itself where nothing is different."""
    different = {k: v for k, v in values.items() if v != record.get(k)}
    if not different:
        return record
    at = next_change_time(record, now)
    stamps = dict(record["stamps"]) if isinstance(record.get("stamps"), dict) else _first(record)
    for key, value in different.items():
        name = "status" if key in STATUS_FIELDS else key
        stamps[name] = _of_set(record, value, key, stamps, at) if key in SET_KEYS else at
    made = {**record, **different, "rev": _rev(record) + 1, "updated_at": at}
    made["stamps"] = dict(sorted(stamps.items()))
    return sort_keys({key: value for key, value in made.items() if value is not None})


def next_change_time(record: Record, now: str) -> str:
    """When a change of a record happens: now, and in any case behind its last change."""
    return later_timestamp(
        now, normalize_timestamp(record.get("updated_at", record.get("created_at")))
    )


def _first(record: Record) -> dict[str, Any]:
    """What a foreign record says of itself as a whole, said of each field before one changes."""
    created, updated = record.get("created_at"), record.get("updated_at")
    if updated is None or updated == created:
        return {}
    plain = {key: updated for key in record if key not in UNSTAMPED_FIELDS}
    sets = {key: dict.fromkeys(record[key], updated) for key in SET_KEYS if record.get(key)}
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
