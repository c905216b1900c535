"""Read findings of linters, formatters and type checkers, and of coverage that is too low.

Of a type checker, only errors count, not notes and warnings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.checks.failing_items import LocatedItem, OutputParser, locate_item

_RUFF_RULE = r"[A-Z]{1,6}\d{2,5}|invalid-syntax"
_FINDING = re.compile(
    r"([^\s:][^:]*\.(?:pyi?|ipynb|toml|md)(?::cell \d+)?:\d+:\d+): "
    rf"(?:({_RUFF_RULE}):? (?:\[\*\] )?|(?=SyntaxError: ))(.+)"
)
_HEAD = re.compile(rf"({_RUFF_RULE}|unformatted):? (?:\[\*\] )?(.+)")
_PLACE = re.compile(r" *--> (\S.*:\d+:\d+)")
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


def _parse_ruff(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if finding := _FINDING.fullmatch(line):
            where, rule, message = finding.groups()
            yield locate_item(number, "lint", where, f"{rule} {message}" if rule else message)
        elif " --> " in line[:9] or line.startswith("--> "):
            head = _HEAD.fullmatch(lines[number - 1]) if number else None
            if head and (place := _PLACE.fullmatch(line)):
                yield locate_item(number, "lint", place[1], f"{head[1]} {head[2]}")


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


RUFF = OutputParser((".py:", ".pyi:", ".ipynb:", ".toml:", ".md:"), _parse_ruff)
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


_MYPY = re.compile(
    r"((?:[A-Za-z]:)?[^\s:][^:]*\.pyi?(?::\d+){1,2})(?::\d+){0,2}: error: (.+)"
    r"|([^\s:][^:]*\.pyi?): error: ((?:Cannot read|Source) file.+|Duplicate module.+)"
)
_CODE = re.compile(r".*\[[\w-]+\]")
_PLACED = re.compile(r"[^\s:][^:]*\.pyi?:\d+.*")
_PYRIGHT = re.compile(r" +(\S.*?:\d+:\d+) - error: (.+)")
_PYRIGHT_RULE = re.compile(r".*(\(report\w+\))")
_TSC = re.compile(
    r"(?P<file>[^\s(].*?)\((?P<line>\d+),(?P<column>\d+)\): error (?P<message>TS\d+: .+)"
    r"|(?P<place>\S.*?:\d+:\d+) - error (?P<pretty>TS\d+: .+)"
    r"|error (?P<alone>TS\d+: .+)"
)


def _parse_mypy(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if ": error: " in line and (error := _MYPY.fullmatch(line)):
            message = error[2] or error[4]
            if not _CODE.fullmatch(message):
                message += _join_wrapped(lines[number + 1 : number + 4])
            yield locate_item(number, "type", error[1] or error[3], message)


def _join_wrapped(below: Sequence[str]) -> str:
    """Return the rest of a message that `--pretty` broke into lines: it ends with the code."""
    rest = ""
    for line in below:
        if line.startswith(" ") or _PLACED.fullmatch(line):
            break
        rest += f" {line}"
        if _CODE.fullmatch(line):
            return rest
    return ""


def _parse_pyright(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if " - error: " in line and (error := _PYRIGHT.fullmatch(line)):
            where, message = error.groups()
            if not _PYRIGHT_RULE.fullmatch(message):
                message += _find_rule(lines[number + 1 : number + 30])
            yield locate_item(number, "type", where, message)


def _find_rule(below: Sequence[str]) -> str:
    """Return the rule's name at the end of the lines that explain an error."""
    for line in below:
        if line[:3].strip() or " - error: " in line:
            break
        if rule := _PYRIGHT_RULE.fullmatch(line):
            return f" {rule[1]}"
    return ""


def _parse_tsc(lines: Sequence[str]) -> Iterator[LocatedItem]:
    for number, line in enumerate(lines):
        if "error TS" in line and (error := _TSC.fullmatch(line)):
            where = error["place"] or "tsc"
            if error["file"]:
                where = ":".join(error.group("file", "line", "column"))
            message = error["message"] or error["pretty"] or error["alone"]
            yield locate_item(number, "type", where, message)


MYPY = OutputParser((": error: ",), _parse_mypy)
PYRIGHT = OutputParser((" - error: ",), _parse_pyright)
TSC = OutputParser(("error TS",), _parse_tsc)
