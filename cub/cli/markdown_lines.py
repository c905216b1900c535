"""Style Markdown for a terminal line by line, as it is written.

Each line is shown once it is complete, and nothing that was shown is changed: a terminal keeps it,
and a retry of the request finds no screen to repair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

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
_INLINE = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)|\*\*(?P<bold>\S(?:.*?\S)?)\*\*")


@dataclass(slots=True)
class MarkdownLines:
    """Turn pieces of Markdown into lines of at most `width` columns, None for any.

    Without `has_styles`, lines are only wrapped: what would be a style stays as it is written.
    """

    width: int | None
    has_styles: bool
    _partial: str = ""
    _fence: str = ""  # the characters that close the block of code
    _language: str = ""
    _table: list[str] = field(default_factory=list)

    def feed(self, text: str) -> Iterator[str]:
        """Take a piece, and yield what is complete with it."""
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            yield from self._show_line(line.removesuffix("\r"))

    def finish(self) -> Iterator[str]:
        """Yield what is left at the end of a text; the next one begins anew."""
        if self._partial:
            yield from self._show_line(self._partial)
        yield from self._end_table()
        self._partial = self._fence = ""

    def _show_line(self, line: str) -> Iterator[str]:
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
            yield add_style("─" * min(self.width or 40, 40), "dim")
        elif match := _QUOTE.match(line):
            for part in self._wrap(_style_inline(match["text"]), gap=2):
                yield add_style("│ ", "dim") + part
        elif match := _ITEM.match(line):
            mark = "•" if match["mark"] in "-*+" else match["mark"]
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


def _style_inline(text: str) -> str:
    """Return a text with code and what is bold in styles, without their marks."""
    return _INLINE.sub(_style_match, text)


def _style_match(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return add_style(match["code"].strip() or match["code"], "cyan")
    return add_style(_INLINE.sub(lambda inner: inner["code"] or inner[0], match["bold"]), "bold")
