"""Maps as people get them: the whole file, header included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cub.actions.project_map import MapOptions, render_map_file
from cub.project.project import Project
from cub.repomap.listing.file_listing import FileListing
from cub.repomap.map_types import ProgressCallback, ignore_progress
from cub.repomap.outline.structure import read_structure
from cub.repomap.repo_map import RepoMap, assemble_repo_map
from cub.repomap.symbols.collect_facts import FactsCache, FactsCollector
from cub.repomap.symbols.file_facts import FileFacts, ScanJob
from cub.repomap.symbols.scan import classify_files
from cub.repomap.workers import Workers, count_workers

_LENGTH = re.compile(r"about (\d+) of (\d+) tokens")


def whole_map(root: Path, tokens: int = 1500) -> str:
    """What `cub map` writes; `root` has a folder `.cub` for caches."""
    return render_map_file(Project.load(root), MapOptions(tokens)).data.decode()


def collect(
    root: Path,
    jobs: Sequence[ScanJob],
    cache: FactsCache,
    progress: ProgressCallback = ignore_progress,
) -> dict[str, FileFacts]:
    """The facts of files as soon as they are there."""
    collector = FactsCollector(root, jobs, cache, progress)
    with Workers(count_workers(collector.scan_bytes, len(jobs))) as workers:
        return collector.collect(workers)


def surveyed(found: FileListing, cache: FactsCache) -> RepoMap:
    """All that is known of a listing, told by this process alone."""
    files = classify_files(found)
    facts = collect(found.root, files.scan_jobs, cache)
    return assemble_repo_map(files, facts, lambda: read_structure(files))


def told(text: str) -> tuple[int, int]:
    """The estimate and the budget that a map's header tells."""
    found = _LENGTH.search(text)
    assert found, text[:200]
    return int(found[1]), int(found[2])
