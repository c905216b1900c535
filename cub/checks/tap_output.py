"""Read the Test Anything Protocol, versions 12 to 14, and the output of `prove`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from cub.checks.failing_items import LocatedItem, OutputParser, locate_item

_KEY = re.compile(r"\s+(?:message|error): *(.*)")
_PLACE = re.compile(r"\s+location: *['\"]?(.+?):\d+:\d+['\"]?")
_COMMENT = re.compile(r" *# *(.*)")
_VAGUE = re.compile(r"(?:Failed test\b|at \S+ line \d+|\(in test|Looks like |Subtest: ).*|")
_MAX_COMMENTS = 2  # of a message; more are its details


_START = re.compile(r"TAP version 1\d|1\.\.\d+(?: *#.*)?")
_POINT = re.compile(r"( *)(not ok|ok)\b(?: +(\d+))?(?: +- +| +|\Z)(.*)")
_DIRECTIVE = re.compile(r"(?:^|\s)# *(?:TODO|SKIP)\b", re.IGNORECASE)
_BAIL = re.compile(r"Bail out! *(.*)")
_PROVED = re.compile(r"(\S+) +\(Wstat: \d+ .*Failed: \d+\)")
_MAX_SUBTESTS = 8
_FAILED = re.compile(r"  (Failed tests?: .+)")


@dataclass(slots=True)
class _Failure:
    line: int
    indent: int
    names: list[str]  # of the subtests around it, and its own
    message: str
    path: str

    def to_item(self) -> LocatedItem:
        if self.names == [self.path]:  # how Node reports a file that could not be run
            return locate_item(self.line, "error", self.path, self.message)
        names = [self.path, *self.names] if self.path else self.names
        return locate_item(self.line, "test", " > ".join(names), self.message)


def _parse(lines: Sequence[str]) -> Iterator[LocatedItem]:
    failures = list[_Failure]()
    is_tap = False
    for number, line in enumerate(lines):
        if _START.fullmatch(line):
            is_tap = True
        elif bail := _BAIL.fullmatch(line):
            yield locate_item(number, "error", "TAP", bail[1])
        elif point := _POINT.fullmatch(line):
            _add_failure(failures, number, point, lines)
    if is_tap:
        yield from (failure.to_item() for failure in failures)


def _add_failure(
    failures: list[_Failure], number: int, point: re.Match[str], lines: Sequence[str]
) -> None:
    """Add a failure; one that contains others is a part of their names instead."""
    indent, name = len(point[1]), point[4].strip().replace("\\#", "#") or f"test {point[3] or ''}"
    is_parent = False
    for failure in reversed(failures):
        if failure.indent <= indent:
            break
        if len(failure.names) < _MAX_SUBTESTS:
            failure.names.insert(0, name)
        failure.indent, is_parent = indent, True
    if point[2] == "ok" or is_parent or _DIRECTIVE.search(point[4]):
        return
    below = lines[number + 1 : number + 60]
    block = list(_list_block_lines(below, indent))
    path = next((place[1] for place in map(_PLACE.fullmatch, block) if place), "")
    failures.append(_Failure(number, indent, [name], _find_message(block, below), path))


def _list_block_lines(below: Sequence[str], indent: int) -> Iterator[str]:
    """Yield the lines of the YAML block below a failed test, if there is one."""
    if below and below[0].strip() == "---" and below[0].startswith(" " * (indent + 1)):
        yield from takewhile(lambda line: line.strip() != "...", below[1:])


def _find_message(block: Sequence[str], below: Sequence[str]) -> str:
    """Return the block's `message` or `error`; without either, the text of the comments."""
    for number, line in enumerate(block):
        if key := _KEY.fullmatch(line):
            if key[1] in ("|", "|-", "|+", ">", ">-", ""):
                return _join_telling(line.strip() for line in block[number + 1 :])
            return re.sub(r"\A(['\"])(.*)\1\Z", r"\2", key[1])
    comments = takewhile(lambda line: "# Subtest: " not in line, below)
    matches = takewhile(bool, map(_COMMENT.fullmatch, comments))
    return _join_telling(comment[1] for comment in matches if comment)


def _join_telling(texts: Iterable[str]) -> str:
    return " ".join([text for text in texts if not _VAGUE.fullmatch(text)][:_MAX_COMMENTS])


def _parse_prove(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines[1:], 1):
        failed, proved = _FAILED.fullmatch(line), _PROVED.fullmatch(lines[number - 1])
        if failed and proved:
            yield locate_item(number, "test", proved[1], failed[1])


TAP = OutputParser(("not ok", "Bail out!"), _parse)
PROVE = OutputParser(("(Wstat: ",), _parse_prove)
