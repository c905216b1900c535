"""Read the failed tests of Jest, Vitest, `node --test`, Playwright, AVA, uvu, Bun and Deno."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from cub.checks.failing_items import (
    FailingItem,
    LocatedItem,
    OutputParser,
    find_first_text,
    locate_item,
)

_FILE = re.compile(r" ?(FAIL|PASS) +(.*\S\.\w+)(?: \([\d.]+ m?s\))?")
_JEST_TEST = "  ● "
_ARROW = "\u203a"  # between the titles
_NOT_TESTS = ("Console", "Console:")
_SUITE = "Test suite failed to run"
_VALUE = re.compile(r"\s+((?:Expected|Received)[\w ]*: .*)")


def _parse_jest(lines: Sequence[str]) -> Iterator[LocatedItem]:
    path = ""
    for number, line in enumerate(lines):
        if file := _FILE.fullmatch(line):
            path = file[2] if file[1] == "FAIL" else ""
        elif line.startswith("Test Suites: "):
            path = ""
        elif path and line.startswith(_JEST_TEST):
            title = line[len(_JEST_TEST) :].strip()
            if title and title not in _NOT_TESTS:
                below = lines[number + 1 : number + 60]
                if title == _SUITE:
                    yield locate_item(number, "error", path, _find_suite_message(below))
                else:
                    where = f"{path} {_ARROW} {title}"
                    yield locate_item(number, "test", where, _find_jest_message(below))


def _find_jest_message(below: Sequence[str]) -> str:
    """Return the first line, and what an `expect` expected and received."""
    texts = (line for line in below if line.strip())
    first = next(texts, "").strip()
    if not first.removeprefix("Error: ").startswith("expect("):
        return first
    values = [value[1] for line in islice(texts, 4) if (value := _VALUE.fullmatch(line))]
    return "; ".join([first, *values])


def _find_suite_message(below: Sequence[str]) -> str:
    """Return why a suite did not run, after "Details:" if there is advice first."""
    for number, line in enumerate(below):
        if line.strip() == "Details:":
            return _find_jest_message(below[number + 1 :])
        if line.startswith(_JEST_TEST):
            break
    return _find_jest_message(below)


JEST = OutputParser((_JEST_TEST,), _parse_jest)


_RULE = re.compile(r"⎯+ *(Failed Suites|Failed Tests|Uncaught Exception|Unhandled \w+)\b[^⎯]*⎯+")
_FAIL = re.compile(r" FAIL  (.+)")
_SOURCE = 'This error originated in "'


def _parse_vitest(lines: Sequence[str]) -> Iterator[LocatedItem]:
    part = ""
    for number, line in enumerate(lines):
        if rule := _RULE.fullmatch(line):
            part = rule[1]
            if part.startswith("U") and part != "Unhandled Errors":
                yield LocatedItem(number, _read_uncaught(lines[number + 1 : number + 60]))
        elif line.startswith(" Test Files "):
            part = ""
        elif part and (fail := _FAIL.fullmatch(line)):
            kind = "error" if part == "Failed Suites" else "test"
            path, _, again = fail[1].partition(" [ ")
            where = path if again == f"{path} ]" else fail[1]
            # Tests with the same failure share one message.
            below = (line for line in lines[number + 1 : number + 30] if line[:7] != " FAIL  ")
            yield locate_item(number, kind, where, find_first_text(below))


def _read_uncaught(below: Sequence[str]) -> FailingItem:
    source = next((line for line in below if line.startswith(_SOURCE)), "")
    where = source[len(_SOURCE) :].partition('"')[0] or "vitest"
    return FailingItem("error", where, find_first_text(below))


VITEST = OutputParser(("⎯",), _parse_vitest)


_LIST = "✖ failing tests:"
_PLACE = re.compile(r"test at (.+?):\d+:\d+")
_NODE_TEST_LINE = re.compile(r"✖ (.+) \([\d.]+ms\)(.*)")


def _parse_node_test(lines: Sequence[str]) -> Iterator[LocatedItem]:
    is_listing, path = False, ""
    for number, line in enumerate(lines):
        if line == _LIST:
            is_listing = True
        elif is_listing and (place := _PLACE.fullmatch(line)):
            path = place[1]
        elif is_listing and path and (test := _NODE_TEST_LINE.fullmatch(line)):
            if not test[2]:  # neither TODO nor SKIP
                message = "".join(lines[number + 1 : number + 2]).strip()
                is_file = test[1] == path  # which could not be run
                kind, where = ("error", path) if is_file else ("test", f"{path} > {test[1]}")
                yield locate_item(number, kind, where, message)
            path = ""


NODE_TEST = OutputParser((_LIST,), _parse_node_test)


_ENTRY = re.compile(r"  \d+\) (\S.*?) [─=]+")
_FAILED_LIST = re.compile(r"  \d+ (\w+)")
_SPEC = re.compile(rf"((?:\[[^\[\]]+\] {_ARROW} )?\S.*?):\d+:\d+( {_ARROW} .+?)(?: [─=]+)?")
_NOT_RUN = re.compile(r"   at (\S+\.[cm]?[jt]sx?):\d+")
_RAISED = re.compile(r"\w*[Ee]rror: .+")


def _parse_playwright(lines: Sequence[str]) -> Iterator[LocatedItem]:
    messages, raised, part = dict[str, str](), "", ""
    for number, line in enumerate(lines):
        if entry := _ENTRY.fullmatch(line):
            messages[entry[1]] = _find_jest_message(lines[number + 1 : number + 30])
        elif heading := _FAILED_LIST.fullmatch(line):
            part = heading[1]
        elif line.startswith("    ") and part in ("failed", "interrupted"):
            if spec := _SPEC.fullmatch(line[4:]):
                message = messages.get(line.strip(" ─="), "")
                yield locate_item(number, "test", spec[1] + spec[2], message)
        elif _RAISED.fullmatch(line):
            raised = line
        elif raised and (place := _NOT_RUN.fullmatch(line)):
            yield locate_item(number, "error", place[1], raised)
            raised = ""
        else:
            part = ""


PLAYWRIGHT = OutputParser((f" {_ARROW} ", "   at "), _parse_playwright)


_AVA = re.compile(r"  ✘ \[fail\]: (.+)")
_AVA_REASON = re.compile(r" (?:Error thrown in|Rejected promise returned by|Exiting due to) .*\Z")
_AVA_UNLOADED = re.compile(r"  Uncaught exception in (\S.*)")
_INDENTED = re.compile(r"  (\w*Error: .+)")


def _parse_ava(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if fail := _AVA.fullmatch(line):
            title = _AVA_REASON.sub("", fail[1])
            yield locate_item(number, "test", title, fail[1][len(title) :].strip())
        elif unloaded := _AVA_UNLOADED.fullmatch(line):
            errors = map(_INDENTED.fullmatch, lines[number + 1 : number + 20])
            message = next((error[1] for error in errors if error), "")
            yield locate_item(number, "error", unloaded[1], message)


AVA = OutputParser(("✘ [fail]: ", "  Uncaught exception in "), _parse_ava)


_UVU_FILE = re.compile(r"\S+\.[cm]?[jt]sx?")
_UVU_FAIL = re.compile(r'   FAIL  (?:(\S.*?)  )?"(.+)"')


def _parse_uvu(lines: Sequence[str]) -> Iterator[LocatedItem]:
    path = ""
    for number, line in enumerate(lines):
        if _UVU_FILE.fullmatch(line):
            path = line
        elif fail := _UVU_FAIL.fullmatch(line):
            where = " > ".join(filter(None, (path, *fail.groups())))
            yield locate_item(number, "test", where, "".join(lines[number + 1 : number + 2]))


UVU = OutputParser(("   FAIL  ",), _parse_uvu)


_BUN_FILE = re.compile(r"(\S.*\.[cm]?[jt]sx?):")
_BUN_FAIL = re.compile(r"(?:\(fail\)|✗) (.+?)(?: \[[\d.]+m?s\])?")
_BUN_UNLOADED = "# Unhandled error between tests"


def _parse_bun(lines: Sequence[str]) -> Iterator[LocatedItem]:
    path = raised = ""
    for number, line in enumerate(lines):
        if file := _BUN_FILE.fullmatch(line):
            path, raised = file[1], ""
        elif fail := _BUN_FAIL.fullmatch(line):
            yield locate_item(number, "test", f"{path} > {fail[1]}", raised)
            raised = ""
        elif _RAISED.fullmatch(line):
            raised = line
        elif path and line == _BUN_UNLOADED:
            errors = filter(_RAISED.fullmatch, lines[number + 1 : number + 30])
            yield locate_item(number, "error", path, next(errors, ""))


BUN = OutputParser(("(fail) ", "✗ ", _BUN_UNLOADED), _parse_bun)


_DENO = re.compile(r"(\S.*) => (?:\./)?(\S+):\d+:\d+")
_DENO_UNLOADED = re.compile(r"(?:\./)?(\S+) \(uncaught error\)")
_DENO_ERROR = "error: "
_DENO_TYPE = re.compile(r"(TS\d+) \[ERROR\]: (.+)")
_DENO_PLACE = re.compile(r"    at (?:file://)?(\S+:\d+:\d+)")


def _parse_deno(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines[:-1]):
        is_raised = lines[number + 1].startswith(_DENO_ERROR)
        message = lines[number + 1].removeprefix(_DENO_ERROR)
        if is_raised and (test := _DENO.fullmatch(line)):
            yield locate_item(number, "test", f"{test[2]} > {test[1]}", message)
        elif is_raised and (unloaded := _DENO_UNLOADED.fullmatch(line)):
            yield locate_item(number, "error", unloaded[1], message)
        elif error := _DENO_TYPE.fullmatch(line):
            places = map(_DENO_PLACE.fullmatch, lines[number + 1 : number + 9])
            where = next((place[1] for place in places if place), "deno")
            yield locate_item(number, "type", where, f"{error[1]} {error[2]}")


DENO = OutputParser((" => ", "(uncaught error)", " [ERROR]: "), _parse_deno)
