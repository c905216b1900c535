"""Two records of one task as one: each field by the time of its last change, never the whole.

The result is the same whichever comes first, however many there are and in whatever groups, so
that all checkouts agree on what a merge of git's left. docs/explanation/stores.md has the rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

from cub.store.jsonl import Record, encode
from cub.store.moments import read, written
from cub.store.spelling import CLOSED, KEYS, SETS, in_order

# What a change of status sets: they are one fact, and go together.
STATUS = ("status", "close_reason", "closed_at", "reopened_at")
_APART = {"id", "rev", "created_at", "updated_at", "stamps", *STATUS, *SETS}

Stamp = tuple[str, str]  # as a moment, to be compared; and as it is written
_NEVER: Stamp = ("", "")


class _Side(NamedTuple):
    """A record, its stamps, and the stamp of what has none."""

    record: Record
    stamps: dict[str, Any]
    base: Stamp


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
    one, two = _side(a), _side(b)
    made: Record = {"id": a["id"], **_counts(a, b)}
    stamps: dict[str, Stamp | dict[str, Stamp]] = {}
    for key in _plain_keys(a, b):
        best = max(_choice(one, key), _choice(two, key), key=lambda c: c[:3])
        stamps[key] = best.stamp
        if best.present:
            made[key] = best.value
    status = max(one, two, key=_act)
    made |= {key: status.record[key] for key in STATUS if key in status.record}
    stamps["status"] = _stamp(status, "status")
    for key in SETS:
        found = _merged_set(one, two, key)
        if found is not None:
            made[key], stamps[key] = found
    return in_order(made | _stamps_to_write(made, stamps))


def _side(record: Record) -> _Side:
    """A record that was never stamped is a foreign one: it changed as a whole when it says so."""
    stamps = record.get("stamps")
    created = record.get("created_at", "")
    base = created if isinstance(stamps, dict) else record.get("updated_at", created)
    return _Side(record, stamps if isinstance(stamps, dict) else {}, _as_stamp(base))


def _as_stamp(value: object) -> Stamp:
    """What tells no time came before what does: else no change of cub's could follow it."""
    if not isinstance(value, str):
        return _NEVER
    at = read(value)
    return (written(at) if at else "", value)


def _stamp(side: _Side, key: str) -> Stamp:
    """When a field changed last. What is not there, and never was, came before all."""
    said = side.stamps.get(key)
    if isinstance(said, str):
        return _as_stamp(said)
    return side.base if key in side.record else _NEVER


def _choice(side: _Side, key: str) -> _Choice:
    present = key in side.record
    value = side.record.get(key)
    return _Choice(_stamp(side, key), present, _spelled(value) if present else "", value)


def _act(side: _Side) -> tuple[Any, ...]:
    """What a status is compared by. First the last time that somebody closed or reopened the task
    in so many words: no other change of its status undoes that.
    """
    closed = side.record.get("status") == CLOSED
    act = side.record.get("closed_at" if closed else "reopened_at")
    stamp = _stamp(side, "status")
    when = _as_stamp(act) if act is not None or not closed else stamp
    return when, closed, stamp, _spelled([side.record.get(key) for key in STATUS])


def _merged_set(one: _Side, two: _Side, key: str) -> tuple[list[str], dict[str, Stamp]] | None:
    """Each element by the last time that it was added or removed; None for no set at all."""
    a, b = _elements(one, key), _elements(two, key)
    if key not in one.record and key not in two.record and not a and not b:
        return None
    never = (_NEVER, False)
    best = {name: max(a.get(name, never), b.get(name, never)) for name in {**a, **b}}
    names = [name for name, (_, present) in best.items() if present]
    lists = [side.record.get(key) for side in (one, two)]
    same = lists[0] == lists[1] and len(names) == len(lists[0] or ())
    return lists[0] if same and lists[0] else sorted(names), {n: s for n, (s, _) in best.items()}


def _elements(side: _Side, key: str) -> dict[str, tuple[Stamp, bool]]:
    """Every element that is or was in a set: when it came or went, and whether it is there."""
    said = side.stamps.get(key)
    times = said if isinstance(said, dict) else {}
    whole = _stamp(side, key)
    here = dict.fromkeys(side.record.get(key, ()), True)
    gone = {name: False for name, at in times.items() if isinstance(at, str) and name not in here}
    known = {name: _as_stamp(at) for name, at in times.items() if isinstance(at, str)}
    return {name: (known.get(name, whole), there) for name, there in {**here, **gone}.items()}


def _plain_keys(a: Record, b: Record) -> list[str]:
    """Fields that have one value: also those that one side removed, which only a stamp tells."""
    found = dict.fromkeys([*a, *b, *_keys_of_stamps(a), *_keys_of_stamps(b)])
    known = [key for key in KEYS if key in found]
    others = [key for key in found if key not in KEYS]
    if [key for key in a if key not in KEYS] != [key for key in b if key not in KEYS]:
        others.sort()
    return [key for key in known + others if key not in _APART]


def _keys_of_stamps(record: Record) -> list[str]:
    stamps = record.get("stamps")
    return (
        [k for k, at in stamps.items() if isinstance(at, str)] if isinstance(stamps, dict) else []
    )


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
    return _as_stamp(value), _spelled(value)


def _spelled(value: object) -> str:
    return encode({"": value}).decode()


def _stamps_to_write(made: Record, stamps: dict[str, Stamp | dict[str, Stamp]]) -> Record:
    """The stamps that differ from the time of creation, which stands for all others."""
    created = made.get("created_at", "")
    base = _as_stamp(created)
    found: dict[str, Any] = {}
    for key in sorted(stamps):
        at = stamps[key]
        if isinstance(at, dict):
            present = set(made.get(key, ()))
            odd = {n: at[n][1] for n in sorted(at) if at[n] != base or n not in present}
            found |= {key: odd} if odd else {}
        elif at != (base if key in made else _NEVER):
            found[key] = at[1]
    needed = found or made.get("updated_at", created) != created
    return {"stamps": found} if needed else {}
