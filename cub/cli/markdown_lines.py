"""Style Markdown for a terminal row by row, as it is written.

A row is shown once nothing to come can change it: a terminal keeps it, and a retry of the request
finds no screen to repair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from cub.cli.output import style_diff_line
from cub.cli.tables import layout_rows, wrap_text
from cub.cli.terminal import add_style

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})\s*(?P<language>[\w+-]*)")
_HEADING = re.compile(r" {0,3}#{1,6}\s+(?P<title>.*?)\s*#*$")
_ITEM = re.compile(r"(?P<indent>\s*)(?P<mark>[-*+]|\d{1,9}[.)])\s+(?=\S)(?P<text>.*)")
_QUOTE = re.compile(r" {0,3}> ?(?P<text>.*)")
_RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")
_TABLE_LINE = re.compile(r"\s*\|.*\|\s*$")
_TABLE_RULE = re.compile(r"[\s|:-]+")
_CELL_END = re.compile(r"(?<!\\)\|")
_INLINE = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)|\*\*(?P<bold>\S(?:.*?\S)??)\*\*")
_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f]")  # of typography; U+3000 is two columns
MARKS, PLAIN_MARKS = "•│─", "*|-"
_OPEN_MARK = re.compile(r"`|\*\*(?=\S|$)|\*$")


@dataclass(slots=True)
class MarkdownLines:
    """Turn pieces of Markdown into lines of at most `width` columns, None for any.

    Without `has_styles`, lines are only wrapped: what would be a style stays as it is written.
    `marks` are those of items, quotes, and rules.
    """

    width: int | None
    has_styles: bool
    marks: str = MARKS
    _partial: str = ""
    _shown: int = 0  # rows of the partial line
    _looked: int = 0  # characters of it that were looked at for rows
    _fence: str = ""  # the characters that close the block of code
    _language: str = ""
    _table: list[str] = field(default_factory=list)

    def feed(self, text: str) -> Iterator[str]:
        """Take a piece, and yield what is complete with it."""
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            yield from self._show_line(line.removesuffix("\r"))
        yield from self._show_start()

    def finish(self) -> Iterator[str]:
        """Yield what is left at the end of a text; the next one begins anew."""
        if self._partial:
            yield from self._show_line(self._partial)
        yield from self._end_table()
        self._partial = self._fence = ""

    def _show_line(self, line: str) -> Iterator[str]:
        rows = [*islice(self._layout_line(line), self._shown, None)]
        self._shown = self._looked = 0
        yield from rows

    def _show_start(self) -> Iterator[str]:
        """Yield the rows of the partial line that are complete: a model writes long lines."""
        line, width = self._partial, self.width
        if width is None or len(line) < self._looked + max(width // 4, self._looked // 16):
            return
        self._looked = len(line)
        if self.has_styles:
            if self._fence or _FENCE.match(line) or line.lstrip().startswith("|"):
                return
            yield from self._end_table()
            line = _find_settled_start(line)
        rows = [*self._layout_line(line)][:-1]
        yield from rows[self._shown :]
        self._shown = max(self._shown, len(rows))

    def _layout_line(self, line: str) -> Iterator[str]:
        if not self.has_styles:
            yield from self._wrap(line)
        elif self._fence:
            yield self._style_code(line)
        elif _TABLE_LINE.match(line):
            self._table.append(line)
        else:
            yield from self._end_table()
            yield from self._style_line(line)

    def _style_code(self, line: str) -> str:
        """Return a line of a block of code, which is never wrapped, so that it can be copied."""
        stripped = line.strip()
        if stripped.startswith(self._fence) and not stripped.strip(self._fence[0]):
            self._fence = ""
            return add_style(line, "dim")
        return style_diff_line(line) if self._language == "diff" else add_style(line, "cyan")

    def _style_line(self, line: str) -> Iterator[str]:
        if match := _FENCE.match(line):
            self._fence, self._language = match["fence"], match["language"].lower()
            yield add_style(line, "dim")
        elif match := _HEADING.match(line):
            yield from self._wrap(add_style(match["title"].replace("**", ""), "bold"))
        elif _RULE.match(line):
            yield add_style(self.marks[2] * min(self.width or 40, 40), "dim")
        elif match := _QUOTE.match(line):
            for part in self._wrap(_style_inline(match["text"]), gap=2):
                yield add_style(f"{self.marks[1]} ", "dim") + part
        elif match := _ITEM.match(line):
            mark = self.marks[0] if match["mark"] in "-*+" else match["mark"]
            text = f"{match['indent']}{mark} {_style_inline(match['text'])}"
            yield from self._wrap(text, " " * (len(mark) + 1))
        else:
            yield from self._wrap(_style_inline(line))

    def _wrap(self, text: str, indent: str = "", gap: int = 0) -> list[str]:
        return [text] if self.width is None else wrap_text(text, self.width - gap, indent)

    def _end_table(self) -> Iterator[str]:
        """Yield the rows of a table that has ended, aligned; the first one is its header."""
        rows = [_split_cells(line) for line in self._table if not _TABLE_RULE.fullmatch(line)]
        self._table.clear()
        columns = max(map(len, rows), default=0)
        cells = [[*map(_style_inline, row), *[""] * (columns - len(row))] for row in rows]
        if not cells:
            return
        for number, lines in enumerate(layout_rows(cells, self.width, range(columns))):
            yield from (add_style(line, None if number else "bold") for line in lines)


def _split_cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(inner)]


def _find_settled_start(line: str) -> str:
    """Return the start of a line in which no mark is open, so that its styles are final."""
    start = re.split("``|`$", line, maxsplit=1)[0]
    rest = _INLINE.sub(lambda match: "x" * len(match[0]), start)
    mark = _OPEN_MARK.search(rest)
    return start[: mark.start()] if mark else start


def _style_inline(text: str) -> str:
    """Return a text with code and what is bold in styles, without their marks."""
    return _INLINE.sub(_style_match, _SPACE.sub(" ", text).replace("\u3000", "  "))


def _style_match(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return add_style(match["code"].strip() or match["code"], "cyan")
    return add_style(_INLINE.sub(lambda inner: inner["code"] or inner[0], match["bold"]), "bold")
