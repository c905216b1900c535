"""When each field of a record changed, as its stamps tell: read to be compared, and written."""

from __future__ import annotations

from typing import Any, NamedTuple

from cub.store.jsonl import Record
from cub.store.moments import read, written

Stamp = tuple[str, str]  # as a moment, to be compared; and as it is written
NEVER: Stamp = ("", "")


class Side(NamedTuple):
    """A record, its stamps, and the stamp of what has none."""

    record: Record
    stamps: dict[str, Any]
    base: Stamp


def side_of(record: Record) -> Side:
    """A record that was never stamped is a foreign one: it changed as a whole when it says so."""
    stamps = record.get("stamps")
    created = record.get("created_at", "")
    base = created if isinstance(stamps, dict) else record.get("updated_at", created)
    return Side(record, stamps if isinstance(stamps, dict) else {}, as_stamp(base))


def as_stamp(value: object) -> Stamp:
    """What tells no time came before what does: else no change of cub's could follow it."""
    if not isinstance(value, str):
        return NEVER
    at = read(value)
    return (written(at) if at else "", value)


def stamp_of(side: Side, key: str) -> Stamp:
    """When a field changed last. What is not there, and never was, came before all."""
    said = side.stamps.get(key)
    if isinstance(said, str):
        return as_stamp(said)
    return side.base if key in side.record else NEVER


def elements(side: Side, key: str) -> dict[str, tuple[Stamp, bool]]:
    """Every element that is or was in a set: when it came or went, and whether it is there."""
    said = side.stamps.get(key)
    times = said if isinstance(said, dict) else {}
    whole = stamp_of(side, key)
    here = dict.fromkeys(side.record.get(key, ()), True)
    gone = {name: False for name, at in times.items() if isinstance(at, str) and name not in here}
    known = {name: as_stamp(at) for name, at in times.items() if isinstance(at, str)}
    return {name: (known.get(name, whole), there) for name, there in {**here, **gone}.items()}


def stamped(side: Side) -> list[str]:
    """The fields of one value that have a stamp, also those that are not there any more."""
    return [key for key, at in side.stamps.items() if isinstance(at, str)]


def stamps_to_write(made: Record, stamps: dict[str, Stamp | dict[str, Stamp]]) -> Record:
    """The stamps that differ from the time of creation, which stands for all others."""
    created = made.get("created_at", "")
    base = as_stamp(created)
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
