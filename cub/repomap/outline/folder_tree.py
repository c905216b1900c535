"""Build the annotated tree of folders: each size of it is a part of the next.

It grows in the order of what a newcomer learns most from.
"""

from __future__ import annotations

import re
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

_MIN_COUNT = 100  # beside a description, a smaller count is not worth its tokens


@dataclass(frozen=True, slots=True)
class FolderTree:
    """Hold the steps in which the tree grows.

    `costs` has the cost of each number of steps. A budget leaves out the end of `steps`: a larger
    one takes no folder away.
    """

    root: FolderNode
    steps: Sequence[TreeStep]
    descriptions: Mapping[str, str]
    costs: Sequence[int]

    def render_lines(self, budget: int) -> list[str]:
        """Return the lines of the largest tree that costs at most `budget` estimated tokens."""
        part = _RenderedTree(self.descriptions)
        fitting = (number for number, cost in enumerate(self.costs) if cost <= budget)
        for step in self.steps[: max(fitting, default=0)]:
            part.add_step(step)
        return list(part.render_lines(self.root))


def build_folder_tree(
    paths: Sequence[str],
    descriptions: Mapping[str, str],
    kind_of: Callable[[str], FileKind] | None = None,
) -> FolderTree:
    """Build the tree of `paths`, with the `descriptions` of folders by path.

    `kind_of` returns the kind of a file, if the caller has a classifier already.
    """
    root = build_folder_nodes(paths, kind_of or FileClassifier(paths).classify, descriptions)
    steps = order_tree_steps(root, descriptions)
    return FolderTree(root, steps, descriptions, _measure_steps(steps, descriptions))


def _measure_steps(steps: Sequence[TreeStep], descriptions: Mapping[str, str]) -> list[int]:
    """Sum up the lines, which cost the same anywhere: no token includes a newline."""
    part, total, costs = _RenderedTree(descriptions), 0, [0]
    for step in steps:
        changed = (step.folder,) if step.names else (step.above, step.folder)
        total -= sum(map(part.measure_folder, changed))
        part.add_step(step)
        total += sum(map(part.measure_folder, changed)) + sum(map(estimate_tokens, step.names))
        costs.append(total)
    return costs


@dataclass(slots=True)
class _RenderedTree:
    """Hold a part of the tree: its folders, how many are in each, and the file names shown."""

    descriptions: Mapping[str, str]
    folders: set[FolderNode] = field(default_factory=set)
    counts: dict[FolderNode, int] = field(default_factory=dict)
    file_names: dict[FolderNode, Sequence[str]] = field(default_factory=dict)

    def add_step(self, step: TreeStep) -> None:
        """Add a folder, or the names of files in one."""
        if step.names:
            self.file_names[step.folder] = step.names
        else:
            self.folders.add(step.folder)
            self.counts[step.above] = self.counts.get(step.above, 0) + 1

    def measure_folder(self, folder: FolderNode) -> int:
        """Return the cost of a folder's first and last line, which depend on what is in it."""
        lines = [self._format_head(folder)] if folder in self.folders else []
        return sum(map(estimate_tokens, (*lines, *self._format_rest(folder))))

    def render_lines(self, root: FolderNode) -> Iterator[str]:
        """Yield all lines of the tree."""
        waiting: list[tuple[int, FolderNode | str]] = [(-1, root)]
        while waiting:
            level, item = waiting.pop()
            if isinstance(item, str):
                yield "  " * level + item
                continue
            if item is not root:
                yield "  " * level + self._format_head(item)
            inside = (below for below in item.folders if below in self.folders)
            names, rest = self.file_names.get(item, ()), self._format_rest(item)
            rows: list[FolderNode | str] = [*names, *inside, *rest]
            waiting.extend((level + 1, row) for row in reversed(rows))

    def _format_head(self, folder: FolderNode) -> str:
        description = to_one_line(folder.find_description(self.descriptions))
        size = self._format_size(folder, _MIN_COUNT if description else 0)
        notes = f"{description} ({size})" if description and size else description or size
        return quote_path(f"{folder.name}/") + (f"  {notes}" if notes else "")

    def _format_size(self, folder: FolderNode, least: int) -> str:
        """Return how many files are in a folder if the tree shows too few of them; else ""."""
        hides_files = folder not in self.file_names and (
            len(folder.files) >= 10 or not self.counts.get(folder)
        )
        size = round_count(folder.file_count) if hides_files and folder.file_count >= least else ""
        return size and f"{size} files"

    def _format_rest(self, folder: FolderNode) -> list[str]:
        count = self.counts.get(folder, 0)
        if not 0 < count < len(folder.folders):
            return []
        more = round_count(len(folder.folders) - count)
        return [f"... {more} more" if more else "..."]


_MAX_STEPS = 2_500  # together they cost more than any budget
_MAX_LEVELS = 8  # deeper, a search finds things sooner than a tree
_DEEPER = 0.6  # for a level, if the folder has little of what is above it
_TOP = 4.0  # the folders of the root tell where to start
_SUPPORTING = 0.3  # tests, documentation and examples
_DESCRIBED = 1.5
_PACKAGE = 1.2
_NAMES, _SHORT_NAMES_TOKENS = 0.4, 12  # names of files, if they cost few tokens
_ALIKE, _MAX_ALIKE = 0.4, 5  # more siblings with similar names tell less each
_PREFIX = re.compile(r"([A-Za-z]+)[-_.\d]")
_MAX_SIBLINGS = 12  # more siblings tell less each


class TreeStep(NamedTuple):
    """Describe one more folder in the tree, or the lines of `names` of files in one."""

    folder: FolderNode
    above: FolderNode
    level: int
    names: tuple[str, ...] = ()


class _Candidate(NamedTuple):
    """Hold a possible step in the order of a heap: worth most, then files after folders."""

    negative_worth: float
    order: tuple[bool, int, list[str]]
    step: TreeStep
    nearness: float


def order_tree_steps(root: FolderNode, descriptions: Mapping[str, str]) -> list[TreeStep]:
    """Return the steps to the whole tree, or to all that a budget can use; outer folders first."""
    steps: list[TreeStep] = []
    heap = list(_list_candidates(root, 0, 1.0, float("inf"), descriptions))
    heapify(heap)
    while heap and len(steps) < _MAX_STEPS:
        worth, _, step, nearness = heappop(heap)
        steps.append(step)
        if step.names:
            continue
        names = tuple(format_file_names(step.folder.sources))
        if names:
            factor = _NAMES * min(1, _SHORT_NAMES_TOKENS / sum(map(estimate_tokens, names)))
            step_with_names = step._replace(names=names)
            heappush(heap, _make_candidate(worth * factor, step_with_names, nearness))
        if step.level + 1 < _MAX_LEVELS:
            inner = _list_candidates(step.folder, step.level + 1, nearness, -worth, descriptions)
            for candidate in inner:
                heappush(heap, candidate)
    return steps


def _make_candidate(negative_worth: float, step: TreeStep, nearness: float) -> _Candidate:
    order = (bool(step.names), step.level, step.folder.path.split("/"))
    return _Candidate(negative_worth, order, step, nearness)


def _list_candidates(
    above: FolderNode, level: int, nearness: float, most: float, descriptions: Mapping[str, str]
) -> Iterator[_Candidate]:
    """Yield the folders in one of the tree, none of them worth more than that one."""
    collapse_chains(above)
    alike = Counter(map(_get_name_prefix, above.folders))
    for folder in above.folders:
        inner_nearness = nearness * _compute_nearness(folder, above, level)
        worth = inner_nearness * _compute_worth(folder, len(above.folders), descriptions)
        worth *= _ALIKE if alike[_get_name_prefix(folder)] > _MAX_ALIKE else 1
        worth = min(most, worth if level else worth * _TOP)
        yield _make_candidate(-worth, TreeStep(folder, above, level), inner_nearness)


def _get_name_prefix(folder: FolderNode) -> str:
    """Return what the names of templates, plugins or versions have in common."""
    match = _PREFIX.match(folder.name)
    return match[1] if match else folder.name


def _compute_nearness(folder: FolderNode, above: FolderNode, level: int) -> float:
    """Return a factor that is near 1 for the folder with most of the source of the one above."""
    if level == 0:
        return 1
    share = folder.source_count / above.source_count if above.source_count else 0
    return _DEEPER + (1 - _DEEPER) * share


def _compute_worth(folder: FolderNode, siblings: int, descriptions: Mapping[str, str]) -> float:
    worth = sqrt(folder.source_count + 0.1 * folder.file_count)
    worth *= _DESCRIBED if folder.find_description(descriptions) else 1
    worth *= _PACKAGE if folder.is_package else 1
    worth *= _SUPPORTING if folder.is_supporting else 1
    return worth * sqrt(_MAX_SIBLINGS / siblings) if siblings > _MAX_SIBLINGS else worth
