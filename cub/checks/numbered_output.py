"""Read test runners that number their failures: Mocha, Jasmine, RSpec, minitest, PHPUnit, ExUnit.

Numbers depend on the order of the run, so only the names identify a test.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, dropwhile, islice, takewhile
from typing import NamedTuple

from cub.checks.output_rules import (
    LocatedItem,
    OutputParser,
    Rule,
    find_first_match,
    locate_item,
    make_parser,
    read_rules,
)

_MAX_BELOW = 60  # lines of a failure
_HEAD = re.compile(r" *(\d{1,6})\) (\S.*)")
_VALUE = re.compile(r"(?:[Ee]xpected|[Aa]ctual|got|left|right): .+|Failed asserting that .+")


class _Entry(NamedTuple):
    """Hold one entry of a numbered list: its line, its section, its title and what follows."""

    line: int
    section: str
    title: str
    below: Sequence[str]


def _iter_entries(lines: Sequence[str], section: re.Pattern[str]) -> Iterator[_Entry]:
    """Yield the entries of each section: in each, the numbers count from 1."""
    name, last = "", 0
    for number, line in enumerate(lines):
        if start := section.fullmatch(line):
            name, last = start[1] or "", 0
        elif name and (entry := _HEAD.fullmatch(line)) and int(entry[1]) == last + 1:
            last += 1
            yield _Entry(number, name, entry[2], lines[number + 1 : number + _MAX_BELOW])


def _join_message(below: Iterable[str]) -> str:
    """Return the first text, what it announces if it ends with a colon, and compared values."""
    texts = dropwhile(operator.not_, (line.strip() for line in below))
    first, *rest = [*islice(takewhile(bool, texts), 8)] or [""]
    if first.endswith(":"):
        first = f"{first} {rest[0] if rest else next(filter(None, texts), '')}".rstrip()
    values = (text for text in rest if _VALUE.fullmatch(text) and text not in first)
    return "; ".join([first, *values])


_MOCHA_SECTION = re.compile(r" +\d+ (failing|passing|pending)\b.*")
_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook\b.*')


def _parse_mocha(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for entry in _iter_entries(lines, _MOCHA_SECTION):
        if entry.section == "failing":
            nested = list(_take_nested(entry.below))
            *suites, title = entry.title, *nested
            where = " > ".join([*suites, title.removesuffix(":")])
            kind = "error" if _HOOK.match(title) else "test"
            yield locate_item(entry.line, kind, where, _join_message(entry.below[len(nested) :]))


def _take_nested(below: Sequence[str]) -> Iterator[str]:
    """Yield the titles inside of the first: each is indented more than the one before."""
    for indent, line in zip(count(7, 2), below, strict=False):
        if not line.startswith(" " * indent) or line[indent : indent + 1].isspace():
            return
        yield line.strip()


MOCHA = OutputParser((" failing",), _parse_mocha)


JASMINE = make_parser(
    Rule("Failures", r"(?P<failures>Failures):?"),
    Rule("", r"(?:Pending|Suite error.*|\d+ specs?, .*):?(?P<failures>)"),
    Rule("  Message:", r" *\d+\) (\S.*)\n  Message:", "test {1} | {text}", within="failures"),
)


_RSPEC_SECTION = re.compile(r"(Failures|Pending|Failed examples):.*")
_FAILED_EXAMPLE = re.compile(r"rspec '?(?:\./)?(\S+?)(?::\d+|\[[\d:]+\])'? # (.+)")
_OUTSIDE = re.compile(
    r"An error occurred (?:while loading|in an?) (?:\./)?(.+?)\.?(?: - Did you mean\?)?"
)
_CAUSE = "Failure/Error:"


def _parse_rspec(lines: Sequence[str]) -> Iterator[LocatedItem]:
    entries = _iter_entries(lines, _RSPEC_SECTION)
    messages = {entry.title: _find_rspec_message(entry.below) for entry in entries}
    for number, line in enumerate(lines):
        if failed := _FAILED_EXAMPLE.fullmatch(line):
            path, title = failed.groups()
            yield locate_item(number, "test", f"{path} > {title}", messages.get(title, ""))
        elif outside := _OUTSIDE.fullmatch(line):
            below = lines[number + 1 : number + _MAX_BELOW]
            yield locate_item(number, "error", outside[1], _find_rspec_message(below))


def _find_rspec_message(below: Sequence[str]) -> str:
    """Return what follows the source code that failed, which may have several lines."""
    for number, line in enumerate(below):
        start, mark, code = line.partition(_CAUSE)
        if mark and not start.strip():
            rest = iter(below[number + 1 :])
            if not code.strip():
                next((one for one in rest if not one.strip()), "")
            return _join_message(takewhile(lambda one: one.lstrip()[:2] != "# ", rest))
    return ""


RSPEC = OutputParser(("Failed examples:", "An error occurred "), _parse_rspec)


_PHPUNIT_SECTION = re.compile(r"--|There (?:was|were) \d+ (.+?)s?:")
_PHPUNIT_FAILURES = ("failure", "error", "PHPUnit error")
_PHP_FATAL = r"(?:PHP )?(?:Fatal|Parse) error: +(?:Uncaught )?(.+) in (\S+?)(?: on line |:)(\d+)"
_TESTDOX_MESSAGE = find_first_match(r"[ │┐├╵┴]*([^\s │┐├╵┴].*?)[\s│┐├╵┴]*")
_PHPUNIT_RULES = (
    Rule(" error: ", _PHP_FATAL, "error {2}:{3} | {1}"),
    Rule(" ✘ ", r" ✘ (\S.*)", "test {group} > {1} | {below}", _TESTDOX_MESSAGE),
    Rule("", r"(?P<group>\S.*)"),
)


def _parse_phpunit(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for entry in _iter_entries(lines, _PHPUNIT_SECTION):
        if entry.section in _PHPUNIT_FAILURES:
            kind = "error" if entry.section == "PHPUnit error" else "test"
            yield locate_item(entry.line, kind, entry.title, _join_message(entry.below))
    yield from read_rules(_PHPUNIT_RULES, lines)


PHPUNIT = OutputParser(
    ("There was ", "There were ", " ✘ ", "Fatal error: ", "Parse error: "), _parse_phpunit
)


def _join_values(below: Sequence[str]) -> str:
    return " ".join(islice((text for text in below if text.startswith("<")), 2))


_MINITEST = r"(?: {2}\d+\) )?(?:Failure|Error):\n([^\s#][^#]*#.+?)(?: \[[^\[\]]+\])?:"
_TEST_UNIT = r"(?:Failure|Error): (\w.*)\(([\w:]+)\)"
_EXUNIT = r"  \d+\) (\S.*) \((\S+)\)\n {5}\S+\.exs?:\d+"
MINITEST_AND_EXUNIT = make_parser(
    Rule(" Exception during run: ", r" Exception during run: (.*)", "error mocha | {1}"),
    Rule("#", _MINITEST, "test {1} | {below}", _join_message),
    Rule("): ", rf"{_TEST_UNIT}: (.+)", "test {2}#{1} | {3}"),
    Rule(")", _TEST_UNIT, "test {2}#{1} | {below}", _join_values),
    Rule("== Compilation error", r"== Compilation error in file (\S+) ==", "error {1} | {text}"),
    Rule("setup_all", r"  \d+\) (\S+): failure on setup_all callback\b.*", "error {1} | {text}"),
    Rule(".ex", _EXUNIT, "test {2} > {1} | {below}", _join_message),
)

NUMBERED_RUNNERS = (MOCHA, JASMINE, RSPEC, PHPUNIT, MINITEST_AND_EXUNIT)
