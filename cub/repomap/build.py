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
from cub.files.internal_files import ScheduleWrite, write_now
from cub.repomap.listing.file_listing import FileListing, list_files
from cub.repomap.map_cache import (
    CachedMap,
    MapText,
    load_cached_map,
    load_fingerprint,
    save_cached_map,
    save_fingerprint,
)
from cub.repomap.map_types import STEP_RENDERING, MapSettings, ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from cub.repomap.map_cache import FactsByFile
    from cub.repomap.repo_map import ProjectStructure, RepoMap
    from cub.repomap.symbols.collect_facts import FactsCollector
    from cub.repomap.symbols.scan import ClassifiedFiles

FACTS_FILE = "facts.jsonl"
MIN_FILES_TO_FORK = 150  # files: with fewer, a second process costs as much as it saves


class MapContext(NamedTuple):
    """Where a map is made: its root, the folder for caches, and what stands no more; `parent_path`
    is the root's own path in the project, "a/b/" or ""; `write_cache` is given each write of a
    cache.
    """

    root: Path
    cache_folder: Path
    deleted_paths: Collection[str] = ()
    progress: ProgressCallback = ignore_progress
    write_cache: ScheduleWrite = write_now
    parent_path: str = ""


def build_map_text(context: MapContext, settings: MapSettings, header: int) -> MapText:
    """The body of the map; `header` is how many tokens stand before it.

    As long as no file's state, setting or part of cub changed, the text of the last time.
    """
    now = time.time_ns()
    found = _listing(context, settings)
    frame = _frame(found, settings, header)
    key = _key(found, frame)
    last = load_cached_map(context.cache_folder, frame)
    if last and last.files_key == key:
        return last.map_text
    files = _sifted(found, settings)
    settled = all(file.has_reliable_mtime(now) for file in found.files)
    scanned: FactsByFile = {}
    if last and _still_holds(context.cache_folder, last, files, scanned):
        if settled:
            context.write_cache(
                partial(save_cached_map, context.cache_folder, last._replace(files_key=key))
            )
        return last.map_text
    collecting, structure = _begun(context, files, scanned)
    # Imported while other processes are at work.
    from cub.repomap.render.map_body import render_map_body
    from cub.repomap.repo_map import assemble_repo_map

    facts = collecting.collect()
    context.progress(0, 1, STEP_RENDERING)
    full = assemble_repo_map(files, facts, structure)
    made = MapText(render_map_body(full, settings.tokens, header), full.omissions)
    context.progress(1, 1, STEP_RENDERING)
    if made.text and settled:
        _keep(context, CachedMap(frame, key, key, made), full)
    return made


def build_repo_map(context: MapContext, settings: MapSettings) -> RepoMap:
    """All that is known, for those who want more than fits."""
    from cub.repomap.repo_map import assemble_repo_map

    files = _sifted(_listing(context, settings), settings)
    collecting, structure = _begun(context, files, {})
    return assemble_repo_map(files, collecting.collect(), structure)


def _listing(context: MapContext, settings: MapSettings) -> FileListing:
    return list_files(
        context.root, settings.exclude, context.deleted_paths, context.parent_path, context.progress
    )


def _sifted(found: FileListing, settings: MapSettings) -> ClassifiedFiles:
    from cub.repomap.symbols.scan import classify_files

    return classify_files(found, symbols=settings.symbols)


def _begun(
    context: MapContext, files: ClassifiedFiles, scanned: FactsByFile
) -> tuple[FactsCollector, Callable[[], ProjectStructure]]:
    """Code and structure, which two processes look at at once where that pays."""
    from cub.repomap.symbols.collect_facts import FactsCache, FactsCollector

    kept = FactsCache(context.cache_folder / FACTS_FILE, _version(), context.write_cache)
    collecting = FactsCollector(
        files.listing.root, files.scan_jobs, kept, context.progress, scanned
    )
    return collecting, _structure(files, here=collecting.is_parallel)


def _structure(files: ClassifiedFiles, *, here: bool) -> Callable[[], ProjectStructure]:
    """Gives the structure: made `here` and now, or by another process, or when it is asked for."""
    from cub.repomap.fork import can_fork, run_in_fork

    if here:
        made = _structure_of(files)
        return lambda: made
    work = partial(_structure_of, files)
    return (
        run_in_fork(work) if len(files.listing.files) >= MIN_FILES_TO_FORK and can_fork() else work
    )


def _structure_of(files: ClassifiedFiles) -> ProjectStructure:
    from cub.repomap.outline.structure import read_structure

    return read_structure(files)


def _frame(found: FileListing, settings: MapSettings, header: int) -> str:
    """Of everything that the text depends on beside the files' contents."""
    parts = (_version(), astuple(settings), header, found.omissions, found.paths)
    return sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _key(found: FileListing, frame: str) -> str:
    """Of everything that the text depends on."""
    files = "\n".join(f"{file.size} {file.mtime_ns} {file.inode}" for file in found.files)
    return sha256(f"{frame}\n{files}".encode()).hexdigest()


def _still_holds(
    folder: Path, last: CachedMap, files: ClassifiedFiles, scanned: FactsByFile
) -> bool:
    """Whether no change to a file shows in the map."""
    from cub.repomap.map_cache import is_still_valid

    basis = load_fingerprint(folder, last.fingerprint_key)
    return basis is not None and is_still_valid(basis, files, scanned)


def _keep(context: MapContext, last: CachedMap, full: RepoMap) -> None:
    from cub.repomap.map_cache import fingerprint_map

    context.write_cache(partial(save_cached_map, context.cache_folder, last))
    context.write_cache(
        lambda: save_fingerprint(context.cache_folder, last.fingerprint_key, fingerprint_map(full))
    )


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
