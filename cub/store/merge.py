"""Two records of one task as one: each field by the time of its last change, never the whole.

The result is the same whichever comes first, however many there are and in whatever groups, so
that all checkouts agree on what a merge of git's left. docs/explanation/stores.md has the rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

from cub.store.jsonl import Record, encode
from cub.store.sides import (
    NEVER,
    Side,
    Stamp,
    as_stamp,
    elements,
    side_of,
    stamp_of,
    stamped,
    stamps_to_write,
)
from cub.store.spelling import CLOSED, KEYS, SETS, in_order

# What a change of status sets: they are one fact, and go together.
STATUS = ("status", "close_reason", "closed_at", "reopened_at")
# All that has no stamp of its own as one value.
APART = {"id", "rev", "created_at", "updated_at", "stamps", *STATUS, *SETS}


class _Choice(NamedTuple):
    """Compared as a whole: the later stamp wins, and where they are equal, any fixed order: that
    of the letters, so that values which are equal but written otherwise have one, too.
    """

    stamp: Stamp
    present: bool
    order: str
    value: Any = None


def merged(records: Iterable[Record]) -> Record:
    """All records of one task, in cub's spelling, as one."""
    return reduce(_merge, records)


def _merge(a: Record, b: Record) -> Record:
    if encode(a) == encode(b):
        return a
    one, two = side_of(a), side_of(b)
    made: Record = {"id": a["id"], **_counts(a, b)}
    stamps: dict[str, Stamp | dict[str, Stamp]] = {}
    for key in _plain_keys(one, two):
        best = max(_choice(one, key), _choice(two, key), key=lambda c: c[:3])
        stamps[key] = best.stamp
        if best.present:
            made[key] = best.value
    status = max(one, two, key=_act)
    made |= {key: status.record[key] for key in STATUS if key in status.record}
    stamps["status"] = stamp_of(status, "status")
    for key in SETS:
        found = _merged_set(one, two, key)
        if found is not None:
            made[key], stamps[key] = found
    return in_order(made | stamps_to_write(made, stamps))


def _choice(side: Side, key: str) -> _Choice:
    present = key in side.record
    value = side.record.get(key)
    return _Choice(stamp_of(side, key), present, _spelled(value) if present else "", value)


def _act(side: Side) -> tuple[Any, ...]:
    """What a status is compared by. First the last time that somebody closed or reopened the task
    in so many words: no other change of its status undoes that.
    """
    closed = side.record.get("status") == CLOSED
    act = side.record.get("closed_at" if closed else "reopened_at")
    stamp = stamp_of(side, "status")
    when = as_stamp(act) if act is not None or not closed else stamp
    return when, closed, stamp, _spelled([side.record.get(key) for key in STATUS])


def _merged_set(one: Side, two: Side, key: str) -> tuple[list[str], dict[str, Stamp]] | None:
    """Each element by the last time that it was added or removed; None for no set at all."""
    a, b = elements(one, key), elements(two, key)
    if key not in one.record and key not in two.record and not a and not b:
        return None
    never = (NEVER, False)
    best = {name: max(a.get(name, never), b.get(name, never)) for name in {**a, **b}}
    names = [name for name, (_, present) in best.items() if present]
    lists = [side.record.get(key) for side in (one, two)]
    same = lists[0] == lists[1] and len(names) == len(lists[0] or ())
    return lists[0] if same and lists[0] else sorted(names), {n: s for n, (s, _) in best.items()}


def _plain_keys(one: Side, two: Side) -> list[str]:
    """Fields that have one value: also those that one side removed, which only a stamp tells."""
    a, b = one.record, two.record
    found = dict.fromkeys([*a, *b, *stamped(one), *stamped(two)])
    known = [key for key in KEYS if key in found]
    others = [key for key in found if key not in KEYS]
    if [key for key in a if key not in KEYS] != [key for key in b if key not in KEYS]:
        others.sort()
    return [key for key in known + others if key not in APART]


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
    return as_stamp(value), _spelled(value)


def _spelled(value: object) -> str:
    return encode({"": value}).decode()
