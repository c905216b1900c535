"""Read findings of linters, formatters and type checkers, and of coverage that is too low.

Of a type checker, only errors count, not notes and warnings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.output_rules import (
    LocatedItem,
    OutputParser,
    Rule,
    find_first_match,
    locate_item,
    make_parser,
    read_rules,
)

# Of coverage; Jest; c8, nyc and Vitest; SimpleCov.
_LOW_COVERAGE = re.compile(
    r"Coverage failure: .* fail-under=.*|Jest: .* threshold\b.*"
    r"|ERROR: Coverage for \w+ \(.*\) does not meet .*"
    r"|\w+ coverage.* \([\d.]+%\) is below the expected minimum coverage .*"
)


def _parse_coverage(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for line in filter(_LOW_COVERAGE.fullmatch, lines):
        yield locate_item(len(lines), "lint", "coverage", line)


COVERAGE = OutputParser(("overage ",), _parse_coverage)


_UNFORMATTED = re.compile(  # of Ruff and Black; rustfmt; gofmt
    r"[Ww]ould reformat:? (\S.*\.\w+)|Diff in (\S.*\.rs)(?::| at line )(\d+):"
    r"|diff (\S+\.go)\.orig .+"
)
_GO_FILE = re.compile(r"[^\s:]+\.go")
_PRETTIER = ("Checking formatting...", "[warn] Code style issues found")
_PRETTIER_FILE = re.compile(r"\[warn\] (\S.*\.\w+)|\[error\] (\S.*?): (\w*Error: .+)")


def _parse_formatters(lines: Sequence[str]) -> Iterator[LocatedItem]:
    is_list = all(_GO_FILE.fullmatch(line) for line in lines if line.strip())  # of gofmt -l
    is_prettier = any(line.startswith(_PRETTIER) for line in lines)
    for number, line in enumerate(lines):
        where = message = ""
        if unformatted := _UNFORMATTED.fullmatch(line):
            where = ":".join(filter(None, unformatted.groups()))
        elif is_prettier and (file := _PRETTIER_FILE.fullmatch(line)):
            where, message = file[1] or file[2], file[3]
        elif is_list:
            where = line
        if where:
            yield locate_item(number, "lint", where, message or "would be reformatted")


FORMATTERS = OutputParser(("ould reformat", "Diff in ", ".go", *_PRETTIER), _parse_formatters)


_CRASH = "Oops! Something went wrong! :("
_CRASH_REASON = find_first_match(r"(?!ESLint: )(.*\S.*)", 8)


def _make_eslint_rules(severity: str) -> Sequence[Rule]:
    """Return the rules for findings: a message and a rule, which are columns; some have no rule."""
    start = rf" +(\d+:\d+) +{severity} +(\S.*?)"
    return (
        Rule(severity, start + r" {2,}(\S+)", "lint {path}:{1} | {2} [{3}]", within="path"),
        Rule(severity, start, "lint {path}:{1} | {2}", within="path"),
        Rule(" ", r" +\d+:\d+ +(?:error|warning) +\S.*", within="path"),
        Rule("", r"(?P<path>(?:/|[A-Za-z]:\\|<).+)"),  # it prints absolute paths
        Rule("", r".*(?P<path>)", within="path"),
    )


_ERRORS, _WARNINGS = _make_eslint_rules("error"), _make_eslint_rules("warning")
ESLINT = (
    OutputParser(("✖ ",), lambda lines: read_rules(_ERRORS, lines)),
    OutputParser(("ESLint found too many w",), lambda lines: read_rules(_WARNINGS, lines)),
    make_parser(Rule(_CRASH, re.escape(_CRASH), "error eslint | {below}", _CRASH_REASON)),
)


_POINTED = r" *\^-*\^?(?:-- )? ?(SC\d+) \(\w+\): (.+)"
SHELLCHECK = make_parser(
    Rule("In ", r"In (?P<script>\S.*) line (?P<number>\d+):"),
    Rule(" SC", _POINTED, "lint {script}:{number}:{column} | {1} {2}", within="script"),
    Rule("[SC", r"(\S.*?:\d+:\d+): (?:error|warning|note): (.+) \[(SC\d+)\]", "lint {1} | {3} {2}"),
    Rule("", r"\s*(?P<script>)"),
)


_MYPY_PLACE = r"((?:[A-Za-z]:)?[^\s:][^:]*\.pyi?(?::\d+){1,2})(?::\d+){0,2}: error: "
_MYPY_FILE = r"([^\s:][^:]*\.pyi?): error: ((?:Cannot read|Source) file.+|Duplicate module.+)"
_CODE = re.compile(r".*\[[\w-]+\]")
_PLACED = re.compile(r"[^\s:][^:]*\.pyi?:\d+.*")
_PYRIGHT_RULE = re.compile(r".*(\(report\w+\))")


def _join_wrapped(below: Sequence[str]) -> str:
    """Return the rest of a message that `--pretty` broke into lines: it ends with the code."""
    rest = ""
    for line in below[:3]:
        if line.startswith(" ") or _PLACED.fullmatch(line):
            break
        rest += f" {line}"
        if _CODE.fullmatch(line):
            return rest
    return ""


def _find_pyright_rule(below: Sequence[str]) -> str:
    """Return the rule's name at the end of the lines that explain an error."""
    for line in below[:29]:
        if line[:3].strip() or " - error: " in line:
            break
        if rule := _PYRIGHT_RULE.fullmatch(line):
            return f" {rule[1]}"
    return ""


_PYRIGHT_PLACE = r" +(\S.*?:\d+:\d+) - error: "
TYPE_CHECKERS = make_parser(
    Rule(": error: ", rf"{_MYPY_PLACE}(.*\[[\w-]+\])", "type {1} | {2}"),
    Rule(": error: ", rf"{_MYPY_PLACE}(.+)", "type {1} | {2}{below}", _join_wrapped),
    Rule(": error: ", _MYPY_FILE, "type {1} | {2}{below}", _join_wrapped),
    Rule(" - error: ", rf"{_PYRIGHT_PLACE}(.*\(report\w+\))", "type {1} | {2}"),
    Rule(" - error: ", rf"{_PYRIGHT_PLACE}(.+)", "type {1} | {2}{below}", _find_pyright_rule),
    Rule("error TS", r"([^\s(].*?)\((\d+),(\d+)\): error (TS\d+: .+)", "type {1}:{2}:{3} | {4}"),
    Rule("error TS", r"(\S.*?:\d+:\d+) - error (TS\d+: .+)", "type {1} | {2}"),
    Rule("error TS", r"error (TS\d+: .+)", "type tsc | {1}"),
)

_RUFF_PLACE = r"([^\s:][^:]*\.(?:pyi?|ipynb|toml|md)(?::cell \d+)?:\d+:\d+): "
_RUFF_RULE = r"([A-Z]{1,6}\d{2,5}|invalid-syntax|unformatted):? (?:\[\*\] )?(.+)"
RUFF = make_parser(
    Rule(": SyntaxError: ", rf"{_RUFF_PLACE}(SyntaxError: .+)", "lint {1} | {2}"),
    Rule(": ", rf"{_RUFF_PLACE}(?!unf){_RUFF_RULE}", "lint {1} | {2} {3}"),
    Rule("--> ", rf"{_RUFF_RULE}\n *--> (\S.*:\d+:\d+)", "lint {3} | {1} {2}"),
)

LINTERS = (TYPE_CHECKERS, RUFF, FORMATTERS, *ESLINT, SHELLCHECK, COVERAGE)
