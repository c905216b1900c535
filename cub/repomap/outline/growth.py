"""In which order a tree grows: what a newcomer learns most from comes first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import heapify, heappop, heappush
from math import sqrt
from typing import NamedTuple

from cub.repomap.outline.file_names import file_names
from cub.repomap.outline.folders import Folder, join_chains
from cub.tokens import estimate_tokens

# No tree has more steps: together they cost more than anybody has for one.
_MOST_STEPS = 2_500
# Deeper than this nothing is shown: by then, a search finds things sooner than a tree.
_LEVELS = 8
_DEEPER = 0.6  # what a level costs a folder that has little of what is above it
_TOP = 4.0  # the folders of the root tell where to begin
_BESIDE = 0.3  # tests, documentation and examples
_DESCRIBED = 1.5
_PACKAGE = 1.2
_NAMES, _SHORT = 0.4, 12  # the names of files beside their folder, if they cost few tokens
_ALIKE, _FEW = 0.4, 5  # more siblings than a few that are named alike
_PREFIX = re.compile(r"([A-Za-z]+)[-_.\d]")
_MANY = 12  # among more siblings than this, each one tells less


class Step(NamedTuple):
    """One more folder in the tree, or the lines of `names` of files in one that is there."""

    folder: Folder
    above: Folder
    level: int
    names: tuple[str, ...] = ()


class _Next(NamedTuple):
    """A step that can be taken, in the order of a heap: worth most, then files after folders."""

    worth: float
    order: tuple[bool, int, list[str]]
    step: Step
    near: float


def growth(root: Folder, described: Mapping[str, str]) -> list[Step]:
    """The steps from nothing to the whole tree; a folder comes after the one that it is in.

    Only as many as any budget can use are looked at, however large the tree is.
    """
    steps: list[Step] = []
    heap = list(_inside(root, 0, 1.0, float("inf"), described))
    heapify(heap)
    while heap and len(steps) < _MOST_STEPS:
        worth, _, step, near = heappop(heap)
        steps.append(step)
        if step.names:
            continue
        names = tuple(file_names(step.folder.sources))
        if names:
            telling = _NAMES * min(1, _SHORT / sum(map(estimate_tokens, names)))
            heappush(heap, _next(worth * telling, step._replace(names=names), near))
        if step.level + 1 < _LEVELS:
            for below in _inside(step.folder, step.level + 1, near, -worth, described):
                heappush(heap, below)
    return steps


def _next(worth: float, step: Step, near: float) -> _Next:
    return _Next(worth, (bool(step.names), step.level, step.folder.path.split("/")), step, near)


def _inside(
    above: Folder, level: int, near: float, most: float, described: Mapping[str, str]
) -> Iterator[_Next]:
    """The folders in one that is there, none of them worth more than that is."""
    join_chains(above)
    alike = Counter(map(_kin, above.folders))
    for folder in above.folders:
        closer = near * _nearness(folder, above, level)
        worth = closer * _worth(folder, len(above.folders), described)
        worth *= _ALIKE if alike[_kin(folder)] > _FEW else 1
        worth = min(most, worth if level else worth * _TOP)
        yield _next(-worth, Step(folder, above, level), closer)


def _kin(folder: Folder) -> str:
    """What the names of templates, plugins or versions have in common."""
    found = _PREFIX.match(folder.name)
    return found[1] if found else folder.name


def _nearness(folder: Folder, above: Folder, level: int) -> float:
    """A level costs little for the folder that has most of the source of the one above."""
    if level == 0:
        return 1
    share = folder.source / above.source if above.source else 0
    return _DEEPER + (1 - _DEEPER) * share


def _worth(folder: Folder, siblings: int, described: Mapping[str, str]) -> float:
    worth = sqrt(folder.source + 0.1 * folder.count)
    worth *= _DESCRIBED if folder.described(described) else 1
    worth *= _PACKAGE if folder.package else 1
    worth *= _BESIDE if folder.is_beside else 1
    return worth * sqrt(_MANY / siblings) if siblings > _MANY else worth
