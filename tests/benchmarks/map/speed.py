"""Part two of the benchmark: what a map costs as a whole process, beside aider's.

The two run in turn. What the empty command of each costs is taken off: an empty typer command,
and an aider that is imported and asked for nothing.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import EMPTY
from tests.benchmarks.map import makers
from tests.benchmarks.map.kinds import kind
from tests.benchmarks.map.prepare import track
from tests.benchmarks.map.processes import Cost, Memory, Place, cost, median, memory
from tests.benchmarks.map.repositories import download

RUNS, TOKENS = 5, 1500
TREES, COPIES = ("flask", "django"), (1, 2, 4)


class Case(NamedTuple):
    """A tree in one state of the caches: the runs of a command, net, and what it holds."""

    tree: str
    state: str
    maker: str
    costs: list[Cost]
    memory: Memory

    @property
    def median(self) -> Cost:
        return median(self.costs)


def cold(place: Place, _run: int) -> None:
    """No caches: neither in the tree nor in the user's folders."""
    for folder in (place.root / ".cub", place.root / makers.AIDER_CACHE, place.home):
        shutil.rmtree(folder, ignore_errors=True)
    place.home.mkdir()


def defined(place: Place, run: int) -> None:
    """A definition more in one file: nine in ten of the source files are smaller than it."""
    paths = makers.listing(place.root).split("\n")
    files = [place.root / path for path in paths if path.endswith(".py") and kind(path) == "source"]
    files.sort(key=lambda file: (file.stat().st_size, file))
    with files[len(files) * 9 // 10].open("a") as file:
        file.write(f"def one_more_{run + 1}(): ...\n")


def unchanged(_place: Place, _run: int) -> None:
    """All is as the last run left it."""


STATES: dict[str, Callable[[Place, int], None]] = {
    "cold": cold,
    "one function more": defined,
    "unchanged": unchanged,
}


def cases(scratch: Path) -> Iterator[tuple[Case, ...]]:
    """Cub's and, where there is one, aider's: for each tree and each state of the caches."""
    home = scratch / "home-of-speed"
    home.mkdir()
    for name in TREES:
        root = download(name, scratch)
        if root is not None:
            yield from _of_tree(name, root, home)
            yield from _copies(name, root, home, scratch) if name == TREES[-1] else ()


def _of_tree(name: str, root: Path, home: Path) -> Iterator[tuple[Case, ...]]:
    track(root)
    place = Place(root, makers.listing(root), home)
    theirs, nothing = makers.aider(str(root), str(TOKENS)), makers.aider()
    commands = {"cub": makers.cub(TOKENS)} | ({"aider": theirs} if theirs else {})
    idle = {"cub": [sys.executable, "-c", EMPTY]}
    idle |= {"aider": nothing} if nothing else {}
    empty = {who: median([cost(idle[who], place) for _ in range(RUNS)]) for who in commands}
    for state, before in STATES.items():
        yield _in_turn(name, state, commands, empty, place, before)


def _in_turn(
    name: str,
    state: str,
    commands: dict[str, list[str]],
    empty: dict[str, Cost],
    place: Place,
    before: Callable[[Place, int], None],
) -> tuple[Case, ...]:
    costs: dict[str, list[Cost]] = {who: [] for who in commands}
    for run in range(-1, RUNS):  # the first is a warm-up
        before(place, run)
        for who, command in commands.items():
            costs[who].append(cost(command, place).less(empty[who]))
    before(place, RUNS)
    return tuple(
        Case(name, state, who, costs[who][1:], memory(command, place))
        for who, command in commands.items()
    )


def _copies(name: str, root: Path, home: Path, scratch: Path) -> Iterator[tuple[Case, ...]]:
    """The same tree several times over, by cub alone."""
    for count in COPIES:
        many = scratch / f"{name}-{count}"
        for number in range(count):
            ignored = shutil.ignore_patterns(".git", ".cub", makers.AIDER_CACHE)
            shutil.copytree(root, many / f"part{number}", symlinks=True, ignore=ignored)
        track(many)
        place = Place(many, "", home)
        commands = {"cub": makers.cub(TOKENS)}
        idle = [sys.executable, "-c", EMPTY]
        empty = {"cub": median([cost(idle, place) for _ in range(RUNS)])}
        for state, before in STATES.items():
            yield _in_turn(f"{name} x{count}", state, commands, empty, place, before)
        shutil.rmtree(many)
