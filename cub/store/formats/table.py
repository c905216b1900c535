"""The formats by name, and which one a file is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import Any, NamedTuple

from cub.errors import CubError, UsageError
from cub.store.formats import beads, own, prd, task_master
from cub.store.formats.document import Imported, Place, parse
from cub.store.jsonl import Record, decode, lines

AUTO = "auto"


class Format(NamedTuple):
    """How a format is read and written; `places` finds the lists of tasks in a document of it."""

    read: Callable[[bytes, str], Imported]
    write: Callable[[Sequence[Record]], bytes]
    places: Callable[[Any], list[Place]] | None = None


FORMATS = {
    own.NAME: Format(own.read, own.write),
    beads.NAME: Format(beads.read, beads.write),
    task_master.NAME: Format(task_master.read, task_master.write, task_master.places),
    prd.NAME: Format(prd.read, prd.write, prd.places),
}


def read_tasks(data: bytes, where: str, format: str = AUTO) -> Imported:  # noqa: A002
    """The tasks of a file; `where` names it in messages. CubError if it is in no such format."""
    name = _guessed(data, where) if format == AUTO else format
    found = named(name)
    if found.places and not found.places(parse(data, where)):
        raise CubError(f"this is no document of {name}", where=where, hint=_hint())
    return found.read(data, where)


def write_tasks(records: Sequence[Record], format: str) -> bytes:  # noqa: A002
    """Tasks as a file of a format."""
    return named(format).write(records)


def named(name: str) -> Format:
    """The format of a name."""
    if name not in FORMATS:
        raise UsageError(f"no format {name!r}", hint=f"there are: {', '.join(FORMATS)}")
    return FORMATS[name]


def _guessed(data: bytes, where: str) -> str:
    """By what only one format has: first whether it is one document, or lines of objects."""
    try:
        document, broken = parse(data, where), None
    except CubError as error:
        document, broken = None, error
    for name, found in FORMATS.items():
        if found.places and found.places(document) and "id" not in document:
            return name
    objects = [one for one in _objects(data) if "id" in one]
    if objects or not data.strip():
        return beads.NAME if beads.fits(objects) else own.NAME
    raise broken or CubError("cub can't tell in which format this is", where=where, hint=_hint())


def _objects(data: bytes) -> Iterator[Record]:
    for line in lines(BytesIO(data)):
        try:
            yield decode(line.text)
        except ValueError:
            continue


def _hint() -> str:
    return f"say it: --format {'|'.join(FORMATS)}"
