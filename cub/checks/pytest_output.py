"""Read pytest's output: the short summary, tracebacks, the list of `-v`, and startup errors."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from cub.checks.output_rules import LocatedItem, OutputParser, locate_item

_PHASE = re.compile(r"ERROR (?:at \w+ of|collecting) (.+)")
_PLACE = re.compile(r'(?:  File "(?P<native>[^"]+)", line \d+|(?P<path>[^\s:][^:]*\.py):\d+: ?).*')
_EXCEPTION = re.compile(r"(?![\d.])[\w.]*(?:Error|Exception|Warning|Failed|Exit|Interrupt)\b.*")


@dataclass(slots=True)
class _Traceback:
    """Hold a traceback with its title; its kind is that of the items in its part."""

    line: int
    kind: str
    title: str
    lines: list[str] = field(default_factory=list)

    @property
    def test_label(self) -> str:
        """Return the test's name without its file, or the file that could not be collected."""
        phase = _PHASE.fullmatch(self.title)
        return phase[1] if phase else self.title

    def find_test_id(self, root: str) -> str:
        """Return the test's id, without its file if the traceback does not contain that."""
        if self.title.startswith("ERROR collecting "):
            return self.test_label
        places = filter(None, map(_PLACE.fullmatch, self.lines))
        paths = [(at["native"] or at["path"]).removeprefix(root + "/") for at in places]
        path = next(filter(_is_test, paths), paths[0] if paths else "")
        name, bracket, rest = self.test_label.partition("[")
        name = name.replace(".", "::") + bracket + rest
        return f"{path}::{name}" if path else name

    def find_message(self, summary: str) -> str:
        """Return the exception's first line; `summary` is the summary's text, which may be cut."""
        exceptions = list(self._list_exceptions())
        start = summary.removesuffix("...")
        texts = [text for lines in reversed(exceptions) for text in lines] + self.lines
        if summary and (full := next((text for text in texts if text.startswith(start)), "")):
            return full
        if summary and start == summary:
            return summary
        last = exceptions[-1] if exceptions else list(filter(_EXCEPTION.match, self.lines))[-1:]
        first = (line for line in self.lines if line.strip() and not line.startswith("[gw"))
        return next(filter(_EXCEPTION.match, last), "") or (last[0] if last else next(first, ""))

    def _list_exceptions(self) -> Iterator[list[str]]:
        """Yield the lines marked with an E of each exception of a chain."""
        exception = list[str]()
        for line in [*self.lines, ""]:
            if line.startswith("E   "):
                exception.append(line[4:].strip())
            elif exception:
                yield exception
                exception = []


def _is_test(path: str) -> bool:
    name = posixpath.basename(path.replace("\\", "/"))
    return name.startswith("test_") or name.endswith("_test.py")


_TOTAL = re.compile(
    r"\d+ (?:passed|failed|skipped|x\w+|errors?|warnings?|deselected)\b.* in [\d.]+s.*"
)


def _parse_title(line: str, sign: str) -> str | None:
    """Return the text between two rules of a sign; None for any other line.

    The counts that `-q` prints at the end are a title without rules.
    """
    if sign == "=" and line[:1].isdigit() and _TOTAL.fullmatch(line):
        return line
    if not (line.startswith(sign) and line.endswith(sign)):
        return None
    title = line.strip(sign)
    inner = title[1:-1]
    spaced = title.startswith(" ") and title.endswith(" ")
    return inner if spaced and inner.strip(sign + " ") else None


def find_traceback_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the lines of tracebacks and of failing tests' output, which are not findings."""
    is_traceback, numbers = False, list[int]()
    for number, line in enumerate(lines):
        if (title := _parse_title(line, "=")) is not None:
            is_traceback = title in ("FAILURES", "ERRORS")
        if is_traceback:
            numbers.append(number)
    return frozenset(numbers)


_MISSING = ("ERROR: file or directory not found: ", "ERROR: not found: ")
_CONFTEST = re.compile(r"\w+ while loading conftest '(.+)'\.")
_INTERNAL = "INTERNALERROR> "
_RAISED = re.compile(r"(?:E   |INTERNALERROR> )([A-Za-z_][\w.]*(?:: .*)?)")
_MAX_STARTUP_ERRORS = 20  # in one log; a run has one
_MAX_TRACEBACK_LINES = 500
_MAX_DISTANCE = 9  # lines between a missing file and the line that says that no tests ran
_LOW_COVERAGE = "FAIL Required test coverage of "  # of pytest-cov
_STARTUP_TRIGGERS = (*_MISSING, _INTERNAL, " while loading conftest '")


def _find_startup_errors(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if line.startswith(_MISSING) and _is_without_tests(lines, number):
            _, message, where = line.split(": ", 2)
            yield locate_item(number, "error", where, message)
        elif conftest := _CONFTEST.fullmatch(line):
            yield locate_item(number, "error", conftest[1], _find_exception(lines, number + 1))
        elif line.startswith(_INTERNAL) and not lines[number - 1].startswith(_INTERNAL):
            yield locate_item(number, "error", "pytest", _find_exception(lines, number))


def _is_without_tests(lines: Sequence[str], number: int) -> bool:
    near = lines[max(0, number - _MAX_DISTANCE) : number + _MAX_DISTANCE]
    return any("no tests ran in " in line for line in near)


def _find_exception(lines: Sequence[str], start: int) -> str:
    """Return the last exception that a traceback contains."""
    message = ""
    for line in lines[start : start + _MAX_TRACEBACK_LINES]:
        if line.startswith("="):
            break
        if raised := _RAISED.fullmatch(line):
            message = raised[1]
    return message


_KINDS = {"FAILED": "test", "ERROR": "error"}
_MODES = {"FAILURES": "test", "ERRORS": "error", "short test summary info": "summary"}
_SUBTEST = re.compile(r"SUBFAIL(?:ED)?(?P<name>[\[( ].*?[\])]) (?P<rest>[^\s\])][^\])]*?::.*)")


@dataclass(slots=True)
class _Run:
    """Hold one run of pytest; a log may have several."""

    root: str = ""
    blocks: list[_Traceback] = field(default_factory=list)
    summary: list[tuple[int, str]] = field(default_factory=list)
    listed: list[LocatedItem] = field(default_factory=list)

    def list_items(self) -> list[LocatedItem]:
        """Return the summary's items with messages of the tracebacks, or the tracebacks' alone."""
        blocks = dict[tuple[str, str], deque[_Traceback]]()
        for block in self.blocks:
            blocks.setdefault((block.kind, block.test_label), deque()).append(block)
        items = [
            one for line, text in self.summary for one in _parse_summary_line(line, text, blocks)
        ]
        kinds = {one.item.kind for one in items}
        rest = [
            locate_item(
                block.line, block.kind, block.find_test_id(self.root), block.find_message("")
            )
            for block in self.blocks
            if block.kind not in kinds
        ]
        return items + rest or self.listed


def _parse_summary_line(
    line: int, text: str, blocks: dict[tuple[str, str], deque[_Traceback]]
) -> Iterator[LocatedItem]:
    word, _, rest = text.partition(" ")
    subtest = _SUBTEST.fullmatch(text)
    if subtest:
        word, rest = "FAILED", subtest["rest"]
    if word not in _KINDS or not rest or rest[0] == " ":
        return
    where, message = _split_summary(rest)
    label = _format_label(where)
    if subtest:
        where, label = (f"{name} {subtest['name'].strip()}" for name in (where, label))
    path = where.partition("::")[0]  # what crashed has no other title
    block = blocks.get((_KINDS[word], label)) or blocks.get((_KINDS[word], path))
    message = block.popleft().find_message(message) if block else message
    yield locate_item(line, _KINDS[word], where, message)


def _split_summary(text: str) -> tuple[str, str]:
    """Return the test's name and the message: " - " may also be in a parameter."""
    at = first = text.find(" - ")
    while at >= 0:
        name = text[:at].partition("::")[2]
        if "[" not in name or name.endswith("]"):
            return text[:at], text[at + 3 :]
        at = text.find(" - ", at + 1)
    return (text[:first], text[first + 3 :]) if first >= 0 else (text, "")


def _format_label(where: str) -> str:
    """Return the name as it appears above the test's traceback."""
    path, _, name = where.partition("::")
    name, bracket, parameters = name.partition("[")
    return name.replace("::", ".") + bracket + parameters if name else path


def _parse(lines: Sequence[str]) -> Iterator[LocatedItem]:
    yield from islice(_find_startup_errors(lines), _MAX_STARTUP_ERRORS)
    run, mode = _Run(), ""
    for number, line in enumerate(lines):
        if (title := _parse_title(line, "=")) is not None:
            if title == "test session starts" or (mode == "summary" and title in _MODES):
                yield from run.list_items()
                run = _Run()
            mode = _MODES.get(title, "")
        elif line.startswith(_LOW_COVERAGE):  # before the summary, but tests matter more
            yield locate_item(len(lines), "lint", "coverage", line)
        elif mode == "summary":
            run.summary.append((number, line))
        elif mode and (title := _parse_title(line, "_")) is not None:
            run.blocks.append(_Traceback(number, mode, title))
        elif mode and run.blocks:
            run.blocks[-1].lines.append(line)
        elif line.startswith("rootdir: "):
            run.root = line[9:].partition(", ")[0]
        else:
            run.listed += _parse_verbose_line(number, line)
    yield from run.list_items()


def _parse_verbose_line(number: int, line: str) -> Iterator[LocatedItem]:
    """Yield the item of a line of `-v`, of one process or of a worker."""
    if not line.endswith("%]") and "%] " not in line:
        return
    for word, kind in _KINDS.items():
        before, _, after = line.rpartition(f" {word} ")
        name = after if before.endswith("%]") else before
        if "::" in name and (name is after or after.strip().startswith("[")):
            yield locate_item(number, kind, name, "")


PYTEST = OutputParser(
    (
        "= test session starts =",
        "= FAILURES =",
        "= ERRORS =",
        "= short test summary info =",
        _LOW_COVERAGE,
        *_STARTUP_TRIGGERS,
    ),
    _parse,
)
