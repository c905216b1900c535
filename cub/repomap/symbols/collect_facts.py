"""Collect the facts of all source files: from the cache, or scanned by one or several processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.files.internal_files import ScheduleWrite, write_now
from cub.repomap.fork import can_fork, count_usable_cores, ignore_interrupts, run_in_fork
from cub.repomap.map_types import STEP_READING, ProgressCallback
from cub.repomap.symbols.file_facts import (
    FileFacts,
    ScanJob,
    load_facts_cache,
    save_facts_cache,
)
from cub.repomap.symbols.scan import scan_file

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor


# Scanning so many files again each time costs less than writing the whole cache.
_MAX_UNSAVED_FILES = 20


class FactsCache(NamedTuple):
    """Say where facts are kept; `write_cache` is given the write.

    `version` changes whenever a file could give other facts.
    """

    path: Path
    version: str
    write_cache: ScheduleWrite = write_now


class FactsCollector:
    """Collect facts from the cache, and from scans that start at once.

    With `is_parallel`, other processes scan, and this one is free for something else.
    """

    def __init__(
        self,
        root: Path,
        jobs: Sequence[ScanJob],
        cache: FactsCache,
        progress: ProgressCallback,
    ) -> None:
        """Start the scans of all files whose facts are not in the cache."""
        self._jobs, self._cache, self._progress = jobs, cache, progress
        self._start_ns = time.time_ns()
        self._cached = load_facts_cache(cache.path, cache.version) if jobs else {}
        self._waiting = [job for job in jobs if job not in self._cached]
        self._total = _estimate_cost(self._waiting)
        if self._total:
            progress(0, self._total, STEP_READING)
        self.is_parallel, self._results = _start_scan(os.fspath(root), self._waiting)

    def collect(self) -> dict[str, FileFacts]:
        """Return the facts of all jobs by path, in the order of the jobs; call it once."""
        finished, scanned = 0, dict[ScanJob, FileFacts]()
        for chunk, facts in self._results:
            finished += _estimate_cost(chunk)
            self._progress(finished, self._total, STEP_READING)
            scanned.update(zip(chunk, facts, strict=True))
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


# A process costs about as much as scanning this many bytes; a spawned one starts a new Python.
_BYTES_PER_PROCESS = 1_500_000 if sys.platform == "linux" else 6_000_000
_MAX_PROCESSES = 8
_MIN_FORK_BYTES = 150_000
_CHUNK_BYTES = 200_000  # so few that processes end together
_FILE_COST = 1_000  # bytes that take as long as an empty file

ScanChunk = list[ScanJob]
ScanResults = Iterator[tuple[ScanChunk, list[FileFacts]]]


def _estimate_cost(chunk: ScanChunk) -> int:
    """Return how long a scan takes, in bytes."""
    return sum(job.file.size + _FILE_COST for job in chunk)


def _start_scan(root: str, waiting: ScanChunk) -> tuple[bool, ScanResults]:
    """Return whether other processes scan, and an iterator over the results."""
    chunks = list(_split_chunks(waiting))
    total = sum(job.file.size for job in waiting)
    limit = 1 + total // _BYTES_PER_PROCESS
    processes = min(count_usable_cores(), _MAX_PROCESSES, len(chunks), limit)
    if processes > 1:
        return True, _scan_in_pool(root, chunks, processes)
    if total >= _MIN_FORK_BYTES and can_fork():
        return True, _scan_in_two(root, waiting)
    return False, _scan_here(root, chunks)


def _scan_here(root: str, chunks: Iterable[ScanChunk]) -> ScanResults:
    return ((chunk, _scan_all(root, chunk)) for chunk in chunks)


def _scan_in_two(root: str, waiting: ScanChunk) -> ScanResults:
    """Parse in another process; this one searches the other files when results are needed."""
    to_parse = [job for job in waiting if job.needs_parsing]
    get_facts = run_in_fork(partial(_scan_all, root, to_parse))
    rest = _split_chunks([job for job in waiting if not job.needs_parsing])
    return chain(_scan_here(root, rest), ((chunk, get_facts()) for chunk in [to_parse]))


def _scan_in_pool(root: str, chunks: list[ScanChunk], processes: int) -> ScanResults:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("fork" if can_fork() else "spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=ignore_interrupts)
    try:
        results = pool.map(_scan_all, [root] * len(chunks), chunks)
    except OSError:  # out of memory or of processes
        return _scan_here(root, chunks)
    return _iter_pool(root, chunks, pool, results)


def _iter_pool(
    root: str,
    chunks: list[ScanChunk],
    pool: ProcessPoolExecutor,
    results: Iterator[list[FileFacts]],
) -> ScanResults:
    from concurrent.futures.process import BrokenProcessPool

    finished = 0
    try:
        with pool:
            for facts in results:
                yield chunks[finished], facts
                finished += 1
    except (BrokenProcessPool, OSError):  # a process was killed: scan the rest here
        yield from _scan_here(root, chunks[finished:])


def _split_chunks(waiting: ScanChunk) -> Iterator[ScanChunk]:
    chunk: ScanChunk = []
    size = 0
    for job in waiting:
        chunk.append(job)
        size += job.file.size + _FILE_COST
        if size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _scan_all(root: str, jobs: Sequence[ScanJob]) -> list[FileFacts]:
    return [scan_file(root, job) for job in jobs]
