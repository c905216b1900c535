"""Apply mutations to copies of the repository, and tell which test notices each.

Usage: python -m tests.mutations [--jobs N] [NAME or path ...]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.mutations.catalog import MUTATIONS
from tests.mutations.copies import Copy
from tests.mutations.mutation import Mutation


class Outcome(NamedTuple):
    """Which test noticed a mutation, "" if none did, and how long that took."""

    mutation: Mutation
    killer: str
    seconds: float

    def line(self) -> str:
        """For a person to read."""
        what = f"killed by {self.killer}" if self.killer else "SURVIVED"
        return f"{self.mutation.name} ({self.mutation.path}): {what}, {self.seconds:.1f} s"


def main(arguments: Sequence[str]) -> int:
    """Run the mutations that are named, or all; 1 if one survives or a test fails without any."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many at a time")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a mutation, or how the path of its file begins"
    )
    asked = parser.parse_args(arguments)
    chosen = choose(MUTATIONS, asked.names)
    if not chosen:
        parser.error("no mutation is named so")
    return _run(chosen, max(1, asked.jobs))


def choose(mutations: Sequence[Mutation], names: Sequence[str]) -> list[Mutation]:
    """Those with one of the names, or in a file whose path begins with one; all for no name."""
    if not names:
        return [*mutations]
    paths = tuple(names)
    return [one for one in mutations if one.name in names or one.path.startswith(paths)]


def _run(chosen: Sequence[Mutation], jobs: int) -> int:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cub-mutations-") as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(jobs):
            copies.put(Copy.make(Path(folder).resolve() / str(number) / "copy"))
        copy = copies.get()
        every = sorted({test for one in chosen for test in one.tests})
        if failed := copy.first_failure(every, limit=None):
            _say(f"{failed} fails without any mutation")
            return 1
        copies.put(copy)
        survived = 0
        with ThreadPoolExecutor(jobs) as pool:
            for outcome in pool.map(lambda one: _try(one, copies), chosen):
                _say(outcome.line())
                survived += not outcome.killer
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    _say(f"{len(chosen) - survived} of {len(chosen)} killed in {minutes} min {seconds} s")
    return 1 if survived else 0


def _try(mutation: Mutation, copies: SimpleQueue[Copy]) -> Outcome:
    copy, began = copies.get(), time.monotonic()
    try:
        with copy.mutated(mutation):
            return Outcome(mutation, copy.first_failure(mutation.tests), time.monotonic() - began)
    finally:
        copies.put(copy)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
