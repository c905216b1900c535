"""Records to merge: any at all, in cub's spelling, and such as branches of one task have."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from cub.store.jsonl import Record, decode_record, encode_record
from cub.store.record_merge import next_change_time, update_record
from cub.store.task_schema import (
    CLOSED,
    IN_PROGRESS,
    OPEN,
    PARKED,
    RETRY,
    STATUSES,
    normalize_record,
)


def day(number: int) -> str:
    """A moment, the later the larger the number."""
    return f"2026-01-{number:02}T00:00:00.000Z"


def task(key: str = "t-1", **values: Any) -> Record:
    """A task as cub makes them on the first day."""
    made = {"id": key, "rev": 1, "title": key, "status": OPEN, "priority": 2, "created_at": day(1)}
    return normalize_record({**made, "updated_at": made["created_at"], **values})


def closed(record: Record, on: int, reason: str = "done") -> Record:
    """What closing makes of a task."""
    at = next_change_time(record, day(on))
    return update_record(record, {"status": CLOSED, "close_reason": reason, "closed_at": at}, at)


def reopened(record: Record, on: int) -> Record:
    """What reopening makes of a task."""
    at = next_change_time(record, day(on))
    gone = {"close_reason": None, "closed_at": None}
    return update_record(record, {"status": OPEN, **gone, "reopened_at": at}, at)


def deleted(record: Record, on: int) -> Record:
    """What deleting makes of a task."""
    at = next_change_time(record, day(on))
    return update_record(record, {"deleted_at": at}, at)


def restored(record: Record, on: int) -> Record:
    """What bringing a deleted task back makes of it."""
    return update_record(record, {"deleted_at": None}, day(on))


# A pair of halves becomes one letter when it is written and read again.
TEXTS = st.text(st.sampled_from('aé\u2028\0"\\\ud83d\ude00 \n'), max_size=3).map(
    lambda text: decode_record(encode_record({"": text}))[""]
)
NUMBERS = st.sampled_from([0, -1, 1, True, False, 1.0, 0.1, 1e300, 10**40, None])
VALUES = st.recursive(
    TEXTS | NUMBERS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
# Few, so that they are often the same; and the same ones in other words.
TIMES = st.sampled_from([day(1), day(2), day(3), "2026-01-02", "2026-01-02T01:00:00+01:00", "odd"])
NAMES = st.lists(st.sampled_from("abc"), max_size=3)
SETS = st.dictionaries(st.sampled_from("abc"), TIMES | st.just(7), max_size=3)
_STAMPS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(["title", "status", "notes", "deleted_at", "x", "gone"], TIMES),
        "labels": SETS | TIMES | VALUES,
        "depends_on": SETS,
        "y": VALUES,
    },
)
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "rev": st.integers(0, 3) | VALUES,
    "title": TEXTS | VALUES,
    "status": st.sampled_from(STATUSES) | VALUES,
    "priority": st.integers(0, 4) | VALUES,
    "description": TEXTS,
    "labels": NAMES | VALUES,
    "depends_on": NAMES,
    "parent": TEXTS,
    "lease": VALUES,
    "close_reason": st.sampled_from(["done", "wontfix"]) | VALUES,
    "created_at": TIMES | VALUES,
    "updated_at": TIMES | VALUES,
    "closed_at": TIMES | VALUES,
    "reopened_at": TIMES | VALUES,
    "deleted_at": TIMES | VALUES,
    "stamps": _STAMPS | VALUES,
    **dict.fromkeys("xyz", VALUES),
}


@st.composite
def anything(draw: st.DrawFn) -> Record:
    """A record of one id, with some fields of any value, in any order."""
    fields = draw(st.fixed_dictionaries({}, optional=_FIELDS))
    keys = draw(st.permutations(sorted(fields)))
    return normalize_record({"id": "t-1", **{key: fields[key] for key in keys}})


@st.composite
def bases(draw: st.DrawFn) -> Record:
    """A task of cub's, or one as another tool may have written it."""
    foreign = {"updated_at": TIMES, "x": st.just(1), "y": st.just(2), "labels": NAMES}
    more = draw(st.fixed_dictionaries({}, optional=foreign))
    base = {**task(), **more}
    for key in draw(st.sampled_from([(), ("created_at",), ("updated_at",), ("rev", "priority")])):
        del base[key]
    return normalize_record(base)


@st.composite
def branches(draw: st.DrawFn, count: int, *, deleting: bool = True) -> list[Record]:
    """What several branches made of one task, their clocks going as they like."""
    base = draw(bases())
    return [draw(edited(base, deleting=deleting)) for _ in range(count)]


@st.composite
def edited(draw: st.DrawFn, record: Record, *, deleting: bool = True) -> Record:
    """A task after some changes of the kinds that commands make."""
    kinds = [_closing, _reopening, _setting, *([_deleting, _restoring] if deleting else [])]
    for _ in range(draw(st.integers(0, 4))):
        on = draw(st.integers(1, 6))
        record = draw(st.sampled_from(kinds))(draw, record, on)
    return record


def _closing(draw: st.DrawFn, record: Record, on: int) -> Record:
    return closed(record, on, draw(st.sampled_from(["done", "no_change", "wontfix"])))


def _reopening(_: st.DrawFn, record: Record, on: int) -> Record:
    return reopened(record, on)


def _deleting(_: st.DrawFn, record: Record, on: int) -> Record:
    return deleted(record, on)


def _restoring(_: st.DrawFn, record: Record, on: int) -> Record:
    return restored(record, on)


def _setting(draw: st.DrawFn, record: Record, on: int) -> Record:
    choices: dict[str, st.SearchStrategy[Any]] = {
        "title": st.sampled_from("pq"),
        "status": st.sampled_from([OPEN, PARKED, RETRY, IN_PROGRESS]),
        "lease": st.sampled_from([{"run": "r"}, None]),
        "labels": NAMES.map(lambda names: sorted(set(names))),
        "depends_on": NAMES.map(lambda names: list(dict.fromkeys(names))),
        **dict.fromkeys("xyz", st.sampled_from([1, 2, None])),
    }
    key = draw(st.sampled_from(sorted(choices)))
    if key == "status" and record["status"] == CLOSED:
        return record  # the commands refuse that
    return update_record(record, {key: draw(choices[key])}, day(on))
