"""Merge records of one task, each field by the time of its last change, and stamp changes.

The result is the same in whatever order and groups records are merged, so all checkouts agree on
what a merge of git left. docs/explanation/stores.md has the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial, reduce
from typing import Any, NamedTuple

from cub.store.jsonl import Record, encode_record
from cub.store.task_schema import CLOSED, SET_KEYS, TASK_KEYS, sort_keys
from cub.store.timestamps import (
    format_timestamp,
    later_timestamp,
    normalize_timestamp,
    parse_timestamp,
)

# A change of status sets these fields together.
STATUS_FIELDS = ("status", "close_reason", "closed_at", "reopened_at")
# Fields without a stamp of their own as one value.
UNSTAMPED_FIELDS = {"id", "rev", "created_at", "updated_at", "stamps", *STATUS_FIELDS, *SET_KEYS}


def merge_records(records: Iterable[Record]) -> Record:
    """Return all records of one task, in cub's spelling, as one."""
    return reduce(_merge_two, records)


def _merge_two(a: Record, b: Record) -> Record:
    if encode_record(a) == encode_record(b):
        return a
    one, two = make_stamped_record(a), make_stamped_record(b)
    merged: Record = {"id": a["id"], **_merge_counters(a, b)}
    stamps: dict[str, Stamp | dict[str, Stamp]] = {}
    for key in _list_plain_keys(one, two):
        best = max(one, two, key=partial(_rank_value, key=key))
        stamps[key] = get_stamp(best, key)
        if key in best.record:
            merged[key] = best.record[key]
    status = max(one, two, key=_merge_status)
    merged |= {key: status.record[key] for key in STATUS_FIELDS if key in status.record}
    stamps["status"] = get_stamp(status, "status")
    for key in SET_KEYS:
        merged_set = _merge_set(one, two, key)
        if merged_set is not None:
            merged[key], stamps[key] = merged_set
    return sort_keys(merged | dump_stamps(merged, stamps))


def _rank_value(side: StampedRecord, key: str) -> tuple[Stamp, bool, str]:
    """Return what a field's value is compared by as a whole: the later stamp wins.

    If stamps are equal, any fixed order decides: that of the letters, so that values which are
    equal but written otherwise have one, too.
    """
    present = key in side.record
    return get_stamp(side, key), present, _encode_value(side.record[key]) if present else ""


def _merge_status(side: StampedRecord) -> tuple[Any, ...]:
    """Return what a status is compared by.

    First is the last time that somebody explicitly closed or reopened the task: no other change of
    its status undoes that.
    """
    closed = side.record.get("status") == CLOSED
    act = side.record.get("closed_at" if closed else "reopened_at")
    stamp = get_stamp(side, "status")
    when = parse_stamp(act) if act is not None or not closed else stamp
    return when, closed, stamp, _encode_value([side.record.get(key) for key in STATUS_FIELDS])


def _merge_set(
    one: StampedRecord, two: StampedRecord, key: str
) -> tuple[list[str], dict[str, Stamp]] | None:
    """Return a set with each element by its last change; None if no record has the set."""
    a, b = list_set_elements(one, key), list_set_elements(two, key)
    if key not in one.record and key not in two.record and not a and not b:
        return None
    never = (NEVER, False)
    best = {name: max(a.get(name, never), b.get(name, never)) for name in {**a, **b}}
    names = [name for name, (_, present) in best.items() if present]
    lists = [side.record.get(key) for side in (one, two)]
    same = lists[0] == lists[1] and len(names) == len(lists[0] or ())
    return lists[0] if same and lists[0] else sorted(names), {n: s for n, (s, _) in best.items()}


def _list_plain_keys(one: StampedRecord, two: StampedRecord) -> list[str]:
    """Return the fields that have one value, also those that one side removed."""
    a, b = one.record, two.record
    keys = dict.fromkeys([*a, *b, *list_stamped_fields(one), *list_stamped_fields(two)])
    known = [key for key in TASK_KEYS if key in keys]
    others = [key for key in keys if key not in TASK_KEYS]
    if [key for key in a if key not in TASK_KEYS] != [key for key in b if key not in TASK_KEYS]:
        others.sort()
    return [key for key in known + others if key not in UNSTAMPED_FIELDS]


def _merge_counters(a: Record, b: Record) -> Record:
    """Return what only grows, the revision and the last change, and the first creation."""
    revs = [r["rev"] for r in (a, b) if type(r.get("rev")) is int]
    created = [r["created_at"] for r in (a, b) if "created_at" in r]
    updated = [r["updated_at"] for r in (a, b) if "updated_at" in r]
    return {
        **({"rev": max(revs)} if revs else {}),
        **({"created_at": min(created, key=_make_time_key)} if created else {}),
        **({"updated_at": max(updated, key=_make_time_key)} if updated else {}),
    }


def _make_time_key(value: object) -> tuple[Stamp, str]:
    return parse_stamp(value), _encode_value(value)


def _encode_value(value: object) -> str:
    return encode_record({"": value}).decode()


Stamp = tuple[str, str]  # a timestamp, to be compared, and the time as it is written
NEVER: Stamp = ("", "")


class StampedRecord(NamedTuple):
    """Hold a record, its stamps, and the stamp of fields that have none."""

    record: Record
    stamps: dict[str, Any]
    base: Stamp


def make_stamped_record(record: Record) -> StampedRecord:
    """Return a record with its stamps; a foreign one changed as a whole when it says so."""
    stamps = record.get("stamps")
    created = record.get("created_at", "")
    base = created if isinstance(stamps, dict) else record.get("updated_at", created)
    return StampedRecord(record, stamps if isinstance(stamps, dict) else {}, parse_stamp(base))


def parse_stamp(value: object) -> Stamp:
    """Return a stamp; one without a time comes first, so that changes of cub can follow it."""
    if not isinstance(value, str):
        return NEVER
    at = parse_timestamp(value)
    return (format_timestamp(at) if at else "", value)


def get_stamp(side: StampedRecord, key: str) -> Stamp:
    """Return when a field changed last; a field that never existed comes before all."""
    stamp = side.stamps.get(key)
    if isinstance(stamp, str):
        return parse_stamp(stamp)
    return side.base if key in side.record else NEVER


def list_set_elements(side: StampedRecord, key: str) -> dict[str, tuple[Stamp, bool]]:
    """Return the elements that are or were in a set: their last change, and if they are there."""
    stamp = side.stamps.get(key)
    times = stamp if isinstance(stamp, dict) else {}
    whole = get_stamp(side, key)
    present = dict.fromkeys(side.record.get(key, ()), True)
    stamps = {name: parse_stamp(at) for name, at in times.items() if isinstance(at, str)}
    removed = {name: False for name in stamps if name not in present}
    names = {**present, **removed}
    return {name: (stamps.get(name, whole), is_there) for name, is_there in names.items()}


def list_stamped_fields(side: StampedRecord) -> list[str]:
    """Return the fields of one value that have a stamp, also those that were removed."""
    return [key for key, at in side.stamps.items() if isinstance(at, str)]


def dump_stamps(record: Record, stamps: dict[str, Stamp | dict[str, Stamp]]) -> Record:
    """Return the stamps that differ from the time of creation, which is that of all others."""
    created = record.get("created_at", "")
    base = parse_stamp(created)
    odd_stamps: dict[str, Any] = {}
    for key in sorted(stamps):
        at = stamps[key]
        if isinstance(at, dict):
            present = set(record.get(key, ()))
            odd = {n: at[n][1] for n in sorted(at) if at[n] != base or n not in present}
            odd_stamps |= {key: odd} if odd else {}
        elif at != (base if key in record else NEVER):
            odd_stamps[key] = at[1]
    needed = odd_stamps or record.get("updated_at", created) != created
    return {"stamps": odd_stamps} if needed else {}


def update_record(record: Record, values: Mapping[str, Any], now: str) -> Record:
    """Return `record` with `values`, None to remove a field; itself if nothing differs."""
    different = {k: v for k, v in values.items() if v != record.get(k)}
    if not different:
        return record
    at = next_change_time(record, now)
    stamps = record.get("stamps")
    stamps = dict(stamps) if isinstance(stamps, dict) else _stamp_all_fields(record)
    for key, value in different.items():
        name = "status" if key in STATUS_FIELDS else key
        stamps[name] = _stamp_set(record, value, key, stamps, at) if key in SET_KEYS else at
    updated = {**record, **different, "rev": _get_revision(record) + 1, "updated_at": at}
    updated["stamps"] = dict(sorted(stamps.items()))
    return sort_keys({key: value for key, value in updated.items() if value is not None})


def next_change_time(record: Record, now: str) -> str:
    """Return when a change of a record happens: now, but always after its last change."""
    return later_timestamp(
        now, normalize_timestamp(record.get("updated_at", record.get("created_at")))
    )


def _stamp_all_fields(record: Record) -> dict[str, Any]:
    """Return a foreign record's time of change as that of each field, before one changes."""
    created, updated = record.get("created_at"), record.get("updated_at")
    if updated is None or updated == created:
        return {}
    plain = {key: updated for key in record if key not in UNSTAMPED_FIELDS}
    sets = {key: dict.fromkeys(record[key], updated) for key in SET_KEYS if record.get(key)}
    return plain | sets | {"status": updated}


def _stamp_set(record: Record, values: Any, key: str, stamps: Record, at: str) -> dict[str, str]:
    """Return the times of a set's elements, with those that are added or removed now."""
    stamp = stamps.get(key)
    before, after = set(record.get(key) or ()), set(values or ())
    old_times = stamp if isinstance(stamp, dict) else {}
    times = dict.fromkeys(before, stamp) if isinstance(stamp, str) else old_times
    return dict(sorted({**times, **dict.fromkeys(before ^ after, at)}.items()))


def _get_revision(record: Record) -> int:
    rev = record.get("rev")
    return rev if type(rev) is int else 0
