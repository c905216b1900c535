"""The map of a project, made anew only where something changed since it was made last."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import astuple
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import cub
from cub.files.private import Keep, at_once, replace_file
from cub.repomap.listing.listing import Listing, listing
from cub.repomap.notes import Note
from cub.repomap.settings import MapSettings

if TYPE_CHECKING:
    from cub.repomap.survey import RepoMap

Progress = Callable[[int, int], None]  # bytes read, bytes to read
FACTS, LAST, BASIS = "facts.jsonl", "map.json", "basis.json"
_SETTLED_NS = 50_000_000  # clocks tick in steps: a later change must show in a file's time


class MapText(NamedTuple):
    """The text of a map, and what could not be read for it."""

    text: str
    notes: tuple[Note, ...]


class Workshop(NamedTuple):
    """Where a map is made: its root, the folder for caches, and what stands no more; `above` is
    the root's own path in the project, "a/b/" or ""; `keep` is given each write of a cache.
    """

    root: Path
    cache: Path
    gone: Collection[str] = ()
    progress: Progress = lambda _done, _total: None
    keep: Keep = at_once
    above: str = ""


def map_text(shop: Workshop, settings: MapSettings, header: int) -> MapText:
    """The body of the map; `header` is how many tokens stand before it.

    As long as no file's state, setting or part of cub changed, the text of the last time.
    """
    now = time.time_ns()
    found = _listing(shop, settings)
    frame = _frame(found, settings, header)
    key = _key(found, frame)
    last = _last(shop.cache / LAST, frame)
    if last and last.key == key:
        return last.made
    settled = all(file.mtime_ns < now - _SETTLED_NS for file in found.files)
    if last and _still_holds(shop.cache / BASIS, last, found):
        if settled:
            shop.keep(partial(_save, shop.cache / LAST, last._replace(key=key)))
        return last.made
    full = _survey(shop, found, settings)
    made = _text(full, settings.tokens, header)
    if made.text and settled:
        shop.keep(partial(_save, shop.cache / LAST, _Last(frame, key, key, made)))
        shop.keep(partial(_save_basis, shop.cache / BASIS, key, found, full))
    return made


def _text(full: RepoMap, tokens: int, header: int) -> MapText:
    from cub.repomap.page.page import body

    return MapText(body(full, tokens, header), full.notes)


def full_map(shop: Workshop, settings: MapSettings) -> RepoMap:
    """All that is known, for those who want more than fits."""
    return _survey(shop, _listing(shop, settings), settings)


def _listing(shop: Workshop, settings: MapSettings) -> Listing:
    return listing(shop.root, settings.exclude, shop.gone, shop.above)


def _survey(shop: Workshop, found: Listing, settings: MapSettings) -> RepoMap:
    from cub.repomap.survey import survey
    from cub.repomap.symbols.collect import Cache

    cache = Cache(shop.cache / FACTS, _version(), shop.keep)
    return survey(found, settings, cache, shop.progress)


def _frame(found: Listing, settings: MapSettings, header: int) -> str:
    """Of everything that the text depends on beside the files' contents."""
    parts = (_version(), astuple(settings), header, found.notes, found.paths)
    return sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _key(found: Listing, frame: str) -> str:
    """Of everything that the text depends on."""
    files = "\n".join(f"{file.size} {file.mtime_ns} {file.inode}" for file in found.files)
    return sha256(f"{frame}\n{files}".encode()).hexdigest()


class _Last(NamedTuple):
    """The last map: what it is for, and the key that its basis has."""

    frame: str
    key: str
    basis: str
    made: MapText


def _last(path: Path, frame: str) -> _Last | None:
    try:
        if not path.is_file():  # nothing, or what would not end
            return None
        known, key, basis, (text, notes) = json.loads(path.read_bytes())
        made = MapText(str(text), tuple(Note(*note) for note in notes))
        return _Last(known, key, basis, made) if known == frame else None
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def _still_holds(path: Path, last: _Last, found: Listing) -> bool:
    """Whether no change to a file shows in the map."""
    from cub.repomap.basis import Basis, holds

    try:
        if not path.is_file():
            return False
        key, row = json.loads(path.read_bytes())
        return key == last.basis and holds(Basis.load(row), found)
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return False


def _save(path: Path, last: _Last) -> None:
    with suppress(OSError):
        replace_file(path, [json.dumps(last).encode()])


def _save_basis(path: Path, key: str, found: Listing, full: RepoMap) -> None:
    from cub.repomap.basis import basis_of

    with suppress(OSError):
        replace_file(path, [json.dumps([key, basis_of(found, full).dump()]).encode()])


def _version() -> str:
    """Changes with cub's version, its code, and the packages that are installed beside it."""
    here = Path(__file__).parent
    times = [entry.stat().st_mtime_ns for entry in _code(os.fspath(here))]
    site = os.stat(here.parent.parent).st_mtime_ns  # noqa: PTH116
    return f"{cub.__version__} {max(times)} {site}"


def _code(folder: str) -> list[os.DirEntry[str]]:
    found = [entry for entry in os.scandir(folder) if entry.name != "__pycache__"]
    inner = [entry for row in found if row.is_dir() for entry in _code(row.path)]
    return [entry for entry in found if entry.is_file()] + inner
