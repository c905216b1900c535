"""Find why a command failed: the line of its output that says what is wrong, not the last one.

An uncaught error is found by the format of its runtime.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from cub.checks.failing_items import truncate_line
from cub.checks.terminal_text import to_plain_text

MAX_REASON = 300  # characters
_MAX_LINE_CHARS = 1_000
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
    lines = [line[:_MAX_LINE_CHARS] for line in to_plain_text(output).split("\n")]
    if crash := find_crash(lines):
        where = f" ({crash.location})" if crash.location else ""
        return truncate_line(crash.message, MAX_REASON - len(where)) + where
    errors = (line for line in lines if _ERROR.search(line) and _is_telling(line))
    line = next(errors, "") or _find_last(lines)
    return truncate_line(re.sub(r"^E {3,}", "", line), MAX_REASON)  # pytest marks errors with an E


def find_last_error(output: str) -> str:
    """Return the crash that a program's runtime reports, or else the last line that it prints."""
    lines = [line[:_MAX_LINE_CHARS] for line in to_plain_text(output).split("\n")]
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
    lines = [line[:_MAX_LINE_CHARS] for line in to_plain_text(output).split("\n")]
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
_NODE_FRAME = re.compile(r" +at (?:.*\()?(?:file://)?([^()]*:\d+):\d+\)?")
_NODE_MARK = re.compile(r"\s*\^+\s*")
_NODE_REJECTED = re.compile(r"(\w+): This error originated .* with the reason (.+)")
_RUBY = re.compile(r"([^\s:][^:]*:\d+):in [`'][^']*': (.+?)(?: \(([A-Z]\w*(?:::\w+)*)\))?")
_RUBY_MESSAGE = re.compile(r"(.+) \(([A-Z]\w*(?:::\w+)*)\)")
_RUBY_FRAME = re.compile(r"\tfrom ([^<\s][^:]*:\d+)(?::in .*)?")
_JAVA = re.compile(r'Exception in thread "[^"]*" (\S.*)')
_JAVA_FRAME = re.compile(r"\tat (?:[\w.-]+/)?([^(]+)\(([\w$]+\.\w+:\d+)\)")
_JAVA_OWN = ("java.", "javax.", "jdk.", "sun.")
_GO = re.compile(r"((?:panic|fatal error): .+?)(?: \[recovered\])?")
_GO_FRAME = re.compile(r"\t(\S.*\.go:\d+)(?: \+0x[0-9a-f]+)?")
_GO_OWN = ("/src/runtime/", "/src/testing/", "/src/internal/")
_RUST = re.compile(r"thread '.*?'(?: \(\d+\))? panicked at (?:'(?P<message>.*)', )?(.+:\d+):\d+:?")
_MAX_FRAMES = 200


def find_crash(lines: Sequence[str]) -> Crash | None:
    """Find the first crash; of Python tracebacks the last one, as programs log those they catch."""
    finders = (_find_node, _find_ruby, _find_java, _find_go, _find_rust, _find_python)
    return min(filter(None, (find(lines) for find in finders)), default=None)


def _find_python(lines: Sequence[str]) -> Crash | None:
    starts = [number for number, line in enumerate(lines) if line.startswith(_TRACEBACKS)]
    place, own = "", ""
    for number in range(starts[-1] + 1 if starts else len(lines), len(lines)):
        line = lines[number]
        if frame := _PYTHON_FRAME.match(line):
            place = f"{frame[1]}:{frame[2]}"
            own = own if any(part in place for part in _PYTHON_OWN) else place
        elif raised := _PYTHON_RAISED.fullmatch(line):
            return Crash(number, _join_announced(raised[1], lines[number + 1 :]), own or place)
    return None


def _find_node(lines: Sequence[str]) -> Crash | None:
    """Find a crash of Node: a place, its line with a mark below, and the error."""
    for number in range(2, len(lines)):
        place = _NODE_MARK.fullmatch(lines[number]) and _NODE_PLACE.fullmatch(lines[number - 2])
        below = [at for at in range(number + 1, min(number + 6, len(lines))) if lines[at].strip()]
        if not (place and below):
            continue
        message = _join_announced(lines[below[0]].strip(), lines[below[0] + 1 : number + 6])
        if rejected := _NODE_REJECTED.fullmatch(message):
            message = f"{rejected[1]}: {rejected[2].rstrip('.')}"
        if "/" in place[1] and not place[1].startswith("node:"):
            return Crash(below[0], message, place[1])
        return Crash(below[0], message, _find_frame(lines, number, _NODE_FRAME, _is_of_node))
    return None


def _find_ruby(lines: Sequence[str]) -> Crash | None:
    for number, line in enumerate(lines):
        internal = line.partition("': ")[2] if line.startswith("<internal:") else ""
        if raised := _RUBY_MESSAGE.fullmatch(internal):
            place = _find_frame(lines, number, _RUBY_FRAME, lambda _: False)
            return Crash(number, f"{raised[2]}: {raised[1]}", place)
        if ":in " in line and (error := _RUBY.fullmatch(line)) and error[3]:
            return Crash(number, f"{error[3]}: {error[2]}", error[1])
        if line == "rake aborted!" and number + 1 < len(lines):
            return Crash(number + 1, lines[number + 1], "")
    return None


def _find_java(lines: Sequence[str]) -> Crash | None:
    for number, line in enumerate(lines):
        if error := _JAVA.fullmatch(line):
            for below in lines[number + 1 : number + _MAX_FRAMES]:
                frame = _JAVA_FRAME.fullmatch(below)
                if frame and not frame[1].startswith(_JAVA_OWN):
                    return Crash(number, error[1], frame[2])
            return Crash(number, error[1], "")
    return None


def _find_go(lines: Sequence[str]) -> Crash | None:
    for number, line in enumerate(lines):
        panic = _GO.fullmatch(line)
        if panic and any(
            below.startswith("goroutine ") for below in lines[number + 1 : number + 6]
        ):
            return Crash(number, panic[1], _find_frame(lines, number, _GO_FRAME, _is_of_go))
    return None


def _find_rust(lines: Sequence[str]) -> Crash | None:
    for number, line in enumerate(lines):
        if line.startswith("thread '") and (panic := _RUST.fullmatch(line)):
            message = panic["message"] or next(iter(lines[number + 1 : number + 2]), "")
            return Crash(number, message or "panic", panic[2])
    return None


def _join_announced(message: str, below: Iterable[str]) -> str:
    """Return a message, with the next line if its first line only announces that."""
    if not message.endswith(":"):
        return message
    return " ".join([message, *islice((line.strip() for line in below if line.strip()), 1)])


def _find_frame(
    lines: Sequence[str], start: int, frame: re.Pattern[str], skip: Callable[[str], bool]
) -> str:
    """Return the innermost place in a stack that is the project's own."""
    below: Iterable[str] = lines[start + 1 : start + _MAX_FRAMES]
    places = (match[1] for line in below if (match := frame.fullmatch(line)))
    return next((place for place in places if not skip(place)), "")


def _is_of_node(place: str) -> bool:
    return place.startswith("node:") or "/node_modules/" in place


def _is_of_go(place: str) -> bool:
    return any(part in place for part in _GO_OWN)
