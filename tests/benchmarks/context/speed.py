"""`python -m tests.benchmarks context`: rules and context commands, beside what they are held to.

They are timed in this very process, whose start doesn't count; for its memory and for the rules,
`cub context` also runs whole.
"""

from __future__ import annotations

import os
import sys
import tempfile
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.context.assembly import ContextRequest, assemble_context, plan_context
from cub.context.context_commands import (
    CommandEnvironment,
    make_cli_commands,
    run_context_commands,
)
from cub.context.text_reader import TextReader
from cub.processes.orphans import kill_by_environment
from tests.benchmarks.map.processes import Cost, Place, cost, measure, median, memory
from tests.conftest import git

RUNS = 10
_RULES, _RULES_BAR, _WHOLE_BAR = 1000, 0.45, 0.55
_RULE = (
    "---\nlanguages: [go, python]\nstage: testing\n---\n# Rule {n}\n\n- Do `x{n}`, and tell @ann.\n"
)
_MARK = ("CUB_BENCHMARK", uuid.uuid4().hex)
_STUBBORN = "trap '' INT TERM; sleep 60; sleep 60"
_OUTPUT = "head -c 50000000 /dev/zero | tr '\\0' x"


class Case(NamedTuple):
    """Commands that run side by side with a time limit of 1 s, and the seconds they may take."""

    name: str
    lines: Sequence[str]
    bar: float | None


_CASES = (
    Case("`true`", ("true",), None),
    Case("8 of `sleep 0.5`, side by side", ("sleep 0.5",) * 8, 0.6),
    Case("a job in the background, `sleep 60 &`", ("sleep 60 & echo",), None),
    Case("limit of 1 s, a grandchild on the pipe", ("sleep 60 & sleep 60",), 1.5),
    Case("limit of 1 s, `sleep 60 \\| cat`", ("sleep 60 | cat",), 1.5),
    Case("limit of 1 s, TERM trapped", (_STUBBORN,), 1.5),
    Case("limit of 1 s, in another session", (f'setsid sh -c "{_STUBBORN}" & sleep 60',), 1.5),
    Case("limit of 1 s, both of these", (f'setsid sh -c "{_STUBBORN}" & {_STUBBORN}',), 1.5),
    Case("50 MB of output", (_OUTPUT,), None),
)


def main(say: Callable[[str], None]) -> None:
    """Measure, and say the table."""
    say(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, median of {RUNS} runs\n")
    say("| commands | wall s | bar | CPU s | processes left |")
    say("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for case in _CASES:
            spent = median([_run(case.lines, root) for _ in range(RUNS + 1)][1:])
            left, bar = kill_by_environment(_MARK), f"{case.bar:g}" if case.bar else ""
            say(f"| {case.name} | {spent.wall:.3f} | {bar} | {spent.cpu:.3f} | {left} |")
        spent = _read_rules(root)
        say(f"| {_RULES:,} rules | {spent.wall:.3f} | {_RULES_BAR} | {spent.cpu:.3f} | 0 |")
        git(root, "init", "-q")
        place = Place(root, "", root)
        words = (sys.executable, "-m", "cub", "context", "--prompt", "Fix it.")
        spent = median([cost(words, place) for _ in range(RUNS + 1)][1:])
        name = f"`cub context` with {_RULES:,} rules, as a whole process"
        say(f"| {name} | {spent.wall:.3f} | CPU {_WHOLE_BAR} | {spent.cpu:.3f} | 0 |")
        empty, large = (
            memory([*words, "--exec", line], place).largest / 1e6 for line in ("true", _OUTPUT)
        )
    say(f"\nMemory of `cub context` with 50 MB of output: {large:.0f} MB (bar: 100), ")
    say(f"with `true` {empty:.0f} MB.")


def _read_rules(folder: Path) -> Cost:
    """Return what a context of many rules costs, from a folder that has them."""
    rules = folder / ".agents" / "rules"
    rules.mkdir(parents=True)
    for number in range(_RULES):
        (rules / f"{number:04}.md").write_text(_RULE.format(n=number), encoding="utf-8")
    request = ContextRequest(prompt="Fix it.", selectors={"languages": ("go",)})

    def assemble() -> None:
        reader = TextReader(folder, folder, None)
        assemble_context(reader, plan_context(reader, request))

    return median([measure(assemble) for _ in range(RUNS + 1)][1:])


def _run(lines: Sequence[str], folder: Path) -> Cost:
    commands = [command._replace(timeout=1.0) for command in make_cli_commands(lines)]
    environment = CommandEnvironment(folder, dict([*os.environ.items(), _MARK]))
    return measure(lambda: run_context_commands(commands, environment, parallel=8))
