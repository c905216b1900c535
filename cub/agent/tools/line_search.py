r"""Find the lines of files that match a regular expression, with ripgrep or without it.

Either way the pattern is one of Python's: ripgrep only searches for those that it reads as well,
and gets the same files in the same order. The two still differ in rare characters: for Python, `\w`
has no combining marks, and `.` or `[^x]` match bytes that are not UTF-8 and a CR inside of a line.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.agent.tools import search_program
from cub.agent.tools.tool import ToolContext
from cub.agent.tools.tool_arguments import ToolError
from cub.debug_log import log_debug
from cub.processes.command import CommandSpec, TimeLimits
from cub.processes.runner import RunningCommand
from cub.syntax_errors import describe_pattern_error

_MAX_SECONDS = 20.0
_MAX_ARGUMENT_BYTES = 400_000  # macOS takes 1 MB with the environment
# A hit takes one short line: ripgrep does not print long ones. The caller leaves out binary files.
_RIPGREP_OPTIONS = (
    "--no-config", "--no-messages", "--color=never", "--no-heading", "--with-filename", "--null",
    "--line-number", "--threads=1", "--text", "--encoding=none", "--crlf", "--max-columns=1",
    "--no-mmap",
)  # fmt: skip
_HIT = re.compile(rb"([^\0]+)\0(\d+)[^\n]*\n")
_ESCAPE_OR_SET = re.compile(
    r"(?P<escape>\\.)|(?P<open>\[\^?)(?P<inner>\]?(?:\\.|[^\]\\])*)(?P<close>\]?)", re.DOTALL
)
_SET_TOKEN = re.compile(r"(\\.)|\[|&&|--|~~|\|\|", re.DOTALL)


class LineQuery(NamedTuple):
    """Hold a pattern, and what to find: the first lines of a file, or how many of them match."""

    pattern: str
    ignore_case: bool
    max_lines: int
    counts: bool = False


class LineHit(NamedTuple):
    """Hold a file and the number of a line, from 1; or of how many lines match."""

    path: str
    number: int


def find_lines(
    query: LineQuery,
    folder: Path,
    paths: Sequence[str],
    context: ToolContext,
    max_seconds: float = _MAX_SECONDS,
) -> Generator[LineHit]:
    """Yield hits in the order of the paths, which are relative to `folder`.

    Raises ToolError for a pattern that is not valid, or if the search is stopped or takes too long.
    """
    query = query._replace(pattern=_unify_syntax(query.pattern))
    try:
        query.pattern.encode()
        re.compile(query.pattern)
    except (re.error, OverflowError, RecursionError, UnicodeEncodeError) as error:
        message = f"the pattern is not valid: {describe_pattern_error(error)}"
        raise ToolError(message, hint="escape it with \\") from error
    deadline = time.monotonic() + max_seconds
    ripgrep = shutil.which("rg", path=context.environ.get("PATH", ""))
    try:
        for batch in _make_batches(paths) if ripgrep else ():
            argv = (str(ripgrep), *_list_options(query), "--", *(f"./{path}" for path in batch))
            command = CommandSpec(argv, folder, context.environ)
            yield from _run_search(command, deadline, context)
            paths = paths[len(batch) :]
    except _SearchRefusedError as error:
        log_debug(f"rg does not take the pattern: {error}")
    if not paths:
        return
    order = {**query._asdict(), "paths": [f"./{path}" for path in paths]}
    argv = (sys.executable, "-I", "-S", search_program.__file__)
    command = CommandSpec(argv, folder, context.environ, json.dumps(order).encode())
    yield from _run_search(command, deadline, context)


class _SearchRefusedError(ToolError):
    """Report that a program did not search, as ripgrep for some of Python's patterns."""


def _list_options(query: LineQuery) -> Iterator[str]:
    yield from _RIPGREP_OPTIONS
    yield "--count" if query.counts else f"--max-count={query.max_lines}"
    yield "--ignore-case" if query.ignore_case else "--case-sensitive"
    yield f"--regexp={query.pattern}"


def _run_search(command: CommandSpec, deadline: float, context: ToolContext) -> Iterator[LineHit]:
    limits = TimeLimits(wall=max(0.0, deadline - time.monotonic()), grace=(0.0, 0.0))
    unread, errors = b"", b""
    with RunningCommand(command, limits, context.stop) as running:
        for chunk in running.iter_output():
            if chunk.stream == "err":
                errors = (errors + chunk.data)[:1000]
                continue
            unread += chunk.data
            end = 0
            for match in _HIT.finditer(unread):
                path = match[1].decode("utf-8", "surrogateescape").removeprefix("./")
                yield LineHit(path, int(match[2]))
                end = match.end()
            unread = unread[end:]
    _require_end(running.result.cause, running.result.start_error, errors)


def _require_end(cause: str, start_error: str, errors: bytes) -> None:
    if cause == "wall":
        raise ToolError(
            "the search took too long", hint="use a simpler pattern, or name a smaller directory"
        )
    if cause:
        raise ToolError("the search was stopped")
    if errors or start_error:
        reason = start_error or errors.decode("utf-8", "replace").strip()
        raise _SearchRefusedError(f"the search failed: {reason}")


def _make_batches(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield paths in groups that fit on a command line."""
    batch: list[str] = []
    size = 0
    for path in paths:
        count = len(path.encode("utf-8", "surrogateescape")) + 16  # its pointer, "./" and NUL
        if batch and size + count > _MAX_ARGUMENT_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += count
    if batch:
        yield batch


def _unify_syntax(pattern: str) -> str:
    r"""Return a pattern in which what Python and ripgrep read differently is escaped.

    In a set, `[` and doubled operators are plain characters for Python; so are `\<` and `\>`.
    """
    if "\0" in pattern:  # an argument of a program ends there
        raise ToolError("the pattern is not valid: it has a NUL character")
    return _ESCAPE_OR_SET.sub(_unify_token, pattern)


def _unify_token(match: re.Match[str]) -> str:
    if match["escape"]:
        return match[0][1] if match[0] in ("\\<", "\\>") else match[0]
    inner = match["inner"]
    if "[:" in inner:
        raise ToolError(f"{match[0]!r} has a POSIX class", hint=r"use \s, \w or [a-z]")
    escaped = _SET_TOKEN.sub(lambda token: token[1] or re.escape(token[0]), inner)
    return f"{match['open']}{escaped}{match['close']}"
