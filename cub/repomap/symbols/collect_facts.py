"""Collect the facts of all source files: from the cache, or scanned, here or elsewhere."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cub.files.internal_files import ScheduleWrite, write_now
from cub.repomap.map_types import STEP_READING, ProgressCallback
from cub.repomap.symbols.file_facts import (
    FileFacts,
    ScanJob,
    load_facts_cache,
    save_facts_cache,
)
from cub.repomap.symbols.scan import scan_file
from cub.repomap.workers import Workers

# Scanning so many files again each time costs less than writing the whole cache.
_MAX_UNSAVED_FILES = 20
_CHUNK_BYTES = 200_000  # so few that processes end together
_FILE_COST = 1_000  # bytes that take as long as an empty file

ScanChunk = list[ScanJob]


class FactsCache(NamedTuple):
    """Say where facts are kept; `write_cache` is given the write.

    `version` changes whenever a file could give other facts.
    """

    path: Path
    version: str
    write_cache: ScheduleWrite = write_now


class FactsCollector:
    """Collect facts from the cache, and from scans of the files that have none there."""

    def __init__(
        self,
        root: Path,
        jobs: Sequence[ScanJob],
        cache: FactsCache,
        progress: ProgressCallback,
    ) -> None:
        self._root, self._jobs, self._cache, self._progress = root, jobs, cache, progress
        self._start_ns = time.time_ns()
        self._cached = load_facts_cache(cache.path, cache.version) if jobs else {}
        self._waiting = [job for job in jobs if job not in self._cached]

    @property
    def scan_bytes(self) -> int:
        """Return the size of all files that have to be scanned."""
        return sum(job.file.size for job in self._waiting)

    def collect(self, workers: Workers) -> dict[str, FileFacts]:
        """Return the facts of all jobs by path, in the order of the jobs.

        Several workers scan; if there is only one, it has other work, and this process scans.
        """
        total, finished, scanned = _estimate_cost(self._waiting), 0, dict[ScanJob, FileFacts]()
        if total:
            self._progress(0, total, STEP_READING)
        chunks = _split_chunks(self._waiting)
        scans: list[Callable[[], list[FileFacts]]]
        scans = [partial(_scan_all, os.fspath(self._root), chunk) for chunk in chunks]
        if workers.count > 1:
            scans = [workers.start(scan) for scan in scans]
        for chunk, get_facts in zip(chunks, scans, strict=True):
            scanned.update(zip(chunk, get_facts(), strict=True))
            finished += _estimate_cost(chunk)
            self._progress(finished, total, STEP_READING)
        all_facts = {job: scanned.get(job) or self._cached[job] for job in self._jobs}
        self._save(all_facts)
        return {job.file.path: facts for job, facts in all_facts.items()}

    def _save(self, facts: Mapping[ScanJob, FileFacts]) -> None:
        changes = max(len(self._waiting), len(self._cached.keys() - facts.keys()))
        is_small = len(facts) < 10 * _MAX_UNSAVED_FILES
        if changes > _MAX_UNSAVED_FILES or (changes and is_small):
            path, version, write_cache = self._cache
            now = self._start_ns
            reliable = {job: row for job, row in facts.items() if job.file.has_reliable_mtime(now)}
            write_cache(partial(save_facts_cache, path, version, reliable))


def _estimate_cost(chunk: ScanChunk) -> int:
    """Return how long a scan takes, in bytes."""
    return sum(job.file.size + _FILE_COST for job in chunk)


def _split_chunks(waiting: ScanChunk) -> list[ScanChunk]:
    chunks, cost = defaultdict[int, ScanChunk](list), 0
    for job in waiting:
        chunks[cost // _CHUNK_BYTES].append(job)
        cost += _estimate_cost([job])
    return list(chunks.values())


def _scan_all(root: str, jobs: Sequence[ScanJob]) -> list[FileFacts]:
    return [scan_file(root, job) for job in jobs]
