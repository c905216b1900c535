"""Find the lines of files that match a regular expression, in a process that can be ended."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.agent.tools.tool import ToolContext
from cub.agent.tools.tool_arguments import ToolError
from cub.context.context_commands import describe_failure
from cub.processes.command import CommandSpec, TimeLimits, select_loader_variables
from cub.processes.runner import RunningCommand
from cub.syntax_errors import describe_pattern_error

_MAX_SECONDS = 20.0
_ROOT = str(Path(__file__).parents[3])
_PROGRAM = """\
import sys
sys.path.append(sys.argv[1])
from cub.agent.tools.search_program import main
main()
"""
_ESCAPE_OR_POSIX_CLASS = re.compile(r"\\.|(\[[^\]]*\[:\w+:\])", re.DOTALL)
# Python may read these in another way one day: it says so on stderr.
warnings.filterwarnings("ignore", "Possible (nested set|set )", FutureWarning)


class LineQuery(NamedTuple):
    """Hold a pattern, and what to find: the first lines of a file, or how many of them match.

    With `spans_lines`, a match may span lines.
    """

    pattern: str
    ignore_case: bool
    max_lines: int
    counts: bool = False
    spans_lines: bool = False


class FileHits(NamedTuple):
    """Hold a file and the numbers of its lines, from 1; or alone how many of them match."""

    path: str
    numbers: list[int]


def find_lines(
    query: LineQuery,
    folder: Path,
    paths: Sequence[str],
    context: ToolContext,
    max_seconds: float = _MAX_SECONDS,
) -> Generator[FileHits]:
    """Yield files with hits in the order of the paths, which are relative to `folder`.

    Binary files are left out. Raises ToolError for a pattern that is not
    valid, or if the search is stopped or takes too long.
    """
    _require_valid(query.pattern)
    order = {**query._asdict(), "paths": paths}
    argv = (sys.executable, "-I", "-S", "-W", "ignore", "-c", _PROGRAM, _ROOT)
    command = CommandSpec(argv, folder, select_loader_variables(), json.dumps(order).encode())
    limits = TimeLimits(wall=max_seconds, grace=(0.0, 0.0))
    unread, errors = b"", b""
    with RunningCommand(command, limits, context.stop) as running:
        for chunk in running.iter_output():
            if chunk.stream == "err":
                errors = (errors + chunk.data)[:1000]
                continue
            *lines, unread = (unread + chunk.data).split(b"\n")
            yield from (FileHits(*json.loads(line)) for line in lines)
    if failure := describe_failure(running.result, max_seconds):
        hint = "use a simpler pattern, or name a smaller directory"
        raise ToolError(f"the search {failure} {errors.decode('utf-8', 'replace')}", hint=hint)


def _require_valid(pattern: str) -> None:
    if found := "".join(_ESCAPE_OR_POSIX_CLASS.findall(pattern)):
        raise ToolError(f"{found!r} has a POSIX class", hint=r"use \s, \w or [a-z]")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        message = f"the pattern is not valid: {describe_pattern_error(error)}"
        raise ToolError(message, hint="escape it with \\") from error
