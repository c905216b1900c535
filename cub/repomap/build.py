"""The map of a project, made anew only where something changed since it was made last."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from dataclasses import astuple
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import cub
from cub.files.private import Keep, at_once
from cub.repomap.last import Last, MapText, load_basis, load_last, save_basis, save_last
from cub.repomap.listing.listing import Listing, listing
from cub.repomap.progress import DRAWING, Progress, no_progress
from cub.repomap.settings import MapSettings

if TYPE_CHECKING:
    from cub.repomap.basis import Scanned
    from cub.repomap.sifted import Sifted
    from cub.repomap.structure import Structure
    from cub.repomap.survey import RepoMap
    from cub.repomap.symbols.collect import Collecting

FACTS = "facts.jsonl"
PAYS = 150  # files: with fewer, a second process costs as much as it saves


class Workshop(NamedTuple):
    """Where a map is made: its root, the folder for caches, and what stands no more; `above` is
    the root's own path in the project, "a/b/" or ""; `keep` is given each write of a cache.
    """

    root: Path
    cache: Path
    gone: Collection[str] = ()
    progress: Progress = no_progress
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
    last = load_last(shop.cache, frame)
    if last and last.key == key:
        return last.made
    files = _sifted(found, settings)
    settled = all(file.is_settled(now) for file in found.files)
    scanned: Scanned = {}
    if last and _still_holds(shop.cache, last, files, scanned):
        if settled:
            shop.keep(partial(save_last, shop.cache, last._replace(key=key)))
        return last.made
    collecting, structure = _begun(shop, files, scanned)
    # Imported while other processes are at work.
    from cub.repomap.page.page import body
    from cub.repomap.survey import survey

    facts = collecting.facts()
    shop.progress(0, 1, DRAWING)
    full = survey(files, facts, structure)
    made = MapText(body(full, settings.tokens, header), full.notes)
    shop.progress(1, 1, DRAWING)
    if made.text and settled:
        _keep(shop, Last(frame, key, key, made), full)
    return made


def full_map(shop: Workshop, settings: MapSettings) -> RepoMap:
    """All that is known, for those who want more than fits."""
    from cub.repomap.survey import survey

    files = _sifted(_listing(shop, settings), settings)
    collecting, structure = _begun(shop, files, {})
    return survey(files, collecting.facts(), structure)


def _listing(shop: Workshop, settings: MapSettings) -> Listing:
    return listing(shop.root, settings.exclude, shop.gone, shop.above, shop.progress)


def _sifted(found: Listing, settings: MapSettings) -> Sifted:
    from cub.repomap.sifted import sifted

    return sifted(found, symbols=settings.symbols)


def _begun(
    shop: Workshop, files: Sifted, scanned: Scanned
) -> tuple[Collecting, Callable[[], Structure]]:
    """Code and structure, which two processes look at at once where that pays."""
    from cub.repomap.symbols.collect import Cache, Collecting

    kept = Cache(shop.cache / FACTS, _version(), shop.keep)
    collecting = Collecting(files.found.root, files.jobs, kept, shop.progress, scanned)
    return collecting, _structure(files, here=collecting.elsewhere)


def _structure(files: Sifted, *, here: bool) -> Callable[[], Structure]:
    """Gives the structure: made `here` and now, or by another process, or when it is asked for."""
    from cub.repomap.meanwhile import can_fork, meanwhile

    if here:
        made = _structure_of(files)
        return lambda: made
    work = partial(_structure_of, files)
    return meanwhile(work) if len(files.found.files) >= PAYS and can_fork() else work


def _structure_of(files: Sifted) -> Structure:
    from cub.repomap.structure_reading import structure_of

    return structure_of(files)


def _frame(found: Listing, settings: MapSettings, header: int) -> str:
    """Of everything that the text depends on beside the files' contents."""
    parts = (_version(), astuple(settings), header, found.notes, found.paths)
    return sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _key(found: Listing, frame: str) -> str:
    """Of everything that the text depends on."""
    files = "\n".join(f"{file.size} {file.mtime_ns} {file.inode}" for file in found.files)
    return sha256(f"{frame}\n{files}".encode()).hexdigest()


def _still_holds(folder: Path, last: Last, files: Sifted, scanned: Scanned) -> bool:
    """Whether no change to a file shows in the map."""
    from cub.repomap.basis import holds

    basis = load_basis(folder, last.basis)
    return basis is not None and holds(basis, files, scanned)


def _keep(shop: Workshop, last: Last, full: RepoMap) -> None:
    from cub.repomap.basis import basis_of

    shop.keep(partial(save_last, shop.cache, last))
    shop.keep(lambda: save_basis(shop.cache, last.basis, basis_of(full)))


@cache
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
