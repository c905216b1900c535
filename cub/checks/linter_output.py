"""Read findings of linters, formatters and type checkers, and of coverage that is too low.

Of a type checker, only errors count, not notes and warnings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.output_rules import LocatedItem, OutputParser, Rule, locate_item, make_parser

_UNFORMATTED = re.compile(  # of Ruff and Black; rustfmt; gofmt
    r"[Ww]ould reformat:? (\S.*\.\w+)|Diff in (\S.*\.rs)(?::| at line )(\d+):"
    r"|diff (\S+\.go)\.orig .+"
)
_GO_FILE = re.compile(r"[^\s:]+\.go")
_PRETTIER = ("Checking formatting...", "[warn] Code style issues found")
_PRETTIER_FILE = re.compile(r"\[warn\] (\S.*\.\w+)|\[error\] (\S.*?): (\w*Error: .+)")
_LINTED = re.compile(r" +(\d+:\d+) +(error|warning) +(\S.*)")
_PATH = re.compile(r"(?:/|[A-Za-z]:\\|<).+")  # ESLint prints absolute paths
_LOW_COVERAGE = re.compile(  # of coverage; Jest; c8, nyc and Vitest; SimpleCov
    r"Coverage failure: .* fail-under=.*|Jest: .* threshold\b.*"
    r"|ERROR: Coverage for \w+ \(.*\) does not meet .*"
    r"|\w+ coverage.* \([\d.]+%\) is below the expected minimum coverage .*"
)
_TOO_MANY = "ESLint found too many warnings"
_CRASH = "Oops! Something went wrong! :("


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


def _parse_eslint(lines: Sequence[str]) -> Iterator[LocatedItem]:
    are_warnings_failures = any(line.startswith(_TOO_MANY) for line in lines)
    severities = ("error", "warning") if are_warnings_failures else ("error",)
    path = ""
    for number, line in enumerate(lines):
        linted = _LINTED.fullmatch(line)
        if linted and path:
            if linted[2] in severities:
                yield locate_item(number, "lint", f"{path}:{linted[1]}", _join_columns(linted[3]))
        elif line == _CRASH:
            below = lines[number + 1 : number + 9]
            reason = next((text for text in below if text.strip() and text[:8] != "ESLint: "), "")
            yield locate_item(number, "error", "eslint", reason)
        else:
            path = line if _PATH.fullmatch(line) else ""


def _join_columns(text: str) -> str:
    """Return the message and its rule, which are columns; a parser's error has no rule."""
    message, _, rule = text.rpartition("  ")
    return f"{message.strip()} [{rule}]" if message and " " not in rule else text


def _parse_coverage(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for line in filter(_LOW_COVERAGE.fullmatch, lines):
        yield locate_item(len(lines), "lint", "coverage", line)


_RUFF_PLACE = r"([^\s:][^:]*\.(?:pyi?|ipynb|toml|md)(?::cell \d+)?:\d+:\d+): "
_RUFF_RULE = r"([A-Z]{1,6}\d{2,5}|invalid-syntax|unformatted):? (?:\[\*\] )?(.+)"
RUFF = make_parser(
    Rule(": SyntaxError: ", rf"{_RUFF_PLACE}(SyntaxError: .+)", "lint {1} | {2}"),
    Rule(": ", rf"{_RUFF_PLACE}(?!unf){_RUFF_RULE}", "lint {1} | {2} {3}"),
    Rule("--> ", rf"{_RUFF_RULE}\n *--> (\S.*:\d+:\d+)", "lint {3} | {1} {2}"),
)
COVERAGE = OutputParser(("overage ",), _parse_coverage)
FORMATTERS = OutputParser(("ould reformat", "Diff in ", ".go", *_PRETTIER), _parse_formatters)
ESLINT = OutputParser(("✖ ", _CRASH), _parse_eslint)


_SCRIPT = re.compile(r"In (\S.*) line (\d+):")
_POINTED = re.compile(r"( *)\^-*\^?(?:-- )? ?(SC\d+) \(\w+\): (.+)")
_SCRIPT_LINE = re.compile(r"(\S.*?:\d+:\d+): (?:error|warning|note): (.+) \[(SC\d+)\]")


def _parse_shellcheck(lines: Sequence[str]) -> Iterator[LocatedItem]:
    place = ""
    for number, line in enumerate(lines):
        if script := _SCRIPT.fullmatch(line):
            place = ":".join(script.groups())
        elif place and (pointed := _POINTED.fullmatch(line)):
            where = f"{place}:{len(pointed[1]) + 1}"
            yield locate_item(number, "lint", where, f"{pointed[2]} {pointed[3]}")
        elif line.endswith("]") and (finding := _SCRIPT_LINE.fullmatch(line)):
            yield locate_item(number, "lint", finding[1], f"{finding[3]} {finding[2]}")
        elif not line.strip():
            place = ""


SHELLCHECK = OutputParser((" SC", "[SC"), _parse_shellcheck)


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


MYPY = make_parser(
    Rule(": error: ", rf"{_MYPY_PLACE}(.*\[[\w-]+\])", "type {1} | {2}"),
    Rule(": error: ", rf"{_MYPY_PLACE}(.+)", "type {1} | {2}{below}", _join_wrapped),
    Rule(": error: ", _MYPY_FILE, "type {1} | {2}{below}", _join_wrapped),
)
_PYRIGHT_PLACE = r" +(\S.*?:\d+:\d+) - error: "
PYRIGHT = make_parser(
    Rule(" - error: ", rf"{_PYRIGHT_PLACE}(.*\(report\w+\))", "type {1} | {2}"),
    Rule(" - error: ", rf"{_PYRIGHT_PLACE}(.+)", "type {1} | {2}{below}", _find_pyright_rule),
)
TSC = make_parser(
    Rule("error TS", r"([^\s(].*?)\((\d+),(\d+)\): error (TS\d+: .+)", "type {1}:{2}:{3} | {4}"),
    Rule("error TS", r"(\S.*?:\d+:\d+) - error (TS\d+: .+)", "type {1} | {2}"),
    Rule("error TS", r"error (TS\d+: .+)", "type tsc | {1}"),
)

LINTERS = (MYPY, PYRIGHT, TSC, RUFF, FORMATTERS, ESLINT, SHELLCHECK, COVERAGE)
