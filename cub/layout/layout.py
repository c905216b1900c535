"""A text with its language and its outermost value, and what stands around a place in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from cub.layout import jsonc, reading, words
from cub.layout.nodes import Node
from cub.layout.source import LINE_END, Source, read

Path = tuple[str, ...]


class Language(NamedTuple):
    """How a text is read. `comment` matches a comment outside of texts; `json`: it is no YAML."""

    parse: Callable[[Source], Node | None]
    comment: str
    json: bool = True


YAML = Language(reading.parse, "(?<!\\S)#[^\r\n\x85\u2028\u2029]*", json=False)
JSON = Language(jsonc.parse, jsonc.COMMENT)
# Of programs that take comments, but no comma behind a last item and no byte order mark.
STRICT_JSON = Language(partial(jsonc.parse, strict=True), jsonc.COMMENT)


class Splice(NamedTuple):
    """A span of the text, and what takes its place."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Layout:
    """A text and its outermost value; None where there is none."""

    source: Source
    root: Node | None
    language: Language

    @property
    def text(self) -> str:
        """The text itself."""
        return self.source.text

    @property
    def plain(self) -> Any:
        """The value as Python has it."""
        return self.root.plain() if self.root else None

    @property
    def newline(self) -> str:
        """The line end for new lines: the commonest one."""
        ends = LINE_END.findall(self.text)
        return max(dict.fromkeys(ends), key=ends.count) if ends else "\n"

    @property
    def gap(self) -> str:
        """What stands behind a comma or a colon on the same line."""
        tight = self.root and self.root.children and not re.search(r"[,:]\s", self.text)
        return "" if self.language.json and tight else " "

    def written(self, value: Any, quote: str = "") -> str:
        """A value on one line."""
        if not self.language.json:
            return words.written(value, quote)
        return json.dumps(value, ensure_ascii=False, separators=(f",{self.gap}", f":{self.gap}"))

    def line_start(self, at: int) -> int:
        """Where the line of `at` starts, behind a byte order mark."""
        return self.source.starts[self.source.line(at) - 1]

    def line_end(self, at: int) -> int:
        """Where the line of `at` ends, in front of its line end."""
        found = LINE_END.search(self.text, at)
        return found.start() if found else len(self.text)

    def next_line(self, at: int) -> int:
        """Where the line of `at` ends, its line end included."""
        line = self.source.line(at)
        return self.source.starts[line] if line < len(self.source.starts) else len(self.text)

    def column(self, at: int) -> int:
        """How many characters stand in front of `at` in its line."""
        return at - self.line_start(at)

    def indent(self, at: int) -> str:
        """The blanks that the line of `at` begins with."""
        line = self.text[self.line_start(at) : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def skip(self, at: int, blanks: str) -> int:
        """The first place from `at` on that is neither one of `blanks` nor in a comment."""
        found = re.compile(rf"(?:[{blanks}]|{self.language.comment})*").match(self.text, at)
        return found.end() if found else at

    def below(self, at: int, lines: Sequence[str]) -> Splice:
        """New lines behind the one of `at`. A missing last line end stays missing."""
        place, newline = self.next_line(at), self.newline
        before = self.text[:place].removeprefix("\ufeff")
        if before and not before.endswith(("\n", "\r")):
            return Splice(place, place, newline.join(["", *lines]))
        return Splice(place, place, newline.join([*lines, ""]))


def layout_of(data: bytes, path: str, language: Language = YAML) -> Layout:
    """The layout of a file's bytes; CubError with `path:line:column` for what can't be read."""
    source = read(data, path)
    return Layout(source, language.parse(source), language)


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all of them done; they don't overlap."""
    parts, at = [], 0
    for start, end, new in sorted(splices, key=lambda splice: splice[:2]):
        parts += [text[at:start], new]
        at = end
    return "".join((*parts, text[at:]))
