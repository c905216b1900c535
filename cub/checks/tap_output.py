"""Read the Test Anything Protocol, versions 12 to 14, and the output of `prove`.

Below a failed test there may be a block of YAML, or comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cub.checks.failing_items import FailingItem, LocatedItem, OutputParser

_KEY = re.compile(r"\s+(?:message|error): *(.*)")
_PLACE = re.compile(r"\s+location: *['\"]?(.+?):\d+:\d+['\"]?")
_COMMENT = re.compile(r" *# *(.*)")
_VAGUE = re.compile(r"(?:Failed test\b|at \S+ line \d+|\(in test|Looks like |Subtest: ).*|")
_MOST = 2  # comments make a message; more are its details


def find_failure_message(below: Sequence[str], indent: int) -> str:
    """Return the block's `message` or `error`; without a block, the text of the comments."""
    block = list(_block(below, indent))
    for number, line in enumerate(block):
        if told := _KEY.fullmatch(line):
            if told[1] not in ("|", "|-", "|+", ">", ">-", ""):
                return _unquote(told[1])
            return _first_telling(line.strip() for line in block[number + 1 :])
    comments = (comment[1] for line in _comments(below) if (comment := _COMMENT.fullmatch(line)))
    return _first_telling(comments)


def find_failure_file(below: Sequence[str], indent: int) -> str:
    """Return the file that the block names, "" for none."""
    places = (place[1] for line in _block(below, indent) if (place := _PLACE.fullmatch(line)))
    return next(places, "")


def _first_telling(texts: Iterator[str]) -> str:
    told = [text for text in texts if not _VAGUE.fullmatch(text)]
    return " ".join(told[:_MOST])


def _block(below: Sequence[str], indent: int) -> Iterator[str]:
    if not below or below[0].strip() != "---" or not below[0].startswith(" " * (indent + 1)):
        return
    for line in below[1:]:
        if line.strip() == "...":
            return
        yield line


def _comments(below: Sequence[str]) -> Iterator[str]:
    for line in below:
        if not line.lstrip().startswith("#") or "# Subtest: " in line:
            return
        yield line


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


_START = re.compile(r"TAP version 1\d|1\.\.\d+(?: *#.*)?")
_POINT = re.compile(r"( *)(not ok|ok)\b(?: +(\d+))?(?: +- +| +|\Z)(.*)")
_DIRECTIVE = re.compile(r"(?:^|\s)# *(?:TODO|SKIP)\b", re.IGNORECASE)
_BAIL = re.compile(r"Bail out! *(.*)")
_PROVED = re.compile(r"(\S+) +\(Wstat: \d+ .*Failed: \d+\)")
_DEEPEST = 8
_FAILED = re.compile(r"  (Failed tests?: .+)")


@dataclass(slots=True)
class _Failure:
    line: int
    indent: int
    names: list[str]  # the last is its own, those before are the subtests around it
    message: str
    path: str

    def to_item(self) -> LocatedItem:
        if self.names == [self.path]:  # Node tells a file that could not be run as a test
            return LocatedItem(self.line, FailingItem("error", self.path, self.message))
        names = [self.path, *self.names] if self.path else self.names
        return LocatedItem(self.line, FailingItem("test", " > ".join(names), self.message))


def _parse(lines: Sequence[str]) -> Iterator[LocatedItem]:
    failures = list[_Failure]()
    inside = False
    for number, line in enumerate(lines):
        if _START.fullmatch(line):
            inside = True
        elif bail := _BAIL.fullmatch(line):
            yield LocatedItem(number, FailingItem("error", "TAP", bail[1]))
        elif point := _POINT.fullmatch(line):
            _add(failures, number, point, lines)
    if inside:
        yield from (failure.to_item() for failure in failures)


def _add(failures: list[_Failure], number: int, point: re.Match[str], lines: Sequence[str]) -> None:
    """Keep a failure; one that holds others names them, and is none of its own."""
    indent, name = len(point[1]), point[4].strip().replace("\\#", "#") or f"test {point[3] or ''}"
    holds = False
    for failure in reversed(failures):
        if failure.indent <= indent:
            break
        if len(failure.names) < _DEEPEST:
            failure.names.insert(0, name)
        failure.indent, holds = indent, True
    if point[2] == "ok" or holds or _DIRECTIVE.search(point[4]):
        return
    below = lines[number + 1 : number + 60]
    told = _Failure(
        number,
        indent,
        [name],
        find_failure_message(below, indent),
        find_failure_file(below, indent),
    )
    failures.append(told)


def _prove(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines[1:], 1):
        failed, proved = _FAILED.fullmatch(line), _PROVED.fullmatch(lines[number - 1])
        if failed and proved:
            yield LocatedItem(number, FailingItem("test", proved[1], failed[1]))


TAP = OutputParser(("not ok", "Bail out!"), _parse)
PROVE = OutputParser(("(Wstat: ",), _prove)
