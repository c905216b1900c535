"""Read the test runs of build tools: Maven's Surefire, Gradle, CTest and `dotnet test`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.output_rules import LocatedItem, OutputParser, Rule, locate_item, make_parser

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
            yield locate_item(number, kind, where, _join_announced(lines[number + 1 : number + 9]))
        elif line[:8] == "[ERROR] " and (error := _UNCOMPILED.fullmatch(line)):
            yield locate_item(number, "build", ":".join(error.groups()[:3]), error[4])


def _read_surefire_name(name: str, group: str) -> tuple[str, str]:
    """Return the kind and the full name of a test; what fails as a whole class did not run."""
    if with_class := _WITH_CLASS.fullmatch(name):  # before Surefire 3
        name, group = with_class.groups()
    if name == group:
        return "error", name
    return "test", name if name.startswith(f"{group}.") or not group else f"{group}.{name}"


def _join_announced(below: Sequence[str]) -> str:
    texts = [line.strip() for line in below if line.strip()]
    return " ".join(texts[: 2 if texts and texts[0].endswith(":") else 1])


SUREFIRE = OutputParser((" <<< ", "[ERROR] "), _parse_surefire)


_GRADLE = re.compile(r"([^\s>].* > \S.*) FAILED")
_THROWN = re.compile(r" {4}(\S.*?)(?: at \S+:\d+)?")
_UNRUN = ("classMethod", "initializationError", "executionError")


def _parse_gradle(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines[:-1]):
        test = _GRADLE.fullmatch(line) if line.endswith(" FAILED") else None
        if test and (thrown := _THROWN.fullmatch(_find_first_line(lines[number + 1 : number + 4]))):
            kind = "error" if test[1].endswith(_UNRUN) else "test"
            yield locate_item(number, kind, test[1], thrown[1])


def _find_first_line(lines: Sequence[str]) -> str:
    """Return the first line that is not blank; "" for none."""
    return next((line for line in lines if line.strip()), "")


GRADLE = OutputParser((" FAILED",), _parse_gradle)


_CTEST_LIST = "The following tests FAILED:"
_CTEST = re.compile(r"\t *\d+ - (\S.*) \(([^()]+)\)(?:\s.*)?")
_CTEST_RUN = re.compile(r" *\d+/\d+ +Test +#\d+: ([^*]+)\*\*\*")
_CTEST_START = re.compile(r" +Start +\d+: .*|\d+% tests passed, .*")


def _parse_ctest(lines: Sequence[str]) -> Iterator[LocatedItem]:
    outputs = dict[str, str]()
    is_listing = False
    for number, line in enumerate(lines):
        if "***" in line and (run := _CTEST_RUN.match(line)):
            outputs[run[1].rstrip(" .")] = _find_output(lines[number + 1 : number + 9])
        elif line == _CTEST_LIST:
            is_listing = True
        elif is_listing and (test := _CTEST.fullmatch(line)):
            name, status = test.groups()
            kind = "error" if status == "Not Run" else "test"
            output = outputs.get(name, "")
            yield locate_item(number, kind, name, f"{status}: {output}" if output else status)
        elif line.strip():
            is_listing = False


def _find_output(below: Sequence[str]) -> str:
    """Return the first line that a test printed, if CTest shows any."""
    text = _find_first_line(below)
    return "" if _CTEST_START.fullmatch(text) else text.strip()


CTEST = OutputParser((_CTEST_LIST,), _parse_ctest)


_MSBUILD = r"\s*(\S.*?)\((\d+),(\d+)\): error ((?:CS|FS|BC)\d+: .+?)(?: \[[^\[\]]+\])?"
_FAILED = r"\s*Failed (\S.*) \[[<\d][^\[\]]*\]\n\s*Error Message:\s*"
DOTNET = make_parser(
    Rule("Error Message:", _FAILED, "test {1} | {text}"),
    Rule("Error Message: ", r"\s+(\S.*) \([<\d][^()]*\): Error Message: (.*)", "test {1} | {2}"),
    Rule("): error ", _MSBUILD, "build {1}:{2}:{3} | {4}"),
)

BUILD_TOOLS = (SUREFIRE, GRADLE, CTEST, DOTNET)
