"""The annotated tree of folders: the same tree at any size, each size a part of the next."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cub.repomap.listing.kinds import Kind, Kinds
from cub.repomap.outline.folders import Folder, folder_tree
from cub.repomap.outline.growth import Step, growth
from cub.repomap.outline.words import about, one_line, shown_path
from cub.tokens import estimate_tokens

# Beside a description, a count has to be worth its tokens.
_MANY = 100


@dataclass(frozen=True, slots=True)
class Tree:
    """The steps in which the tree grows, and for each number of steps the least cost from there on.

    What a budget leaves out is always the end of `steps`: a greater one takes no folder away.
    """

    root: Folder
    steps: Sequence[Step]
    described: Mapping[str, str]
    costs: Sequence[int]

    @property
    def tokens(self) -> int:
        """What the whole tree costs."""
        return self.costs[-1]

    def lines(self, budget: int) -> list[str]:
        """The lines of the largest tree that costs at most `budget` estimated tokens."""
        part = _Part(self.described)
        for step in self.steps[: max(0, bisect_right(self.costs, budget) - 1)]:
            part.take(step)
        return list(part.lines(self.root))


def outline(
    paths: Sequence[str],
    described: Mapping[str, str],
    kind_of: Callable[[str], Kind] | None = None,
) -> Tree:
    """The tree of `paths`, with a line on each folder that is `described` by its path.

    `kind_of` tells the kind of each file, for a caller who knows it already.
    """
    root = folder_tree(paths, kind_of or Kinds(paths).of, described)
    steps = growth(root, described)
    return Tree(root, steps, described, _costs(steps, described))


def _costs(steps: Sequence[Step], described: Mapping[str, str]) -> list[int]:
    """A line costs the same wherever it stands, because no token goes over white space."""
    part, total, costs = _Part(described), 0, [0]
    for step in steps:
        touched = (step.folder,) if step.names else (step.above, step.folder)
        total -= sum(map(part.cost, touched))
        part.take(step)
        total += sum(map(part.cost, touched)) + sum(map(estimate_tokens, step.names))
        costs.append(total)
    for at in range(len(costs) - 2, -1, -1):
        costs[at] = min(costs[at], costs[at + 1])
    return costs


@dataclass(slots=True)
class _Part:
    """What is there of a tree: `below` counts the folders in each, `named` are those with files."""

    described: Mapping[str, str]
    there: set[Folder] = field(default_factory=set)
    below: dict[Folder, int] = field(default_factory=dict)
    named: dict[Folder, Sequence[str]] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        """Take one step more."""
        if step.names:
            self.named[step.folder] = step.names
        else:
            self.there.add(step.folder)
            self.below[step.above] = self.below.get(step.above, 0) + 1

    def cost(self, folder: Folder) -> int:
        """What the first and the last line of a folder cost, which change with what is in it."""
        lines = [self._head(folder)] if folder in self.there else []
        return sum(map(estimate_tokens, (*lines, *self._rest(folder))))

    def lines(self, root: Folder) -> Iterator[str]:
        """All lines of the tree."""
        waiting: list[tuple[int, Folder | str]] = [(-1, root)]
        while waiting:
            level, item = waiting.pop()
            if isinstance(item, str):
                yield "  " * level + item
                continue
            if item is not root:
                yield "  " * level + self._head(item)
            inside = [below for below in item.folders if below in self.there]
            rows: tuple[Folder | str, ...] = (*self.named.get(item, ()), *inside, *self._rest(item))
            waiting.extend((level + 1, row) for row in reversed(rows))

    def _head(self, folder: Folder) -> str:
        description = one_line(folder.described(self.described))
        size = self._size(folder, _MANY if description else 0)
        notes = f"{description} ({size})" if description and size else description or size
        return shown_path(f"{folder.name}/") + (f"  {notes}" if notes else "")

    def _size(self, folder: Folder, least: int) -> str:
        """How many files are in it, where the tree shows too little of them."""
        unseen = folder not in self.named and (
            len(folder.files) >= 10 or not self.below.get(folder)
        )
        size = about(folder.count) if unseen and folder.count >= least else ""
        return size and f"{size} files"

    def _rest(self, folder: Folder) -> list[str]:
        shown = self.below.get(folder, 0)
        if not 0 < shown < len(folder.folders):
            return []
        more = about(len(folder.folders) - shown)
        return [f"... {more} more" if more else "..."]
