"""In which order a tree grows: what a newcomer learns most from comes first.

The annotated tree of folders: the same tree at any size, each size a part of the next.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import sqrt
from typing import NamedTuple

from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.outline.folders import (
    FolderNode,
    build_folder_nodes,
    collapse_chains,
    format_file_names,
)
from cub.repomap.safe_text import quote_path, round_count, to_one_line
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


class TreeStep(NamedTuple):
    """One more folder in the tree, or the lines of `names` of files in one that is there."""

    folder: FolderNode
    above: FolderNode
    level: int
    names: tuple[str, ...] = ()


class _Next(NamedTuple):
    """A step that can be taken, in the order of a heap: worth most, then files after folders."""

    worth: float
    order: tuple[bool, int, list[str]]
    step: TreeStep
    near: float


def order_tree_steps(root: FolderNode, descriptions: Mapping[str, str]) -> list[TreeStep]:
    """The steps from nothing to the whole tree; a folder comes after the one that it is in.

    Only as many as any budget can use are looked at, however large the tree is.
    """
    steps: list[TreeStep] = []
    heap = list(_inside(root, 0, 1.0, float("inf"), descriptions))
    heapify(heap)
    while heap and len(steps) < _MOST_STEPS:
        worth, _, step, near = heappop(heap)
        steps.append(step)
        if step.names:
            continue
        names = tuple(format_file_names(step.folder.sources))
        if names:
            telling = _NAMES * min(1, _SHORT / sum(map(estimate_tokens, names)))
            heappush(heap, _next(worth * telling, step._replace(names=names), near))
        if step.level + 1 < _LEVELS:
            for below in _inside(step.folder, step.level + 1, near, -worth, descriptions):
                heappush(heap, below)
    return steps


def _next(worth: float, step: TreeStep, near: float) -> _Next:
    return _Next(worth, (bool(step.names), step.level, step.folder.path.split("/")), step, near)


def _inside(
    above: FolderNode, level: int, near: float, most: float, described: Mapping[str, str]
) -> Iterator[_Next]:
    """The folders in one that is there, none of them worth more than that is."""
    collapse_chains(above)
    alike = Counter(map(_kin, above.folders))
    for folder in above.folders:
        closer = near * _nearness(folder, above, level)
        worth = closer * _worth(folder, len(above.folders), described)
        worth *= _ALIKE if alike[_kin(folder)] > _FEW else 1
        worth = min(most, worth if level else worth * _TOP)
        yield _next(-worth, TreeStep(folder, above, level), closer)


def _kin(folder: FolderNode) -> str:
    """What the names of templates, plugins or versions have in common."""
    found = _PREFIX.match(folder.name)
    return found[1] if found else folder.name


def _nearness(folder: FolderNode, above: FolderNode, level: int) -> float:
    """A level costs little for the folder that has most of the source of the one above."""
    if level == 0:
        return 1
    share = folder.source_count / above.source_count if above.source_count else 0
    return _DEEPER + (1 - _DEEPER) * share


def _worth(folder: FolderNode, siblings: int, described: Mapping[str, str]) -> float:
    worth = sqrt(folder.source_count + 0.1 * folder.file_count)
    worth *= _DESCRIBED if folder.find_description(described) else 1
    worth *= _PACKAGE if folder.is_package else 1
    worth *= _BESIDE if folder.is_supporting else 1
    return worth * sqrt(_MANY / siblings) if siblings > _MANY else worth


# Beside a description, a count has to be worth its tokens.
_TREE_MANY = 100


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The steps in which the tree grows, and for each number of steps the least cost from there on.

    What a budget leaves out is always the end of `steps`: a greater one takes no folder away.
    """

    root: FolderNode
    steps: Sequence[TreeStep]
    descriptions: Mapping[str, str]
    costs: Sequence[int]

    @property
    def total_tokens(self) -> int:
        """What the whole tree costs."""
        return self.costs[-1]

    def render_lines(self, budget: int) -> list[str]:
        """The lines of the largest tree that costs at most `budget` estimated tokens."""
        part = _RenderedTree(self.descriptions)
        for step in self.steps[: max(0, bisect_right(self.costs, budget) - 1)]:
            part.add_step(step)
        return list(part.render_lines(self.root))


def build_folder_tree(
    paths: Sequence[str],
    descriptions: Mapping[str, str],
    kind_of: Callable[[str], FileKind] | None = None,
) -> FolderTree:
    """The tree of `paths`, with a line on each folder that is `descriptions` by its path.

    `kind_of` tells the kind of each file, for a caller who knows it already.
    """
    root = build_folder_nodes(paths, kind_of or FileClassifier(paths).classify, descriptions)
    steps = order_tree_steps(root, descriptions)
    return FolderTree(root, steps, descriptions, _costs(steps, descriptions))


def _costs(steps: Sequence[TreeStep], described: Mapping[str, str]) -> list[int]:
    """A line costs the same wherever it stands, because no token goes over white space."""
    part, total, costs = _RenderedTree(described), 0, [0]
    for step in steps:
        touched = (step.folder,) if step.names else (step.above, step.folder)
        total -= sum(map(part.measure_folder, touched))
        part.add_step(step)
        total += sum(map(part.measure_folder, touched)) + sum(map(estimate_tokens, step.names))
        costs.append(total)
    for at in range(len(costs) - 2, -1, -1):
        costs[at] = min(costs[at], costs[at + 1])
    return costs


@dataclass(slots=True)
class _RenderedTree:
    """What is there of a tree: `below` counts the folders in each, `file_names` are those with
    files.
    """

    descriptions: Mapping[str, str]
    folders: set[FolderNode] = field(default_factory=set)
    below: dict[FolderNode, int] = field(default_factory=dict)
    file_names: dict[FolderNode, Sequence[str]] = field(default_factory=dict)

    def add_step(self, step: TreeStep) -> None:
        """Take one step more."""
        if step.names:
            self.file_names[step.folder] = step.names
        else:
            self.folders.add(step.folder)
            self.below[step.above] = self.below.get(step.above, 0) + 1

    def measure_folder(self, folder: FolderNode) -> int:
        """What the first and the last line of a folder cost, which change with what is in it."""
        lines = [self._head(folder)] if folder in self.folders else []
        return sum(map(estimate_tokens, (*lines, *self._rest(folder))))

    def render_lines(self, root: FolderNode) -> Iterator[str]:
        """All lines of the tree."""
        waiting: list[tuple[int, FolderNode | str]] = [(-1, root)]
        while waiting:
            level, item = waiting.pop()
            if isinstance(item, str):
                yield "  " * level + item
                continue
            if item is not root:
                yield "  " * level + self._head(item)
            inside = [below for below in item.folders if below in self.folders]
            rows: tuple[FolderNode | str, ...] = (
                *self.file_names.get(item, ()),
                *inside,
                *self._rest(item),
            )
            waiting.extend((level + 1, row) for row in reversed(rows))

    def _head(self, folder: FolderNode) -> str:
        description = to_one_line(folder.find_description(self.descriptions))
        size = self._size(folder, _TREE_MANY if description else 0)
        notes = f"{description} ({size})" if description and size else description or size
        return quote_path(f"{folder.name}/") + (f"  {notes}" if notes else "")

    def _size(self, folder: FolderNode, least: int) -> str:
        """How many files are in it, where the tree shows too little of them."""
        unseen = folder not in self.file_names and (
            len(folder.files) >= 10 or not self.below.get(folder)
        )
        size = round_count(folder.file_count) if unseen and folder.file_count >= least else ""
        return size and f"{size} files"

    def _rest(self, folder: FolderNode) -> list[str]:
        shown = self.below.get(folder, 0)
        if not 0 < shown < len(folder.folders):
            return []
        more = round_count(len(folder.folders) - shown)
        return [f"... {more} more" if more else "..."]
