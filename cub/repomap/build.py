"""Build the map of a project, and only what changed since the last map."""

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
    fingerprint_map,
    is_still_valid,
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
MIN_FILES_TO_FORK = 150  # with fewer, a second process costs as much as it saves


class MapContext(NamedTuple):
    """Say where a map is made.

    `deleted_paths` are about to be deleted; `parent_path` is the root's own path in the project,
    "a/b/" or ""; `write_cache` is given each write of a cache.
    """

    root: Path
    cache_folder: Path
    deleted_paths: Collection[str] = ()
    progress: ProgressCallback = ignore_progress
    write_cache: ScheduleWrite = write_now
    parent_path: str = ""


def build_map_text(context: MapContext, settings: MapSettings, header_tokens: int) -> MapText:
    """Return the body of the map; `header_tokens` is the size of the header before it.

    Unless the state of a file, a setting or cub's code has changed, that is the last text.
    """
    now = time.time_ns()
    listing = _list_files(context, settings)
    settings_key = _make_settings_key(listing, settings, header_tokens)
    files_key = _make_files_key(listing, settings_key)
    last = load_cached_map(context.cache_folder, settings_key)
    if last and last.files_key == files_key:
        return last.map_text
    files = _classify_files(listing, settings)
    is_settled = all(file.has_reliable_mtime(now) for file in listing.files)
    scanned: FactsByFile = {}
    fingerprint = load_fingerprint(context.cache_folder, last.fingerprint_key) if last else None
    if last and fingerprint and is_still_valid(fingerprint, files, scanned):
        if is_settled:
            last = last._replace(files_key=files_key)
            context.write_cache(partial(save_cached_map, context.cache_folder, last))
        return last.map_text
    collector, get_structure = _start_reading(context, files, scanned)
    # Imported while other processes read.
    from cub.repomap.render.map_body import render_map_body
    from cub.repomap.repo_map import assemble_repo_map

    facts = collector.collect()
    context.progress(0, 1, STEP_RENDERING)
    repo_map = assemble_repo_map(files, facts, get_structure)
    body = render_map_body(repo_map, settings.tokens, header_tokens)
    map_text = MapText(body, repo_map.omissions)
    context.progress(1, 1, STEP_RENDERING)
    if body and is_settled:
        _save(context, CachedMap(settings_key, files_key, files_key, map_text), repo_map)
    return map_text


def build_repo_map(context: MapContext, settings: MapSettings) -> RepoMap:
    """Return all that is known, for callers that want more than fits."""
    from cub.repomap.repo_map import assemble_repo_map

    files = _classify_files(_list_files(context, settings), settings)
    collector, get_structure = _start_reading(context, files, {})
    return assemble_repo_map(files, collector.collect(), get_structure)


def _list_files(context: MapContext, settings: MapSettings) -> FileListing:
    return list_files(
        context.root, settings.exclude, context.deleted_paths, context.parent_path, context.progress
    )


def _classify_files(listing: FileListing, settings: MapSettings) -> ClassifiedFiles:
    from cub.repomap.symbols.scan import classify_files

    return classify_files(listing, symbols=settings.symbols)


def _start_reading(
    context: MapContext, files: ClassifiedFiles, scanned: FactsByFile
) -> tuple[FactsCollector, Callable[[], ProjectStructure]]:
    from cub.repomap.symbols.collect_facts import FactsCache, FactsCollector

    root, jobs = files.listing.root, files.scan_jobs
    cache = FactsCache(context.cache_folder / FACTS_FILE, _make_version(), context.write_cache)
    collector = FactsCollector(root, jobs, cache, context.progress, scanned)
    return collector, _start_structure(files, here=collector.is_parallel)


def _start_structure(files: ClassifiedFiles, *, here: bool) -> Callable[[], ProjectStructure]:
    """Return a function that returns the structure.

    It is read now if `here`, because others scan; else by another process, or when needed.
    """
    from cub.repomap.fork import can_fork, run_in_fork

    if here:
        structure = _read_structure(files)
        return lambda: structure
    work = partial(_read_structure, files)
    if len(files.listing.files) >= MIN_FILES_TO_FORK and can_fork():
        return run_in_fork(work)
    return work


def _read_structure(files: ClassifiedFiles) -> ProjectStructure:
    from cub.repomap.outline.structure import read_structure

    return read_structure(files)


def _make_settings_key(listing: FileListing, settings: MapSettings, header_tokens: int) -> str:
    """Return a key of everything that the text depends on except the files' contents."""
    omissions, paths = listing.omissions, listing.paths
    parts = (_make_version(), astuple(settings), header_tokens, omissions, paths)
    return sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _make_files_key(listing: FileListing, settings_key: str) -> str:
    """Return a key of everything that the text depends on."""
    files = "\n".join(f"{file.size} {file.mtime_ns} {file.inode}" for file in listing.files)
    return sha256(f"{settings_key}\n{files}".encode()).hexdigest()


def _save(context: MapContext, cached: CachedMap, repo_map: RepoMap) -> None:
    folder, key = context.cache_folder, cached.fingerprint_key
    context.write_cache(partial(save_cached_map, folder, cached))
    context.write_cache(lambda: save_fingerprint(folder, key, fingerprint_map(repo_map)))


@cache
def _make_version() -> str:
    """Return a text that changes with cub's version, its code, and the installed packages."""
    here = Path(__file__).parent
    times = [entry.stat().st_mtime_ns for entry in _list_code(os.fspath(here))]
    site = os.stat(here.parent.parent).st_mtime_ns  # noqa: PTH116
    return f"{cub.__version__} {max(times)} {site}"


def _list_code(folder: str) -> list[os.DirEntry[str]]:
    entries = [entry for entry in os.scandir(folder) if entry.name != "__pycache__"]
    inner = [entry for row in entries if row.is_dir() for entry in _list_code(row.path)]
    return [entry for entry in entries if entry.is_file()] + inner
