"""Read JUnit reports anywhere in a log, and the output of unittest and runners built on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

from cub.checks.failing_items import FailingItem, LocatedItem, OutputParser

_START = re.compile(r"\s*(?:<\?xml\b[^>]*\?>\s*)?(?:<!--[^>]*-->\s*)*<(testsuites?)\b")
_PROLOG = "<?xml"
_REFUSED = ("<!DOCTYPE", "<!ENTITY")  # a report has neither; what they expand to has no end
_SCRIPT = re.compile(r".*\.[cm]?[jt]sx?")
_PYTHON = re.compile(r"((?:\w+\.)*?)((?:[A-Z]\w*\.)*)\Z")
_UNRUN = "Test suite failed to run"  # of Jest
_VAGUE = ("", "failed", "collection failure", "test failed")
_TELLING = re.compile(r"(?:E   |\s+\S+\.go:\d+: |(?=panic: ))(.+?)(?: \[recovered.*)?")
_NO_WORDS = ("=== ", "--- ", "●")  # what Go says before and after a test, and Jest above


def _parse_junit(lines: Sequence[str]) -> Iterator[LocatedItem]:
    number = 0
    while number < len(lines):
        end = _end(lines, number)
        if end > number:
            yield from (LocatedItem(number, item) for item in _items("\n".join(lines[number:end])))
        number = max(end, number + 1)


def _end(lines: Sequence[str], start: int) -> int:
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


def _items(report: str) -> list[FailingItem]:
    if any(word in report for word in _REFUSED):
        return []
    text = report[: report.rfind(">") + 1].strip()
    try:
        root = ET.fromstring(text)  # noqa: S314 - what expands is refused above
    except (ET.ParseError, ValueError):
        return []
    return list(_failing(root, root.get("name", "")))


def _failing(root: ET.Element, tool: str) -> Iterator[FailingItem]:
    """Yield the failing cases in order, without recursion: reports may nest deeply."""
    waiting: list[tuple[ET.Element, tuple[str, ...]]] = [(root, ())]
    while waiting:
        element, path = waiting.pop()
        if element.tag == "testcase":
            yield from _case(element, path, tool)
            continue
        if element.tag == "testsuite":
            tool = element.get("name", tool) if not path else tool
            path = (*path[-9:], element.get("name", ""))
        waiting += [(child, path) for child in reversed(element)]


def _case(case: ET.Element, path: Sequence[str], tool: str) -> Iterator[FailingItem]:
    if case.find("skipped") is not None:
        return
    for tag, kind in (("failure", "test"), ("error", "error")):
        if (found := case.find(tag)) is not None:
            if case.get("classname") == _UNRUN:
                yield FailingItem("error", case.get("name", ""), _junit_message(found))
            else:
                yield FailingItem(kind, _where(case, path, tool), _junit_message(found))
            return


def _where(case: ET.Element, path: Sequence[str], tool: str) -> str:
    """Return the test's name as its own runner would print it."""
    group, name = case.get("classname", ""), case.get("name", "")
    if group == "test":  # of Node, which tells the suites around it instead
        return " > ".join([*path, name])
    if not group or name.startswith(group):
        return _python(name + ".", "") if tool == "pytest" and not group else name
    if tool == "pytest":
        return _python(group + ".", name)
    return f"{group} > {name}" if _SCRIPT.fullmatch(group) else f"{group}.{name}"


def _python(dotted: str, name: str) -> str:
    """Return the id of a test in a module of classes, which begin with a capital letter."""
    parts = _PYTHON.match(dotted)
    if parts is None or not parts[1]:
        return dotted + name
    classes = [part for part in parts[2].split(".") if part]
    names = [*classes, name] if name else classes
    return "::".join([parts[1].rstrip(".").replace(".", "/") + ".py", *names])


def _junit_message(found: ET.Element) -> str:
    lines = [line for line in (found.text or "").split("\n") if _is_told(line.strip())]
    message = found.get("message", "").strip()
    if message.lower() not in _VAGUE:
        return message.partition("\n")[0]
    telling = [telling[1] for line in lines if (telling := _TELLING.fullmatch(line))]
    return telling[-1] if telling else lines[0].strip() if lines else ""


def _is_told(line: str) -> bool:
    return bool(line) and not line.startswith(_NO_WORDS)


JUNIT = OutputParser(("<testsuite",), _parse_junit)


_RULE, _THIN = "=" * 70, "-" * 70
_HEAD = re.compile(r"(FAIL|ERROR|UNEXPECTED SUCCESS): (\S+) \(([^()\s]+)\)(.*)")
_UNLOADED = "unittest.loader._FailedTest"
_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:: .*|:?)")


def _parse_unittest(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if line == _RULE and (head := _HEAD.fullmatch(_at(lines, number + 1))):
            yield LocatedItem(number + 1, _item(head, lines, number + 2))


def _item(head: re.Match[str], lines: Sequence[str], start: int) -> FailingItem:
    word, name, path, rest = head.groups()
    unloaded = path.startswith(_UNLOADED)
    full = path if path.endswith("." + name) else f"{path}.{name}"  # since 3.11, it does
    where = name if unloaded else full
    unrun = unloaded or name.startswith(("setUp", "tearDown"))
    message = (
        "unexpected success" if word.startswith("UNEXPECTED") else _unittest_message(lines, start)
    )
    return FailingItem("error" if unrun else "test", where + rest, message)


def _unittest_message(lines: Sequence[str], start: int) -> str:
    """Return the last exception's first line."""
    message, inside = "", False
    for number in range(start, len(lines)):
        line = lines[number]
        if line == _RULE or (line == _THIN and _at(lines, number + 1).startswith("Ran ")):
            break
        if line == _TRACEBACK:
            inside = True
        elif inside and _RAISED.fullmatch(line):
            message, inside = line, False
    return message


def _at(lines: Sequence[str], number: int) -> str:
    return lines[number] if number < len(lines) else ""


UNITTEST = OutputParser((_RULE,), _parse_unittest)
