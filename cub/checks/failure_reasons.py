"""Find why a command failed: the line of its output that says what is wrong, not the last one.

An uncaught error is found by the format of its runtime.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from cub.checks.terminal_text import to_plain_text

MAX_REASON = 300  # characters
_LONGEST_LINE = 1_000
# A word for an error with a colon behind it, but no count of none; or the end of a shell's line.
_WRONG = re.compile(
    r"(?i:\b(?:\w*error|\w*exception|fatal|failure|failed|panic)(?:\[\w+\]| \[\w+\])?\]?:(?! *0\b))"
    r"|\[ERROR\]|[Ss]yntax error|\*\*\* No rule to make"
    r"|: (?:command )?not found$|: No such file or directory$|: [Pp]ermission denied$"
    r"|: unbound variable$|: parameter not set$|^npm error Missing script"
)
# What stands behind an error: stacks, marks, and what tools say of a command that they called.
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
    lines = [line[:_LONGEST_LINE] for line in to_plain_text(output).split("\n")]
    if crash := find_crash(lines):
        where = f" ({crash.location})" if crash.location else ""
        return _line(crash.message, MAX_REASON - len(where)) + where
    wrong = (line for line in lines if _WRONG.search(line) and _says(line))
    return _line(next(wrong, "") or _last(lines), MAX_REASON)


def find_last_error(output: str) -> str:
    """Return what a program prints last before its end; if its runtime reports a crash, that."""
    lines = [line[:_LONGEST_LINE] for line in to_plain_text(output).split("\n")]
    if crash := find_crash(lines):
        return _line(crash.message, MAX_REASON)
    return _line(_last(lines), MAX_REASON)


def _last(lines: Sequence[str]) -> str:
    """Return the last line that says anything, or noise if there is nothing else."""
    told = (line for line in reversed(lines) if _says(line))
    return next(told, "") or next((line for line in reversed(lines) if line.strip()), "")


def _says(line: str) -> bool:
    return bool(line.strip()) and _NOISE.fullmatch(line) is None


def _line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


class Crash(NamedTuple):
    """Hold the number of the line that reports a crash, its message, and `file:line`, "" if
    unknown.
    """

    line: int
    message: str
    location: str


_TRACEBACKS = ("Traceback (most recent call last):", "  + Exception Group Traceback (most")
_PYTHON_FRAME = re.compile(r'[ |]* File "(.+)", line (\d+)')
_PYTHON_RAISED = re.compile(r"(?:  \| )?([A-Za-z_][\w.]*(?:: .*)?)")
_PYTHON_OWN = ("site-packages/", "dist-packages/", "lib/python", "<frozen ")
_NODE_PLACE = re.compile(r"(?:file://)?(\S.*:\d+)")
_NODE_FRAME = re.compile(r" +at (?:.*\()?(?:file://)?([^()]*:\d+):\d+\)?")
_NODE_MARK = re.compile(r"\s*\^+\s*")
_NODE_REJECTED = re.compile(r"(\w+): This error originated .* with the reason (.+)")
_RUBY = re.compile(r"([^\s:][^:]*:\d+):in [`'][^']*': (.+?)(?: \(([A-Z]\w*(?:::\w+)*)\))?")
_RUBY_SAID = re.compile(r"(.+) \(([A-Z]\w*(?:::\w+)*)\)")
_RUBY_FRAME = re.compile(r"\tfrom ([^<\s][^:]*:\d+)(?::in .*)?")
_JAVA = re.compile(r'Exception in thread "[^"]*" (\S.*)')
_JAVA_FRAME = re.compile(r"\tat (?:[\w.-]+/)?([^(]+)\(([\w$]+\.\w+:\d+)\)")
_JAVA_OWN = ("java.", "javax.", "jdk.", "sun.")
_GO = re.compile(r"((?:panic|fatal error): .+?)(?: \[recovered\])?")
_GO_FRAME = re.compile(r"\t(\S.*\.go:\d+)(?: \+0x[0-9a-f]+)?")
_GO_OWN = ("/src/runtime/", "/src/testing/", "/src/internal/")
_RUST = re.compile(r"thread '.*?'(?: \(\d+\))? panicked at (?:'(?P<said>.*)', )?(.+:\d+):\d+:?")
_DEEP = 200  # frames that are looked at


def find_crash(lines: Sequence[str]) -> Crash | None:
    """Find the first crash; of Python tracebacks the last one, as programs log those they catch."""
    found = (reader(lines) for reader in (_node, _ruby, _java, _go, _rust, _python))
    return min(filter(None, found), default=None)


def _python(lines: Sequence[str]) -> Crash | None:
    starts = [number for number, line in enumerate(lines) if line.startswith(_TRACEBACKS)]
    place, own = "", ""
    for number in range(starts[-1] + 1 if starts else len(lines), len(lines)):
        line = lines[number]
        if frame := _PYTHON_FRAME.match(line):
            place = f"{frame[1]}:{frame[2]}"
            own = own if any(part in place for part in _PYTHON_OWN) else place
        elif raised := _PYTHON_RAISED.fullmatch(line):
            return Crash(number, _whole(raised[1], lines[number + 1 :]), own or place)
    return None


def _node(lines: Sequence[str]) -> Crash | None:
    """Find a crash of Node: a place, its line with a mark below, and the error."""
    for number in range(2, len(lines)):
        place = _NODE_MARK.fullmatch(lines[number]) and _NODE_PLACE.fullmatch(lines[number - 2])
        if not place:
            continue
        below = [at for at in range(number + 1, min(number + 6, len(lines))) if lines[at].strip()]
        if not below:
            continue
        message = _whole(lines[below[0]].strip(), lines[below[0] + 1 : number + 6])
        if rejected := _NODE_REJECTED.fullmatch(message):
            message = f"{rejected[1]}: {rejected[2].rstrip('.')}"
        if "/" in place[1] and not place[1].startswith("node:"):
            return Crash(below[0], message, place[1])
        return Crash(below[0], message, _first_frame(lines, number, _NODE_FRAME, _is_of_node))
    return None


def _ruby(lines: Sequence[str]) -> Crash | None:
    for number, line in enumerate(lines):
        if line.startswith("<internal:") and (
            said := _RUBY_SAID.fullmatch(line.partition("': ")[2])
        ):
            place = _first_frame(lines, number, _RUBY_FRAME, lambda _: False)
            return Crash(number, f"{said[2]}: {said[1]}", place)
        if ":in " in line and (error := _RUBY.fullmatch(line)) and error[3]:
            return Crash(number, f"{error[3]}: {error[2]}", error[1])
        if line == "rake aborted!" and number + 1 < len(lines):
            return Crash(number + 1, lines[number + 1], "")
    return None


def _java(lines: Sequence[str]) -> Crash | None:
    for number, line in enumerate(lines):
        if error := _JAVA.fullmatch(line):
            for below in lines[number + 1 : number + _DEEP]:
                frame = _JAVA_FRAME.fullmatch(below)
                if frame and not frame[1].startswith(_JAVA_OWN):
                    return Crash(number, error[1], frame[2])
            return Crash(number, error[1], "")
    return None


def _go(lines: Sequence[str]) -> Crash | None:
    for number, line in enumerate(lines):
        panic = _GO.fullmatch(line)
        if panic and any(one.startswith("goroutine ") for one in lines[number + 1 : number + 6]):
            return Crash(number, panic[1], _first_frame(lines, number, _GO_FRAME, _is_of_go))
    return None


def _rust(lines: Sequence[str]) -> Crash | None:
    for number, line in enumerate(lines):
        if line.startswith("thread '") and (panic := _RUST.fullmatch(line)):
            message = panic["said"] or next(iter(lines[number + 1 : number + 2]), "")
            return Crash(number, message or "panic", panic[2])
    return None


def _whole(message: str, below: Iterable[str]) -> str:
    """Return a message, with the next line if its first line only announces that."""
    if not message.endswith(":"):
        return message
    return " ".join([message, *islice((line.strip() for line in below if line.strip()), 1)])


def _first_frame(
    lines: Sequence[str], start: int, frame: re.Pattern[str], skip: Callable[[str], bool]
) -> str:
    """Return the innermost place in a stack that is the project's own."""
    below: Iterable[str] = lines[start + 1 : start + _DEEP]
    places = (found[1] for line in below if (found := frame.fullmatch(line)))
    return next((place for place in places if not skip(place)), "")


def _is_of_node(place: str) -> bool:
    return place.startswith("node:") or "/node_modules/" in place


def _is_of_go(place: str) -> bool:
    return any(part in place for part in _GO_OWN)
