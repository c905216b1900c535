"""Projects that a dying process left behind, one for each step at which it may die."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from cub.edit.plan import Plan
from tests.files.disks import WHOLE, die, in_child, steps, stopping
from tests.files.worlds import LEAVING, PLAN, Tree, build, build_leaving, change, whole


class World(NamedTuple):
    """A project and what is planned for it."""

    make: Callable[[Path], Path]
    plan: Plan


EVERY_KIND = World(build, PLAN)
GOING = World(build_leaving, LEAVING)


class Calm(NamedTuple):
    """A run in which nobody dies: the tree before, the tree after, the steps between."""

    old: Tree
    new: Tree
    steps: list[str]


def calm(folder: Path, world: World, chunk: int = WHOLE) -> Calm:
    root = world.make(folder / "calm")
    old = whole(root)
    taken = steps(lambda disk: change(root, world.plan, disk), chunk)
    names = [f"{name} {path.relative_to(root)}" for name, path in taken]
    return Calm(old, whole(root), names)


def crashes(
    folder: Path, world: World, chunk: int = WHOLE, every: int = 1
) -> Iterator[tuple[str, Path]]:
    """A project for each step, left by a process that died just before it."""
    names = calm(folder, world, chunk).steps
    for number in _worth(names, every):
        root = world.make(folder / str(number))
        disk = stopping({number: die}, chunk)
        assert in_child(lambda: change(root, world.plan, disk)) == 9  # noqa: B023 - runs at once
        yield names[number - 1], root


def _worth(names: list[str], every: int) -> list[int]:
    """The steps to die at: of a long file that is torn at every few bytes, some will do."""
    runs = [[n for n, _ in same] for _, same in groupby(enumerate(names, 1), itemgetter(1))]
    return [n for run in runs for n in sorted({run[0], *run[1 :: len(run) // 8 + 1]})][::every]
