"""Maps as people get them: the whole file, header included."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from cub.actions.project_map import Wanted, make_map
from cub.project.project import Project
from cub.repomap.listing.listing import File, Listing
from cub.repomap.progress import Progress, no_progress
from cub.repomap.sifted import sifted
from cub.repomap.structure_reading import structure_of
from cub.repomap.survey import RepoMap, survey
from cub.repomap.symbols.collect import Cache, Collecting
from cub.repomap.symbols.facts import FileFacts
from cub.repomap.symbols.scan import Job

_LENGTH = re.compile(r"about (\d+) of (\d+) tokens")


def whole_map(root: Path, tokens: int = 1500) -> str:
    """What `cub map` writes; `root` has a folder `.cub` for caches."""
    return make_map(Project.load(root), Wanted(tokens)).data.decode()


def collect(
    root: Path,
    jobs: Mapping[File, Job],
    cache: Cache,
    progress: Progress = no_progress,
) -> dict[str, FileFacts]:
    """The facts of files as soon as they are there."""
    return Collecting(root, jobs, cache, progress).facts()


def surveyed(found: Listing, cache: Cache) -> RepoMap:
    """All that is known of a listing, told by this process alone."""
    files = sifted(found)
    facts = collect(found.root, files.jobs, cache)
    return survey(files, facts, lambda: structure_of(files))


def told(text: str) -> tuple[int, int]:
    """The estimate and the budget that a map's header tells."""
    found = _LENGTH.search(text)
    assert found, text[:200]
    return int(found[1]), int(found[2])
