"""Read JUnit reports anywhere in a log, and the output of unittest and runners built on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

from cub.checks.failing_items import FailingItem
from cub.checks.output_rules import LocatedItem, OutputParser, find_first_text

_START = re.compile(r"\s*(?:<\?xml\b[^>]*\?>\s*)?(?:<!--[^>]*-->\s*)*<(testsuites?)\b")
_PROLOG = "<?xml"
_REFUSED = ("<!DOCTYPE", "<!ENTITY")  # not in a report; they may expand to any length
_SCRIPT = re.compile(r".*\.[cm]?[jt]sx?")
_PYTHON = re.compile(r"((?:\w+\.)*?)((?:[A-Z]\w*\.)*)\Z")
_JEST_UNRUN = "Test suite failed to run"  # of Jest
_VAGUE = ("", "failed", "collection failure", "test failed")
_TELLING = re.compile(r"(?:E   |\s+\S+\.go:\d+: |(?=panic: ))(.+?)(?: \[recovered.*)?")
_MARKS = ("=== ", "--- ", "●")  # of Go, before and after a test, and of Jest


def _parse_junit(lines: Sequence[str]) -> Iterator[LocatedItem]:
    number = 0
    while number < len(lines):
        end = _find_end(lines, number)
        if end > number:
            yield from (
                LocatedItem(number, item) for item in _read_report("\n".join(lines[number:end]))
            )
        number = max(end, number + 1)


def _find_end(lines: Sequence[str], start: int) -> int:
    """Return the line after the report that starts here; the start itself if there is no report."""
    line = lines[start].lstrip()
    if not line.startswith((_PROLOG, "<testsuite")):
        return start
    opening = _START.match("\n".join(lines[start : start + 20]))
    if opening is None:
        return start
    tag = re.compile(rf"<(/?){opening[1]}\b[^<]*?(/?)>")
    depth = 0
    for number in range(start, len(lines)):
        for close, empty in tag.findall(lines[number]):
            depth += -1 if close else not empty
        if depth <= 0 and opening[1] in lines[number]:
            return number + 1
    return len(lines)


def _read_report(report: str) -> list[FailingItem]:
    if any(word in report for word in _REFUSED):
        return []
    text = report[: report.rfind(">") + 1].strip()
    try:
        root = ET.fromstring(text)  # noqa: S314 - entities are refused above
    except (ET.ParseError, ValueError):
        return []
    return list(_iter_failing(root, root.get("name", "")))


def _iter_failing(root: ET.Element, tool: str) -> Iterator[FailingItem]:
    """Yield the failing cases in order, without recursion: reports may nest deeply."""
    stack: list[tuple[ET.Element, tuple[str, ...]]] = [(root, ())]
    while stack:
        element, path = stack.pop()
        if element.tag == "testcase":
            yield from _read_case(element, path, tool)
            continue
        if element.tag == "testsuite":
            tool = element.get("name", tool) if not path else tool
            path = (*path[-9:], element.get("name", ""))
        stack += [(child, path) for child in reversed(element)]


def _read_case(case: ET.Element, path: Sequence[str], tool: str) -> Iterator[FailingItem]:
    if case.find("skipped") is not None:
        return
    for tag, kind in (("failure", "test"), ("error", "error")):
        if (failure := case.find(tag)) is not None:
            message = _find_junit_message(failure)
            if case.get("classname") == _JEST_UNRUN:
                yield FailingItem("error", case.get("name", ""), message)
            else:
                yield FailingItem(kind, _format_test_name(case, path, tool), message)
            return


def _format_test_name(case: ET.Element, path: Sequence[str], tool: str) -> str:
    """Return the test's name as its own runner would print it."""
    group, name = case.get("classname", ""), case.get("name", "")
    if group == "test":  # of Node, where the suites around it name it
        return " > ".join([*path, name])
    if not group or name.startswith(group):
        return _format_pytest_id(name + ".", "") if tool == "pytest" and not group else name
    if tool == "pytest":
        return _format_pytest_id(group + ".", name)
    return f"{group} > {name}" if _SCRIPT.fullmatch(group) else f"{group}.{name}"


def _format_pytest_id(dotted: str, name: str) -> str:
    """Return the id of a test in a module of classes, which begin with a capital letter."""
    parts = _PYTHON.match(dotted)
    if parts is None or not parts[1]:
        return dotted + name
    classes = [part for part in parts[2].split(".") if part]
    names = [*classes, name] if name else classes
    return "::".join([parts[1].rstrip(".").replace(".", "/") + ".py", *names])


def _find_junit_message(failure: ET.Element) -> str:
    message = failure.get("message", "").strip()
    if message.lower() not in _VAGUE:
        return message.partition("\n")[0]
    lines = [
        line for line in (failure.text or "").split("\n") if not line.strip().startswith(_MARKS)
    ]
    errors = [error[1] for line in lines if (error := _TELLING.fullmatch(line))]
    return errors[-1] if errors else find_first_text(lines)


JUNIT = OutputParser(("<testsuite",), _parse_junit)


_RULE, _THIN = "=" * 70, "-" * 70
_HEAD = re.compile(r"(FAIL|ERROR|UNEXPECTED SUCCESS): (\S+) \(([^()\s]+)\)(.*)")
_UNLOADED = "unittest.loader._FailedTest"
_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:: .*|:?)")


def _parse_unittest(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if line == _RULE and (head := _HEAD.fullmatch(_get_line(lines, number + 1))):
            yield LocatedItem(number + 1, _read_unittest(head, lines, number + 2))


def _read_unittest(head: re.Match[str], lines: Sequence[str], start: int) -> FailingItem:
    word, name, path, rest = head.groups()
    is_unloaded = path.startswith(_UNLOADED)
    # Since Python 3.11, the path ends with the name.
    where = path if path.endswith("." + name) else f"{path}.{name}"
    kind = "error" if is_unloaded or name.startswith(("setUp", "tearDown")) else "test"
    is_success = word == "UNEXPECTED SUCCESS"
    message = "unexpected success" if is_success else _find_unittest_message(lines, start)
    return FailingItem(kind, (name if is_unloaded else where) + rest, message)


def _find_unittest_message(lines: Sequence[str], start: int) -> str:
    """Return the last exception's first line."""
    message, is_traceback = "", False
    for number in range(start, len(lines)):
        line = lines[number]
        if line == _RULE or (line == _THIN and _get_line(lines, number + 1).startswith("Ran ")):
            break
        if line == _TRACEBACK:
            is_traceback = True
        elif is_traceback and _RAISED.fullmatch(line):
            message, is_traceback = line, False
    return message


def _get_line(lines: Sequence[str], number: int) -> str:
    return lines[number] if number < len(lines) else ""


UNITTEST = OutputParser((_RULE,), _parse_unittest)
