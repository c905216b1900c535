"""Build the map of a project, unless nothing has changed since the last one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import astuple
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import cub
from cub.files.internal_files import READ_ERRORS, ScheduleWrite, replace_file, write_now
from cub.repomap.listing.file_listing import FileListing, list_files
from cub.repomap.map_types import (
    STEP_RENDERING,
    MapOmission,
    MapSettings,
    ProgressCallback,
    ignore_progress,
)

if TYPE_CHECKING:
    from cub.repomap.repo_map import ProjectStructure, RepoMap
    from cub.repomap.symbols.scan import ClassifiedFiles

FACTS_FILE, MAP_CACHE_FILE = "facts.jsonl", "map.json"


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


class MapText(NamedTuple):
    """Hold the text of a map, and what could not be read for it."""

    text: str
    omissions: tuple[MapOmission, ...]


def build_map_text(context: MapContext, settings: MapSettings, header_tokens: int) -> MapText:
    """Return the body of the map; `header_tokens` is the size of the header before it.

    Unless the state of a file, a setting or cub's code has changed, that is the last text.
    """
    now = time.time_ns()
    listing = _list_files(context, settings)
    key = _make_key(listing, settings, header_tokens)
    if last := _load_map_text(context.cache_folder, key):
        return last
    from cub.repomap.render.map_body import render_map_body

    repo_map = _survey_files(context, listing, settings)
    body = render_map_body(repo_map, settings.tokens, header_tokens)
    map_text = MapText(body, repo_map.omissions)
    context.progress(1, 1, STEP_RENDERING)
    if body and all(file.has_reliable_mtime(now) for file in listing.files):
        context.write_cache(partial(_save_map_text, context.cache_folder, key, map_text))
    return map_text


def _load_map_text(folder: Path, key: str) -> MapText | None:
    """Return the last map; None if it has another key, is missing or can't be read."""
    path = folder / MAP_CACHE_FILE
    try:
        if not path.is_file():  # missing, or a device that never ends
            return None
        stored_key, text, rows = json.loads(path.read_bytes())
        omissions = tuple(MapOmission(*row) for row in rows)
    except READ_ERRORS:
        return None
    return MapText(str(text), omissions) if stored_key == key else None


def _save_map_text(folder: Path, key: str, map_text: MapText) -> None:
    """Save a map; if that fails, nothing changes."""
    with suppress(OSError):
        replace_file(folder / MAP_CACHE_FILE, [json.dumps([key, *map_text]).encode()])


def build_repo_map(context: MapContext, settings: MapSettings) -> RepoMap:
    """Return all that is known, for callers that want more than fits."""
    return _survey_files(context, _list_files(context, settings), settings)


def _list_files(context: MapContext, settings: MapSettings) -> FileListing:
    return list_files(
        context.root, settings.exclude, context.deleted_paths, context.parent_path, context.progress
    )


def _survey_files(context: MapContext, listing: FileListing, settings: MapSettings) -> RepoMap:
    """Read the files, in several processes if that pays off."""
    from cub.repomap.symbols.collect_facts import FactsCache, FactsCollector
    from cub.repomap.symbols.scan import classify_files
    from cub.repomap.workers import Workers, count_workers

    files = classify_files(listing, symbols=settings.symbols)
    cache = FactsCache(context.cache_folder / FACTS_FILE, _make_version(), context.write_cache)
    collector = FactsCollector(listing.root, files.scan_jobs, cache, context.progress)
    with Workers(count_workers(collector.scan_bytes, len(listing.files))) as workers:
        get_structure = workers.start(partial(_read_structure, files))
        from cub.repomap.repo_map import assemble_repo_map  # while another process reads

        facts = collector.collect(workers)
        context.progress(0, 1, STEP_RENDERING)
        return assemble_repo_map(files, facts, get_structure)


def _read_structure(files: ClassifiedFiles) -> ProjectStructure:
    from cub.repomap.outline.structure import read_structure

    return read_structure(files)


def _make_key(listing: FileListing, settings: MapSettings, header_tokens: int) -> str:
    """Return a key of everything that the text depends on: a file counts by its state."""
    parts = (_make_version(), astuple(settings), header_tokens, listing.omissions, listing.files)
    return sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


@cache
def _make_version() -> str:
    """Return a text that changes with cub's version, its code, and the installed packages."""
    here = Path(__file__).parent
    times = [
        (Path(folder) / name).stat().st_mtime_ns
        for folder, _, names in os.walk(here)
        for name in names
        if not folder.endswith("__pycache__")
    ]
    return f"{cub.__version__} {max(times)} {here.parent.parent.stat().st_mtime_ns}"
