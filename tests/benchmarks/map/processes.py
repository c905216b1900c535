"""What a command costs as a whole process."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.conftest import environment

_ONCE = str(Path(__file__).with_name("once.py"))


class Cost(NamedTuple):
    """Seconds of CPU, of it and its children, and of wall time."""

    cpu: float
    wall: float

    def less(self, empty: Cost) -> Cost:
        """Net of what the empty command costs."""
        return Cost(self.cpu - empty.cpu, self.wall - empty.wall)


class Memory(NamedTuple):
    """Bytes at the peak: of the largest process; of all together; the same, shared pages once."""

    largest: float
    rss: float
    pss: float


class Place(NamedTuple):
    """Where commands run: a tree, what they read from stdin, and a home of their own."""

    root: Path
    given: str
    home: Path


def cost(command: Sequence[str], place: Place) -> Cost:
    """One run."""
    found = _once(command, place)
    return Cost(found["cpu"], found["wall"])


def measure(work: Callable[[], object]) -> Cost:
    """What work in this very process costs, with the processes that it starts."""
    cpu, start = _get_cpu_seconds(), time.perf_counter()
    work()
    return Cost(_get_cpu_seconds() - cpu, time.perf_counter() - start)


def _get_cpu_seconds() -> float:
    import resource  # Windows has none

    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def memory(command: Sequence[str], place: Place) -> Memory:
    """One run that is watched."""
    found = _once(["--memory", *command], place)
    return Memory(found["largest"], found["rss"], found["pss"])


def median(costs: Sequence[Cost]) -> Cost:
    """Of each figure."""
    return Cost(statistics.median(c.cpu for c in costs), statistics.median(c.wall for c in costs))


def _once(words: Sequence[str], place: Place) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, _ONCE, *words],
        cwd=place.root,
        env=environment(place.home),
        input=place.given.encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found
