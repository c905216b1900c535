"""Read the test runs of build tools: Maven's Surefire, Gradle, CTest and `dotnet test`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.output_rules import (
    LocatedItem,
    OutputParser,
    Rule,
    find_first_match,
    join_announced,
    locate_item,
    make_parser,
)

_MARK = "Time elapsed: "
_MARKED = re.compile(r"\S+ s\w* +<<< (?:FAILURE|ERROR)! *")
_CLASS = re.compile(r"(?:\[\w+\] )?Tests run: .* --? in (\S+)")
_WITH_CLASS = re.compile(r"([^\s(].*)\(([\w.$]+)\)")
_UNCOMPILED = re.compile(r"\[ERROR\] (\S.*?):\[(\d+),(\d+)\] (.+)")


def _parse_surefire(lines: Sequence[str]) -> Iterator[LocatedItem]:
    group = ""
    for number, line in enumerate(lines):
        if suite := _CLASS.fullmatch(line):
            group = suite[1]
        elif " <<< " in line and _MARKED.fullmatch(line.partition(_MARK)[2]):
            name = line.partition(_MARK)[0].removeprefix("[ERROR] ").rstrip(" -")
            kind, where = _read_surefire_name(name, group)
            yield locate_item(number, kind, where, join_announced(lines[number + 1 : number + 9]))
        elif line[:8] == "[ERROR] " and (error := _UNCOMPILED.fullmatch(line)):
            yield locate_item(number, "build", ":".join(error.groups()[:3]), error[4])


def _read_surefire_name(name: str, group: str) -> tuple[str, str]:
    """Return the kind and the full name of a test; what fails as a whole class did not run."""
    if with_class := _WITH_CLASS.fullmatch(name):  # before Surefire 3
        name, group = with_class.groups()
    if name == group:
        return "error", name
    return "test", name if name.startswith(f"{group}.") or not group else f"{group}.{name}"


SUREFIRE = OutputParser((" <<< ", "[ERROR] "), _parse_surefire)


_CTEST_LIST = "The following tests FAILED:"
_CTEST = re.compile(r"\t *\d+ - (\S.*) \(([^()]+)\)(?:\s.*)?")
_CTEST_RUN = re.compile(r" *\d+/\d+ +Test +#\d+: ([^*]+)\*\*\*")
# The first line that a test printed, if CTest shows any.
_CTEST_OUTPUT = find_first_match(r" +Start +\d+: .*|\d+% tests passed, .*|\s*(\S.*)", 8)


def _parse_ctest(lines: Sequence[str]) -> Iterator[LocatedItem]:
    outputs = dict[str, str]()
    is_listing = False
    for number, line in enumerate(lines):
        if "***" in line and (run := _CTEST_RUN.match(line)):
            outputs[run[1].rstrip(" .")] = _CTEST_OUTPUT(lines[number + 1 :])
        elif line == _CTEST_LIST:
            is_listing = True
        elif is_listing and (test := _CTEST.fullmatch(line)):
            name, status = test.groups()
            kind = "error" if status == "Not Run" else "test"
            output = outputs.get(name, "")
            yield locate_item(number, kind, name, f"{status}: {output}" if output else status)
        elif line.strip():
            is_listing = False


CTEST = OutputParser((_CTEST_LIST,), _parse_ctest)


_GRADLE = r" FAILED\n {4}(\S.*?)(?: at \S+:\d+)?"
_GRADLE_UNRUN = r"([^\s>].* > .*(?:classMethod|initializationError|executionError))"
_MSBUILD = r"\s*(\S.*?)\((\d+),(\d+)\): error ((?:CS|FS|BC)\d+: .+?)(?: \[[^\[\]]+\])?"
_FAILED = r"\s*Failed (\S.*) \[[<\d][^\[\]]*\]\n\s*Error Message:\s*"
GRADLE_AND_DOTNET = make_parser(
    Rule(" FAILED", _GRADLE_UNRUN + _GRADLE, "error {1} | {2}"),
    Rule(" FAILED", rf"([^\s>].* > \S.*){_GRADLE}", "test {1} | {2}"),
    Rule("Error Message:", _FAILED, "test {1} | {text}"),
    Rule("Error Message: ", r"\s+(\S.*) \([<\d][^()]*\): Error Message: (.*)", "test {1} | {2}"),
    Rule("): error ", _MSBUILD, "build {1}:{2}:{3} | {4}"),
)

BUILD_TOOLS = (SUREFIRE, CTEST, GRADLE_AND_DOTNET)
