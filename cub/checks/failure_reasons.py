"""Find why a command failed: the line of its output that says what is wrong, not the last one.

An uncaught error is found by the format of its runtime.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cub.checks.failing_items import truncate_line
from cub.checks.output_rules import Rule, find_first_match, join_announced, read_rules
from cub.checks.terminal_text import split_lines, to_plain_text

MAX_REASON = 300  # characters
# A word for an error with a colon after it, unless 0 follows; or the end of a shell's line.
_ERROR = re.compile(
    r"(?i:\b(?:\w*error|\w*exception|fatal|failure|failed|panic)(?:\[\w+\]| \[\w+\])?\]?:(?! *0\b))"
    r"|\[ERROR\]|[Ss]yntax error|\*\*\* No rule to make"
    r"|: (?:command )?not found$|: No such file or directory$|: [Pp]ermission denied$"
    r"|: unbound variable$|: parameter not set$|^npm error Missing script"
)
# Lines that follow an error: stacks, marks, and what tools say of a command that they called.
_NOISE = re.compile(
    r"\s+at \S.*|\tfrom .*|\s*[\^~]+\s*|Node\.js v\d.*|[})\]]+[;,]?|\(.*\)|> .*"
    r"|npm (?:ERR!|error|warn|notice)(?:\s*|\s+(?:code|errno|path|command|signal|syscall|workspace|"
    r"location|Lifecycle script|Exit status|A complete log|To see a list|Did you mean|  ).*)"
    r"|make(?:\[\d+\])?: \*\*\* \[.*|make(?:\[\d+\])?: (?:Leaving|Entering) directory .*"
    r"|.*\bELIFECYCLE\b.*|error Command failed with exit code \d+\.|info Visit https?://.*"
    r"|exit status \d+|Command failed with status .*|error: script \".*\" exited with code \d+"
    r"|Tasks: TOP => .*|Press ENTER .*"
)


def find_reason(output: str) -> str:
    """Return the first line that says what is wrong, with its place if a runtime reports one.

    Without such a line, return the last one that says anything.
    """
    lines = split_lines(output)
    if crash := find_crash(lines):
        where = f" ({crash.location})" if crash.location else ""
        return truncate_line(crash.message, MAX_REASON - len(where)) + where
    errors = (line for line in lines if _ERROR.search(line) and _is_telling(line))
    line = next(errors, "") or _find_last(lines)
    return truncate_line(re.sub(r"^E {3,}", "", line), MAX_REASON)  # pytest marks errors with an E


def find_last_error(output: str) -> str:
    """Return the crash that a program's runtime reports, or else the last line that it prints."""
    lines = split_lines(output)
    crash = find_crash(lines)
    return truncate_line(crash.message if crash else _find_last(lines), MAX_REASON)


_NAMES_ERROR = re.compile(
    r"(?:error|exception|fatal): |\b(?:cannot|can't|unknown|unexpected|unrecogni[sz]ed)\b",
    re.IGNORECASE,
)


def find_first_error(output: str) -> str:
    """Return the crash that a program's runtime reports, or else the first line with an error.

    Without one, it is the first line that says anything: programs print their usage after it.
    """
    lines = split_lines(output)
    crash = find_crash(lines)
    telling = [line for line in lines if _is_telling(line)]
    errors = (line for line in telling if _NAMES_ERROR.search(line))
    return truncate_line(crash.message if crash else next(errors, "".join(telling[:1])), MAX_REASON)


_MISSING_MODULE = re.compile(
    r"No module named '([\w-]+)[\w.]*'|Cannot find (?:module|package) '(@?[\w-]+(?:/[\w.-]+)?)"
)


def find_missing_modules(output: str) -> frozenset[str]:
    """Return the modules that Python or Node.js did not find, by the names that a project knows.

    That is the first part of `flask.views`, and not a path.
    """
    matches = _MISSING_MODULE.finditer(to_plain_text(output))
    return frozenset(match[1] or match[2] for match in matches)


def _find_last(lines: Sequence[str]) -> str:
    """Return the last line that says anything, or noise if there is nothing else."""
    last = next(filter(_is_telling, reversed(lines)), "")
    return last or next((line for line in reversed(lines) if line.strip()), "")


def _is_telling(line: str) -> bool:
    return bool(line.strip()) and _NOISE.fullmatch(line) is None


class Crash(NamedTuple):
    """Hold the number of the line that reports a crash, its message and where it happened."""

    line: int
    message: str
    location: str  # file:line; "" if unknown


_TRACEBACKS = ("Traceback (most recent call last):", "  + Exception Group Traceback (most")
_PYTHON_FRAME = re.compile(r'[ |]* File "(.+)", line (\d+)')
_PYTHON_RAISED = re.compile(r"(?:  \| )?([A-Za-z_][\w.]*(?:: .*)?)")
_PYTHON_OWN = ("site-packages/", "dist-packages/", "lib/python", "<frozen ")
_NODE_PLACE = re.compile(r"(?:file://)?(\S.*:\d+)")
_NODE_MARK = re.compile(r"\s*\^+\s*")
_NODE_REJECTED = re.compile(r"(\w+): This error originated .* with the reason (.+)")
# The innermost places in a stack that are the project's own.
_NODE_FRAME = find_first_match(
    r" +at (?:.*\()?(?:file://)?(?!node:|[^()]*/node_modules/)([^()]*:\d+):\d+\)?"
)
_RUBY_FRAME = find_first_match(r"\tfrom ([^<\s][^:]*:\d+)(?::in .*)?")
_JAVA_FRAME = find_first_match(
    r"\tat (?:[\w.-]+/)?(?!java\.|javax\.|jdk\.|sun\.)[^(]+\(([\w$]+\.\w+:\d+)\)"
)
_GO_FRAME = find_first_match(
    r"\t(?!.*/src/(?:runtime|testing|internal)/)(\S.*\.go:\d+)(?: \+0x[0-9a-f]+)?"
)
_RUBY_ERROR = r"[^']*': (.+?) \(([A-Z]\w*(?:::\w+)*)\)"
_RUST = r"thread '.*?'(?: \(\d+\))? panicked at "
_CRASHES = (
    Rule("<internal:", rf"<internal:{_RUBY_ERROR}", "crash {below} | {2}: {1}", _RUBY_FRAME),
    Rule(":in ", rf"([^\s:][^:]*:\d+):in [`']{_RUBY_ERROR}", "crash {1} | {3}: {2}"),
    Rule("rake aborted!", r"rake aborted!\n(.*\S.*)", "crash  | {1}"),
    Rule("Excep", r'Exception in thread "[^"]*" (\S.*)', "crash {below} | {1}", _JAVA_FRAME),
    Rule(": ", r"(?P<panic>(?:panic|fatal error): .+?)(?: \[recovered\])?"),
    Rule("goroutine ", r"goroutine .*", "crash {below} | {panic}", _GO_FRAME, "panic"),
    Rule("thread '", rf"{_RUST}'(.*)', (.+:\d+):\d+:?", "crash {2} | {1}"),
    Rule("thread '", rf"{_RUST}(.+:\d+):\d+:?\n(.*)", "crash {1} | {2}"),
)


def find_crash(lines: Sequence[str]) -> Crash | None:
    """Find the first crash; of Python tracebacks the last one, as programs log those they catch."""
    first = next(read_rules(_CRASHES, lines), None)
    crash = Crash(first.line, first.item.message or "panic", first.item.where) if first else None
    return min(filter(None, (crash, _find_node(lines), _find_python(lines))), default=None)


def _find_python(lines: Sequence[str]) -> Crash | None:
    starts = [number for number, line in enumerate(lines) if line.startswith(_TRACEBACKS)]
    place, own = "", ""
    for number in range(starts[-1] + 1 if starts else len(lines), len(lines)):
        line = lines[number]
        if frame := _PYTHON_FRAME.match(line):
            place = f"{frame[1]}:{frame[2]}"
            own = own if any(part in place for part in _PYTHON_OWN) else place
        elif raised := _PYTHON_RAISED.fullmatch(line):
            return Crash(number, join_announced([raised[1], *lines[number + 1 :]]), own or place)
    return None


def _find_node(lines: Sequence[str]) -> Crash | None:
    """Find a crash of Node: a place, its line with a mark below, and the error."""
    for number in range(2, len(lines)):
        place = _NODE_MARK.fullmatch(lines[number]) and _NODE_PLACE.fullmatch(lines[number - 2])
        below = [at for at in range(number + 1, min(number + 6, len(lines))) if lines[at].strip()]
        if not (place and below):
            continue
        message = join_announced(lines[below[0] : number + 6])
        if rejected := _NODE_REJECTED.fullmatch(message):
            message = f"{rejected[1]}: {rejected[2].rstrip('.')}"
        if "/" in place[1] and not place[1].startswith("node:"):
            return Crash(below[0], message, place[1])
        return Crash(below[0], message, _NODE_FRAME(lines[number + 1 :]))
    return None
