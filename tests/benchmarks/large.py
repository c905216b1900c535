"""`python -m tests.benchmarks large`: files as large as cub edits them, or of extreme form."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from cub.edit.document import MAX_BYTES
from tests.benchmarks.map.processes import Cost, Place, cost, median, memory
from tests.conftest import git

RUNS = 3
_CUB = [sys.executable, "-m", "cub"]
PROSE = (
    "## Building\n\nRun `make` before you commit; it takes *about* a minute on a laptop, and the\n"
    "first run takes longer. See [the guide](docs/guide.md) for what each target does.\n\n"
    "- `make test` runs the unit tests\n- `make lint` runs the linters\n\n"
    "```sh\nmake test lint\n```\n\n"
)
_UNITS = {
    "comments": "<!-- a note -->\n\nSome words of prose in a line.\n\n",
    "nested lists": "- a\n  - b\n    - c\n      - d\n        - e\n",
    "fences": "```sh\nmake\n```\n\n",
    "fences in a list": "- a\n\n  ```sh\n  x\n  ```\n",
    "one list": "- a\n",
    "imports": "@a [b](c)\n- @x\n",
    "prose, lists and code": PROSE,
}
_SIZE = MAX_BYTES - 4096  # there is place for a section
_PAIR = "<!-- BEGIN CUB MANAGED SECTION v1 -->\n\nx\n\n<!-- END CUB MANAGED SECTION -->\n\n"


class Case(NamedTuple):
    """A file, the commands that are run on it one after the other, and what they are held to."""

    what: str
    text: str
    commands: tuple[str, ...]
    bar: str


def _cases() -> Iterator[Case]:
    bar = "bar: 10 s, 400 MB"
    for what, unit in _UNITS.items():
        text = unit * (_SIZE // len(unit))
        yield Case(f"1 MB of {what}", text, ("init", "update"), bar)
    yield Case("1 MB and END alone", text + _PAIR[-34:], ("repair",), bar)
    yield Case("1 MB of one fence", "```\n" + "x\n" * (_SIZE // 2), ("init", "update"), bar)
    pairs = "".join(f"text {n}\n\n{_PAIR}" for n in range(5_000))
    yield Case("5,000 pairs of markers", pairs, ("repair",), "")
    yield Case("200 kB of `[`", "[" * 200_000, ("init", "update"), "bar: 1 s")
    yield Case("an import, 200 kB of `[`", "@x " + "[" * 200_000, ("init", "update"), "bar: 1 s")


def main(say: Callable[[str], None]) -> None:
    """Measure, and say the table."""
    say(f"Python {sys.version.split()[0]}, median of {RUNS} runs\n")
    say("| AGENTS.md | command | CPU s | wall s | MB | |")
    say("| --- | --- | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(_cases()):
            for command, found, peak in _measured(Path(folder).resolve() / str(number), case):
                figures = f"{found.cpu:.2f} | {found.wall:.2f} | {peak / 1e6:.0f}"
                say(f"| {case.what} | `cub {command}` | {figures} | {case.bar} |")


def _measured(scratch: Path, case: Case) -> Iterator[tuple[str, Cost, float]]:
    fresh, home = scratch / "fresh", scratch / "home"
    fresh.mkdir(parents=True)
    home.mkdir()
    git(fresh, "init", "-q")
    (fresh / "AGENTS.md").write_text(case.text, encoding="utf-8")
    for command in case.commands:
        # A broken file is what `repair` shows, with exit code 1.
        words = ["sh", "-c", f'"$@" || test $? = 1 -a {command} = repair', "", *_CUB, command]
        costs, peak = [], 0.0
        for run in range(RUNS + 1):
            root = scratch / "project"
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(fresh, root)
            place = Place(root, "", home)
            if run == RUNS:
                peak = memory(words, place).largest
            else:
                costs.append(cost(words, place))
        shutil.rmtree(fresh)
        root.rename(fresh)
        yield command, median(costs), peak
