"""The sides of a file in a merge that git has not finished, and their ancestor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cub.errors import CubError
from cub.git.objects import Objects
from cub.git.worktree import top_level

_ANCESTOR, _OURS, _THEIRS = 1, 2, 3  # stages of the index (git-ls-files, --unmerged)


def unmerged(folder: Path, path: str) -> list[bytes]:
    """What `path` (relative to `folder`) was; nothing where git is not merging it."""
    if top_level(folder) is None:
        return []
    try:
        return list(_stages(folder, path))
    except CubError:
        return []


def _stages(folder: Path, path: str) -> Iterator[bytes]:
    with Objects(folder) as objects:
        for stage in (_OURS, _THEIRS, _ANCESTOR):
            found = objects.get(f":{stage}:./{path}")
            if found is not None and found.kind == "blob":
                yield found.data
