"""Expand `${parameters}`, `@path` imports and !`commands` in a text, in one pass.

What is put in is never expanded again. Imports and commands in code are left alone.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Protocol

from cub.edit.blocks import parse_leaf_blocks
from cub.edit.file_imports import is_import_path
from cub.edit.plan import PlanWarning
from cub.errors import CubError, UsageError
from cub.text import suggest_similar

# On one line, and with braces in pairs, up to three deep: a word may have parameters of its own.
_WORD = r"(?:[^{}\n]|\{(?:[^{}\n]|\{(?:[^{}\n]|\{[^{}\n]*+\})*+\})*+\})*+"
_TOKEN = re.compile(
    r"\$(?P<escape>\$)(?=\{)"
    rf"|\$\{{(?P<name>[^\W\d][\w.-]*)(?:(?P<operator>:[-?])(?P<word>{_WORD}))?\}}"
    r"|!`(?P<command>[^`\n]+)`"
    r"|(?<!\S)@(?P<path>(?:\\.|[^\s\\`])+)"
)
MAX_IMPORT_DEPTH = 5  # files in a row
_BACKTICKS = re.compile(r"`+")
_CODE_BLOCKS = ("fence", "code_block", "html_block")
_ESCAPED = re.compile(r"\\(.)")


def parse_parameters(pairs: Iterable[str]) -> dict[str, str]:
    r"""Return values by name; one in double quotes may have JSON's escapes, as `"a\tb"`.

    Raises UsageError for what is not `name=value`.
    """
    parameters = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            message = f"invalid parameter format: {pair!r} is not name=value"
            raise UsageError(message, where="-p", hint="write it like -p issue=42")
        parameters[name.strip()] = _unquote(value)
    return parameters


def _unquote(value: str) -> str:
    if len(value) < 2 or not (value.startswith('"') and value.endswith('"')):
        return value
    try:
        text = str(json.loads(value))
        text.encode("utf-8", "surrogateescape")
    except ValueError:  # also for half of a character, as "\ud800" is
        return value
    return value if "\0" in text else text  # no command can be given a zero byte


class ImportLoader(Protocol):
    """Load the files that one text imports."""

    def find(self, path: str) -> Path | None:
        """Return the file that a path means; None if there is none."""

    def load(self, path: str, file: Path, *, is_alone: bool) -> str | None:
        """Return the text of a file; None to leave the words as they are.

        `is_alone` says that the import has a line of its own.
        """


@dataclass(slots=True)
class TextExpansion:
    """Expand one text; what is None stays as it is written.

    An import inside of a line leaves its path there if its text has several lines, which go to the
    end. `run_command` returns a command's output, None to leave the words as they are.
    """

    name: str
    parameters: Mapping[str, str] | None = None
    imports: ImportLoader | None = None
    run_command: Callable[[str], str | None] | None = None
    first_line: int = 1
    warnings: list[PlanWarning] = field(default_factory=list)
    _text: str = ""
    _appended: list[str] = field(default_factory=list)
    _code: CodeRanges | None = None

    def expand(self, text: str) -> str:
        """Return the text with everything expanded; CubError for a required parameter."""
        self._text, self._code = text, None
        expanded = _TOKEN.sub(self._replace, text)
        return "\n\n".join([expanded.rstrip("\n"), *self._appended]) if self._appended else expanded

    def _replace(self, match: re.Match[str]) -> str:
        replacement: str | None = None
        if match["escape"] or match["name"]:
            replacement = self._look_up(match, match.start())
        elif match["command"]:
            if self.run_command and self._get_code().is_code_span(match.start() + 1):
                replacement = self.run_command(match["command"])
        elif self.imports:
            replacement = self._import(match, self.imports)
        return match[0] if replacement is None else replacement

    def _get_code(self) -> CodeRanges:
        if self._code is None:
            self._code = find_code(self._text)
        return self._code

    def _import(self, match: re.Match[str], imports: ImportLoader) -> str | None:
        path, is_alone = _ESCAPED.sub(r"\1", match["path"]), self._is_alone(match)
        file = imports.find(path)  # first: most words with an @ are no paths
        if not (file or is_import_path(path)) or self._get_code().is_code(match.start()):
            return None
        if file is None:
            message = f"@{path}: the file does not exist; it is not imported"
            self.warnings.append(PlanWarning(message, self.name, self._get_line(match.start())))
            return None
        text = imports.load(path, file, is_alone=is_alone)
        if text is None or is_alone or "\n" not in text:
            return text
        self._appended.append(f"Contents of {path}:\n\n{text}")
        return path

    def _look_up(self, match: re.Match[str], start: int) -> str | None:
        """Return what stands for a parameter or an escape; None if it stays as it is."""
        name, operator, word = match["name"], match["operator"], match["word"]
        if self.parameters is None:
            return None
        if not name:
            return "$" if match["escape"] else None
        value = self.parameters.get(name)
        if value is not None and (value or not operator):
            return value
        if operator == ":-":
            return _TOKEN.sub(lambda inner: self._expand_word(inner, start), word)
        hint = f"set it with -p {name}=VALUE"
        if near := suggest_similar(name, self.parameters):
            hint = f"did you mean -p {name} instead of -p {near}?"
        if operator == ":?":
            message = f"{name}: {word or 'this parameter is required'}"
            raise CubError(message, where=f"{self.name}:{self._get_line(start)}", hint=hint)
        if all(warning.hint != hint for warning in self.warnings):  # once for each name
            message = f"${{{name}}} is not set, and stays as it is"
            self.warnings.append(PlanWarning(message, self.name, self._get_line(start), hint))
        return None

    def _expand_word(self, match: re.Match[str], start: int) -> str:
        """Return what stands for a parameter in the word of another one, which is at `start`."""
        replacement = self._look_up(match, start)
        return match[0] if replacement is None else replacement

    def _get_line(self, offset: int) -> int:
        return self.first_line + self._text.count("\n", 0, offset)

    def _is_alone(self, match: re.Match[str]) -> bool:
        before = self._text[max(0, match.start() - 1) : match.start()]
        return before in ("", "\n") and self._text[match.end() : match.end() + 1] in ("", "\n")


def list_commands(text: str) -> list[str]:
    """Return the commands that a text with `expand_commands: true` has run."""
    commands: list[str] = []

    def note(command: str) -> str:
        commands.append(command)
        return ""

    TextExpansion("", run_command=note).expand(text)
    return commands


class Parameter(NamedTuple):
    """Hold a parameter of a text: as it is written, its default, and whether it is required."""

    name: str
    text: str
    default: str | None
    is_required: bool


def list_parameters(text: str) -> list[Parameter]:
    """Return the parameters that a text uses, each once, as it is written first."""
    found: dict[str, Parameter] = {}
    for match in _TOKEN.finditer(text):
        name, operator = match["name"], match["operator"]
        if name and name not in found:
            default = match["word"] if operator == ":-" else None
            found[name] = Parameter(name, match[0], default, operator == ":?")
    return list(found.values())


class CodeRanges(NamedTuple):
    """Hold where code is in a text: sorted offsets of blocks and of spans, each half-open."""

    blocks: list[tuple[int, int]]
    spans: list[tuple[int, int]]

    def is_code(self, offset: int) -> bool:
        """Return whether a character is in code."""
        return _is_inside(self.blocks, offset) or _is_inside(self.spans, offset)

    def is_code_span(self, offset: int) -> bool:
        """Return whether a code span begins here."""
        at = bisect_right(self.spans, (offset, offset))
        return at < len(self.spans) and self.spans[at][0] == offset


def find_code(text: str) -> CodeRanges:
    """Return where the code of a Markdown text is, and its HTML blocks."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    blocks = [
        (starts[block.start], starts[min(block.end, len(starts) - 1)])
        for block in parse_leaf_blocks(text)
        if block.kind in _CODE_BLOCKS
    ]
    return CodeRanges(blocks, find_code_spans(text, blocks))


def find_code_spans(text: str, blocks: Sequence[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Return the spans between runs of equally many backticks (CommonMark 6.1), in linear time.

    NULs in a line stand for what is no text, so they end a paragraph.
    """
    runs = [m for m in _BACKTICKS.finditer(text) if not _is_inside(blocks, m.start())]
    breaks = [match.start() for match in re.finditer(r"\n[ \t\0]*(?=\n)", text)]
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for run in runs:
        by_length[len(run[0])].append(run.start())
    spans: list[tuple[int, int]] = []
    for run in runs:
        if spans and run.start() < spans[-1][1]:
            continue
        same = by_length[len(run[0])]
        following = bisect_right(same, run.start())
        if following == len(same):
            continue
        close = same[following]
        if bisect_right(breaks, run.start()) == bisect_right(breaks, close):
            spans.append((run.start(), close + len(run[0])))
    return spans


def _is_inside(ranges: Sequence[tuple[int, int]], offset: int) -> bool:
    at = bisect_right(ranges, (offset, float("inf"))) - 1
    return at >= 0 and offset < ranges[at][1]
