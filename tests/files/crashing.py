"""Projects that a dying process left behind, one for each step at which it may die.

A test is parametrized with `points`: in the fast tier processes die at the first step of each kind,
in the thorough one at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import pytest

from cub.edit.plan import Plan
from tests.files.disks import WHOLE, die, steps, stopping
from tests.files.small_fork import run_in_child
from tests.files.worlds import (
    LEAVING,
    PLAN,
    UNLINKING,
    Tree,
    build,
    build_leaving,
    build_links,
    change,
    mend,
    whole,
)

Choose = Callable[[list[str]], list[int]]


class World(NamedTuple):
    """A project and what is planned for it."""

    make: Callable[[Path], Path]
    plan: Plan


EVERY_KIND = World(build, PLAN)
GOING = World(build_leaving, LEAVING)
LINKS = World(build_links, UNLINKING)


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
    folder: Path, world: World, choose: Choose, chunk: int = WHOLE, every: int = 1
) -> Iterator[tuple[str, Path]]:
    """A project for each chosen step, left by a process that died just before it."""
    names = calm(folder, world, chunk).steps
    for number in choose(names)[::every]:
        root = world.make(folder / str(number))
        assert run_in_child(change_until_death, root, world.plan, number, chunk) == 9
        yield names[number - 1], root


def change_until_death(root: Path, plan: Plan, step: int, chunk: int) -> None:
    """Carry out a plan, and die just before a step."""
    change(root, plan, stopping({step: die}, chunk))


def mend_until_death(root: Path, step: int, chunk: int) -> None:
    """End what a crash left, and die just before a step of that."""
    mend(root, stopping({step: die}, chunk))


def every_step(names: list[str]) -> list[int]:
    """Number the steps to die at: of a long file that is torn at every few bytes, some will do."""
    return [n for run in _runs(names) for n in sorted({run[0], *run[1 :: len(run) // 8 + 1]})]


def each_kind(names: list[str]) -> list[int]:
    """Number the first step of each kind between two steps of the journal, and the last step.

    Of what is written in pieces, the second piece is meant: the first is there by then.
    """
    found, written = dict[tuple[str, int], int](), 0
    for run in _runs(names):
        name = names[run[0] - 1]
        written += name.endswith("/journal.jsonl")
        kind = name if name.endswith("/journal.jsonl") else name.split()[0]
        found.setdefault((kind, written), run[len(run) > 1])
    return sorted({*found.values(), len(names)})


def _runs(names: list[str]) -> list[list[int]]:
    """The numbers of steps, those of one file that follow each other together."""
    return [[n for n, _ in same] for _, same in groupby(enumerate(names, 1), itemgetter(1))]


points = pytest.mark.parametrize(
    "choose", [each_kind, pytest.param(every_step, marks=pytest.mark.thorough)]
)
worlds = pytest.mark.parametrize(
    "world", [EVERY_KIND, GOING, LINKS], ids=["every kind", "leaving", "links"]
)
