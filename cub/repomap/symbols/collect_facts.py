"""The facts of all source files: from the cache, or scanned.

Scans many files, by several processes where that pays.
"""

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
from cub.repomap.listing.file_listing import ListedFile
from cub.repomap.map_types import STEP_READING, ProgressCallback
from cub.repomap.symbols.file_facts import (
    CachedFacts,
    FileFacts,
    ScanJob,
    load_facts_cache,
    save_facts_cache,
)
from cub.repomap.symbols.scan import scan_file

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor


_FEW = 20  # files that are scanned again each time cost less than writing all anew


class FactsCache(NamedTuple):
    """Where facts are kept; `version` changes whenever a file could give other facts; `write_cache`
    is given the write.
    """

    path: Path
    version: str
    write_cache: ScheduleWrite = write_now


class FactsCollector:
    """The facts of files on their way: from the cache, and scanned from now on.

    With `is_parallel`, other processes do that, and this one has time for something else.
    """

    def __init__(
        self,
        root: Path,
        wanted: Mapping[ListedFile, ScanJob],
        cache: FactsCache,
        progress: ProgressCallback,
        scanned: Mapping[ListedFile, FileFacts] | None = None,
    ) -> None:
        """Some of the `wanted` files may be `scanned` already."""
        self._wanted, self._cache, self._progress = wanted, cache, progress
        self._now = time.time_ns()
        self._known = load_facts_cache(cache.path, cache.version) if wanted else {}
        self._fresh = {f: job for f, job in wanted.items() if not _holds(self._known, f, job)}
        self._found = dict(scanned or {})
        waiting = [(f, job) for f, job in self._fresh.items() if f not in self._found]
        self._total = sum(file.size for file, _ in waiting)
        self.is_parallel, self._results = start_scan(os.fspath(root), waiting, self._total)

    def collect(self) -> dict[str, FileFacts]:
        """The facts of the wanted files by path, in the order given; once."""
        done = 0
        if self._total:
            self._progress(done, self._total, STEP_READING)
        for chunk, facts in self._results:
            done += sum(file.size for file, _ in chunk)
            self._progress(done, self._total, STEP_READING)
            self._found.update((file, found) for (file, _), found in zip(chunk, facts, strict=True))
        facts_of = {file.path: self._of(file) for file in self._wanted}
        self._keep(facts_of)
        return facts_of

    def _of(self, file: ListedFile) -> FileFacts:
        return self._found[file] if file in self._found else self._known[file.path].facts

    def _keep(self, facts: Mapping[str, FileFacts]) -> None:
        changes = len(self._fresh) + len(self._known.keys() - facts.keys())
        if changes > _FEW or (changes and len(self._wanted) < 10 * _FEW):
            path, version, keep = self._cache
            settled = (file for file in self._wanted if file.has_reliable_mtime(self._now))
            entries = (CachedFacts(file, self._wanted[file], facts[file.path]) for file in settled)
            keep(partial(save_facts_cache, path, version, entries))


def _holds(known: Mapping[str, CachedFacts], file: ListedFile, job: ScanJob) -> bool:
    entry = known.get(file.path)
    return entry is not None and entry.file == file and entry.job == job


# A process costs about as much as scanning this many bytes; a spawned one starts a new Python.
_PAYS = 1_500_000 if sys.platform == "linux" else 6_000_000
_MOST_PROCESSES = 8
_LITTLE = 150_000  # bytes: less is scanned as soon as there is a process for it
_CHUNK = 200_000  # bytes: small enough that processes end together

ScanChunk = list[tuple[ListedFile, ScanJob]]
ScanResults = Iterator[tuple[ScanChunk, list[FileFacts]]]


def start_scan(root: str, waiting: ScanChunk, total: int) -> tuple[bool, ScanResults]:
    """Whether other processes scan, and what gives their results."""
    chunks = list(_chunks(waiting))
    processes = min(count_usable_cores(), _MOST_PROCESSES, len(chunks), 1 + total // _PAYS)
    if processes > 1:
        return True, _by_several(root, chunks, processes)
    if total >= _LITTLE and can_fork():
        return True, _by_two(root, waiting)
    return False, _by_one(root, chunks)


def _by_one(root: str, chunks: Iterable[ScanChunk]) -> ScanResults:
    return ((chunk, _scan_all(root, _jobs(chunk))) for chunk in chunks)


def _by_two(root: str, waiting: ScanChunk) -> ScanResults:
    """Another process parses; this one, when it asks for the results, searches the rest first."""
    parsed = [row for row in waiting if row[1].needs_parsing]
    found = run_in_fork(partial(_scan_all, root, _jobs(parsed)))
    rest = _chunks([row for row in waiting if not row[1].needs_parsing])
    return chain(_by_one(root, rest), ((chunk, found()) for chunk in [parsed]))


def _by_several(root: str, chunks: list[ScanChunk], processes: int) -> ScanResults:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("fork" if can_fork() else "spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=ignore_interrupts)
    try:
        found = pool.map(_scan_all, [root] * len(chunks), map(_jobs, chunks))
    except OSError:  # out of memory or of processes
        return _by_one(root, chunks)
    return _from_several(root, chunks, pool, found)


def _from_several(
    root: str, chunks: list[ScanChunk], pool: ProcessPoolExecutor, found: Iterator[list[FileFacts]]
) -> ScanResults:
    from concurrent.futures.process import BrokenProcessPool

    done = 0
    try:
        with pool:
            for facts in found:
                yield chunks[done], facts
                done += 1
    except (BrokenProcessPool, OSError):  # one was killed: go on alone
        yield from _by_one(root, chunks[done:])


def _chunks(waiting: ScanChunk) -> Iterator[ScanChunk]:
    chunk: ScanChunk = []
    size = 0
    for file, job in waiting:
        chunk.append((file, job))
        size += file.size + 1_000
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _jobs(chunk: ScanChunk) -> list[ScanJob]:
    return [job for _, job in chunk]


def _scan_all(root: str, jobs: Sequence[ScanJob]) -> list[FileFacts]:
    return [scan_file(root, job) for job in jobs]
