"""`python -m tests.benchmarks map`: the two parts, printed as Markdown tables."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.map import quality, speed, speed_table, tables

Say = Callable[[str], None]


def main(words: Sequence[str], say: Say) -> None:
    """Measure what the words ask for, and say the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks map", description=__doc__)
    parser.add_argument("part", nargs="?", choices=("all", "quality", "speed"), default="all")
    parser.add_argument("names", nargs="*", help="repositories; default: all that are there")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder).resolve()
        if asked.part != "speed":
            _quality(asked.names, scratch, say)
        if asked.part != "quality":
            _speed(scratch, say)


def _quality(names: Sequence[str], scratch: Path, say: Say) -> None:
    found = []
    for row in quality.rows(names, scratch):
        sys.stderr.write(f"{row.name}\n")
        found.append(row)
    if not found:
        say("No repository is there: name a folder of them in CUB_BENCH.")
        return
    for line in tables.lines(found):
        say(line)


def _speed(scratch: Path, say: Say) -> None:
    for line in speed_table.head():
        say(line)
    for cases in speed.cases(scratch):
        for line in speed_table.rows(cases):
            say(line)
