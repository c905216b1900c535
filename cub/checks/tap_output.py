"""Read the Test Anything Protocol, versions 12 to 14, `prove` and tap-spec."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from cub.checks.output_rules import LocatedItem, OutputParser, Rule, locate_item, make_parser

_KEY = re.compile(r"\s+(?:message|error): *(.*)")
_PLACE = re.compile(r"\s+location: *['\"]?(.+?):\d+:\d+['\"]?")
_COMMENT = re.compile(r" *# *(.*)")
_VAGUE = re.compile(r"(?:Failed test\b|at \S+ line \d+|\(in test|Looks like |Subtest: ).*|")
_MAX_COMMENTS = 2  # of a message; more are its details


_START = re.compile(r"TAP version 1\d|1\.\.\d+(?: *#.*)?")
_POINT = re.compile(
    r"( *)(not ok|ok)\b(?: +(\d+))?(?:(?P<dash> +- +)| +|\Z)(?P<name>.*?)"
    r"(?: *# time=[\d.]+ ?\w{1,2}(?P<brace> \{)?)?"  # subtests follow in braces
)
_DIRECTIVE = re.compile(r"(?:^|\s)# *(?:TODO|SKIP)\b", re.IGNORECASE)
_BAIL = re.compile(r"Bail out! *(.*)")
_MAX_SUBTESTS = 8


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
    for number, line in enumerate(lines):
        if bail := _BAIL.fullmatch(line):
            yield locate_item(number, "error", "TAP", bail[1])
    if any(map(_START.fullmatch, lines)):
        failures = list[_Failure]()
        for point in _iter_points(lines):
            _add_failure(failures, point, lines)
        yield from (failure.to_item() for failure in failures)


class _Point(NamedTuple):
    """Hold the line of a test or assertion, its match, and the comment that names the test."""

    line: int
    match: re.Match[str]
    title: str = ""


def _iter_points(lines: Sequence[str]) -> Iterator[_Point]:
    """Yield what passed and failed, each after its subtests, which may follow it in braces."""
    opened, title, explains_failure = list[_Point](), "", False
    for number, line in enumerate(lines):
        if line.startswith("# "):
            title = title if explains_failure else line[2:].strip()
        elif point := _POINT.fullmatch(line):
            if point["brace"]:
                opened.append(_Point(number, point))
            else:
                yield _Point(number, point, title)
            explains_failure = point[2] == "not ok"
        elif line.strip() == "...":  # after it, a comment says nothing of the failure
            explains_failure = False
        elif opened and line == f"{opened[-1].match[1]}}}":
            yield opened.pop()
    yield from reversed(opened)


def _add_failure(failures: list[_Failure], located: _Point, lines: Sequence[str]) -> None:
    """Add a failure; one that contains others is a part of their names instead.

    tape names a test in the comment before its assertions, which are often called alike.
    """
    number, point, title = located
    indent = len(point[1])
    name = point["name"].strip().replace("\\#", "#") or f"test {point[3] or ''}"
    is_parent = False
    for failure in reversed(failures):
        if failure.indent <= indent:
            break
        if len(failure.names) < _MAX_SUBTESTS:
            failure.names.insert(0, name)
        failure.indent, is_parent = indent, True
    if point[2] == "ok" or is_parent or _DIRECTIVE.search(point["name"]):
        return
    below = lines[number + 1 : number + 60]
    block = list(_list_block_lines(below, indent))
    path = next((place[1] for place in map(_PLACE.fullmatch, block) if place), "")
    names = [name] if point["dash"] or not title else [title, name]
    failures.append(_Failure(number, indent, names, _find_message(block, below), path))


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


TAP = OutputParser(("not ok", "Bail out!"), _parse)
_PROVED = r"(\S+) +\(Wstat: \d+ .*Failed: \d+\)\n  (Failed tests?: .+)"
PROVE_AND_TAP_SPEC = make_parser(
    Rule("(Wstat: ", _PROVED, "test {1} | {2}"),
    Rule("  Failed T", r"(?P<listing>  Failed Tests: There (?:was|were) \d+ failures?)"),
    Rule("      ", r"      (?:✖|x) (.+)", "test {title} > {1}", within="listing"),
    Rule("    ", r"    (?P<title>.*)"),
)

TAP_TOOLS = (TAP, PROVE_AND_TAP_SPEC)
