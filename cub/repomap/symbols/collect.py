"""The facts of all source files: from the cache, or scanned."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cub.files.private import Keep, at_once
from cub.repomap.listing.listing import File
from cub.repomap.progress import READING, Progress
from cub.repomap.symbols.cache import Entry, load, save
from cub.repomap.symbols.facts import FileFacts
from cub.repomap.symbols.scan import Job
from cub.repomap.symbols.scanning import started

_FEW = 20  # files that are scanned again each time cost less than writing all anew


class Cache(NamedTuple):
    """Where facts are kept; `version` changes whenever a file could give other facts; `keep` is
    given the write.
    """

    path: Path
    version: str
    keep: Keep = at_once


class Collecting:
    """The facts of files on their way: from the cache, and scanned from now on.

    With `elsewhere`, other processes do that, and this one has time for something else.
    """

    def __init__(
        self,
        root: Path,
        wanted: Mapping[File, Job],
        cache: Cache,
        progress: Progress,
        scanned: Mapping[File, FileFacts] | None = None,
    ) -> None:
        """Some of the `wanted` files may be `scanned` already."""
        self._wanted, self._cache, self._progress = wanted, cache, progress
        self._now = time.time_ns()
        self._known = load(cache.path, cache.version) if wanted else {}
        self._fresh = {f: job for f, job in wanted.items() if not _holds(self._known, f, job)}
        self._found = dict(scanned or {})
        waiting = [(f, job) for f, job in self._fresh.items() if f not in self._found]
        self._total = sum(file.size for file, _ in waiting)
        self.elsewhere, self._results = started(os.fspath(root), waiting, self._total)

    def facts(self) -> dict[str, FileFacts]:
        """The facts of the wanted files by path, in the order given; once."""
        done = 0
        if self._total:
            self._progress(done, self._total, READING)
        for chunk, facts in self._results:
            done += sum(file.size for file, _ in chunk)
            self._progress(done, self._total, READING)
            self._found.update((file, found) for (file, _), found in zip(chunk, facts, strict=True))
        facts_of = {file.path: self._of(file) for file in self._wanted}
        self._keep(facts_of)
        return facts_of

    def _of(self, file: File) -> FileFacts:
        return self._found[file] if file in self._found else self._known[file.path].facts

    def _keep(self, facts: Mapping[str, FileFacts]) -> None:
        changes = len(self._fresh) + len(self._known.keys() - facts.keys())
        if changes > _FEW or (changes and len(self._wanted) < 10 * _FEW):
            path, version, keep = self._cache
            settled = (file for file in self._wanted if file.is_settled(self._now))
            entries = (Entry(file, self._wanted[file], facts[file.path]) for file in settled)
            keep(partial(save, path, version, entries))


def _holds(known: Mapping[str, Entry], file: File, job: Job) -> bool:
    entry = known.get(file.path)
    return entry is not None and entry.file == file and entry.job == job
