"""Expand `${parameters}`, `@path` imports and !`commands` in a text, in one pass.

What is put in is never expanded again. Imports and commands in code are left alone.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from cub.edit.blocks import parse_leaf_blocks
from cub.edit.plan import PlanWarning
from cub.errors import CubError, UsageError

_TOKEN = re.compile(
    r"\$(?P<escape>\$)(?=\{)"
    r"|\$\{(?P<name>[A-Za-z_][\w.-]*)(?:(?P<operator>:[-?])(?P<word>[^{}\n]*))?\}"
    r"|!`(?P<command>[^`\n]+)`"
    r"|(?<!\S)@(?P<path>(?:\\.|[^\s\\`])+)"
)
_MAY_BE_CODE = re.compile(r"(?<!\S)@\S|!`")
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
        return str(json.loads(value))
    except ValueError:
        return value


@dataclass(slots=True)
class TextExpansion:
    """Expand one text; what is None stays as it is written.

    `load_import` gets a path and returns the text, None to leave the words as they are. It also
    gets whether the import has a line of its own: else a text of several lines goes to the end, and
    its path stays. `run_command` returns a command's output.
    """

    name: str
    parameters: Mapping[str, str] | None = None
    load_import: Callable[[str, bool], str | None] | None = None
    run_command: Callable[[str], str | None] | None = None
    first_line: int = 1
    warnings: list[PlanWarning] = field(default_factory=list)
    _text: str = ""
    _appended: list[str] = field(default_factory=list)
    _code: CodeRanges | None = None

    def expand(self, text: str) -> str:
        """Return the text with everything expanded; CubError for a required parameter."""
        self._text = text
        has_markup = self.load_import or self.run_command
        self._code = find_code(text) if has_markup and _MAY_BE_CODE.search(text) else None
        expanded = _TOKEN.sub(self._replace, text)
        return "\n\n".join([expanded.rstrip("\n"), *self._appended]) if self._appended else expanded

    def _replace(self, match: re.Match[str]) -> str:
        replacement: str | None = None
        if match["escape"]:
            replacement = None if self.parameters is None else "$"
        elif match["name"]:
            replacement = None if self.parameters is None else self._look_up(match, self.parameters)
        elif match["command"]:
            if self.run_command and self._code and self._code.is_code_span(match.start() + 1):
                replacement = self.run_command(match["command"])
        elif self.load_import and self._code and not self._code.is_code(match.start()):
            replacement = self._import(match, self.load_import)
        return match[0] if replacement is None else replacement

    def _import(
        self, match: re.Match[str], load_import: Callable[[str, bool], str | None]
    ) -> str | None:
        path, is_alone = _ESCAPED.sub(r"\1", match["path"]), self._is_alone(match)
        text = load_import(path, is_alone)
        if text is None or is_alone or "\n" not in text:
            return text
        self._appended.append(f"Contents of {path}:\n\n{text}")
        return path

    def _look_up(self, match: re.Match[str], parameters: Mapping[str, str]) -> str | None:
        name, operator, word = match["name"], match["operator"], match["word"]
        value = parameters.get(name)
        if value is not None and (value or not operator):
            return value
        line = self.first_line + self._text.count("\n", 0, match.start())
        hint = f"set it with -p {name}=VALUE"
        if operator == ":-":
            return str(word)
        if operator == ":?":
            message = f"{name}: {word or 'this parameter is required'}"
            raise CubError(message, where=f"{self.name}:{line}", hint=hint)
        message = f"${{{name}}} is not set, and stays as it is"
        self.warnings.append(PlanWarning(message, self.name, line, hint))
        return None

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
    return CodeRanges(blocks, _find_code_spans(text, blocks))


def _find_code_spans(text: str, blocks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans between runs of equally many backticks (CommonMark 6.1), in linear time."""
    runs = [m for m in _BACKTICKS.finditer(text) if not _is_inside(blocks, m.start())]
    breaks = [match.start() for match in re.finditer(r"\n[ \t]*\n", text)]
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


def _is_inside(ranges: list[tuple[int, int]], offset: int) -> bool:
    at = bisect_right(ranges, (offset, float("inf"))) - 1
    return at >= 0 and offset < ranges[at][1]
