"""Scans many files, by several processes where that pays."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from cub.repomap.listing.listing import File
from cub.repomap.meanwhile import can_fork, cores, ignore_interrupts, meanwhile
from cub.repomap.symbols.facts import FileFacts
from cub.repomap.symbols.scan import Job, scan

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

# A process costs about as much as scanning this many bytes; a spawned one starts a new Python.
_PAYS = 1_500_000 if sys.platform == "linux" else 6_000_000
_MOST_PROCESSES = 8
_LITTLE = 150_000  # bytes: less is scanned as soon as there is a process for it
_CHUNK = 200_000  # bytes: small enough that processes end together

Chunk = list[tuple[File, Job]]
Results = Iterator[tuple[Chunk, list[FileFacts]]]


def started(root: str, waiting: Chunk, total: int) -> tuple[bool, Results]:
    """Whether other processes scan, and what gives their results."""
    chunks = list(_chunks(waiting))
    processes = min(cores(), _MOST_PROCESSES, len(chunks), 1 + total // _PAYS)
    if processes > 1:
        return True, _by_several(root, chunks, processes)
    if total >= _LITTLE and can_fork():
        return True, _by_two(root, waiting)
    return False, _by_one(root, chunks)


def _by_one(root: str, chunks: Iterable[Chunk]) -> Results:
    return ((chunk, _scan_all(root, _jobs(chunk))) for chunk in chunks)


def _by_two(root: str, waiting: Chunk) -> Results:
    """Another process parses; this one, when it asks for the results, searches the rest first."""
    parsed = [row for row in waiting if row[1].parsed]
    found = meanwhile(partial(_scan_all, root, _jobs(parsed)))
    rest = _chunks([row for row in waiting if not row[1].parsed])
    return chain(_by_one(root, rest), ((chunk, found()) for chunk in [parsed]))


def _by_several(root: str, chunks: list[Chunk], processes: int) -> Results:
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
    root: str, chunks: list[Chunk], pool: ProcessPoolExecutor, found: Iterator[list[FileFacts]]
) -> Results:
    from concurrent.futures.process import BrokenProcessPool

    done = 0
    try:
        with pool:
            for facts in found:
                yield chunks[done], facts
                done += 1
    except (BrokenProcessPool, OSError):  # one was killed: go on alone
        yield from _by_one(root, chunks[done:])


def _chunks(waiting: Chunk) -> Iterator[Chunk]:
    chunk: Chunk = []
    size = 0
    for file, job in waiting:
        chunk.append((file, job))
        size += file.size + 1_000
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _jobs(chunk: Chunk) -> list[Job]:
    return [job for _, job in chunk]


def _scan_all(root: str, jobs: Sequence[Job]) -> list[FileFacts]:
    return [scan(root, job) for job in jobs]
