"""The facts of all source files: from the cache, or scanned, by several processes where it pays."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cub.files.private import Keep, at_once
from cub.repomap.listing.listing import File
from cub.repomap.symbols.cache import Entry, is_settled, load, save
from cub.repomap.symbols.facts import FileFacts
from cub.repomap.symbols.scan import Job, scan

Progress = Callable[[int, int], None]  # bytes done, bytes to do

# A process costs about as much as scanning this many bytes; a spawned one starts a new Python.
_PAYS = 1_500_000 if sys.platform == "linux" else 6_000_000
_MOST_PROCESSES = 8
_FEW = 20  # files that are scanned again each time cost less than writing all anew
_CHUNK = 200_000  # bytes: small enough that processes end together


class Cache(NamedTuple):
    """Where facts are kept; `version` changes whenever a file could give other facts; `keep` is
    given the write.
    """

    path: Path
    version: str
    keep: Keep = at_once


def collect(
    root: Path,
    wanted: Mapping[File, Job],
    cache: Cache,
    progress: Progress,
    scanned: Mapping[File, FileFacts] | None = None,
) -> dict[str, FileFacts]:
    """The facts of the `wanted` files by path, in the order given; some are `scanned` already."""
    if not wanted:
        return {}
    now = time.time_ns()
    known = load(cache.path, cache.version)
    fresh = {file: job for file, job in wanted.items() if not _holds(known, file, job)}
    found = dict(scanned or {})
    found.update(_scanned(root, {f: job for f, job in fresh.items() if f not in found}, progress))
    facts = {f.path: found[f] if f in found else known[f.path].facts for f in wanted}
    changes = len(fresh) + len(known.keys() - facts.keys())
    if changes > _FEW or (changes and len(wanted) < 10 * _FEW):
        settled = (file for file in wanted if is_settled(file, now))
        entries = (Entry(file, wanted[file], facts[file.path]) for file in settled)
        cache.keep(partial(save, cache.path, cache.version, entries))
    return facts


def _holds(known: Mapping[str, Entry], file: File, job: Job) -> bool:
    entry = known.get(file.path)
    return entry is not None and entry.file == file and entry.job == job


def _scanned(
    root: Path, wanted: Mapping[File, Job], progress: Progress
) -> Iterator[tuple[File, FileFacts]]:
    total, done = sum(file.size for file in wanted), 0
    for chunk, facts in _results(os.fspath(root), list(_chunks(wanted)), total):
        done += sum(file.size for file, _ in chunk)
        progress(done, total)
        yield from ((file, found) for (file, _), found in zip(chunk, facts, strict=True))


_Chunk = list[tuple[File, Job]]


def _chunks(wanted: Mapping[File, Job]) -> Iterator[_Chunk]:
    chunk: _Chunk = []
    size = 0
    for file, job in wanted.items():
        chunk.append((file, job))
        size += file.size + 1_000
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _results(
    root: str, chunks: list[_Chunk], total: int
) -> Iterator[tuple[_Chunk, list[FileFacts]]]:
    processes = min(_cores(), _MOST_PROCESSES, len(chunks), 1 + total // _PAYS)
    if processes < 2:
        yield from ((chunk, _scan_all(root, [job for _, job in chunk])) for chunk in chunks)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    jobs = [[job for _, job in chunk] for chunk in chunks]
    done = 0
    try:
        with ProcessPoolExecutor(processes, context, initializer=_ignore_interrupts) as pool:
            for found in pool.map(_scan_all, [root] * len(jobs), jobs):
                yield chunks[done], found
                done += 1
    except (BrokenProcessPool, OSError):  # out of memory or of processes: go on alone
        yield from ((chunk, _scan_all(root, [job for _, job in chunk])) for chunk in chunks[done:])


def _scan_all(root: str, jobs: Sequence[Job]) -> list[FileFacts]:
    return [scan(root, job) for job in jobs]


def _ignore_interrupts() -> None:
    """Ctrl-C ends the parent, which ends its processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
