"""The last map that was made, kept with all that tells whether it still holds."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cub.files.private import BROKEN, replace_file
from cub.repomap.notes import Note

if TYPE_CHECKING:
    from cub.repomap.basis import Basis

LAST, BASIS = "map.json", "basis.json"


class MapText(NamedTuple):
    """The text of a map, and what could not be read for it."""

    text: str
    notes: tuple[Note, ...]


class Last(NamedTuple):
    """The last map: what it is for, the key of the files, and the key that its basis has."""

    frame: str
    key: str
    basis: str
    made: MapText


def load_last(folder: Path, frame: str) -> Last | None:
    """The last map for this frame; None if there is none, or it can't be read."""
    try:
        known, key, basis, (text, notes) = _read(folder / LAST)
        made = MapText(str(text), tuple(Note(*note) for note in notes))
        return Last(known, key, basis, made) if known == frame else None
    except BROKEN:
        return None


def load_basis(folder: Path, key: str) -> Basis | None:
    """The basis of this key; None if there is none, or it can't be read."""
    from cub.repomap.basis import Basis

    try:
        known, row = _read(folder / BASIS)
        return Basis.load(row) if known == key else None
    except BROKEN:
        return None


def _read(path: Path) -> Any:
    if not path.is_file():  # nothing, or what would not end
        raise FileNotFoundError(path)
    return json.loads(path.read_bytes())


def save_last(folder: Path, last: Last) -> None:
    """Keep a map; where that fails, nothing changes."""
    with suppress(OSError):
        replace_file(folder / LAST, [json.dumps(last).encode()])


def save_basis(folder: Path, key: str, basis: Basis) -> None:
    """Keep what a map rests on; where that fails, nothing changes."""
    with suppress(OSError):
        replace_file(folder / BASIS, [json.dumps([key, basis.dump()]).encode()])
