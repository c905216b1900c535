"""Lay out text for the width of a terminal: wrapped lines, and tables that never break an id."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest

from cub.cli.terminal import strip_styles

_GAP = "  "
_INDENT = "    "  # before the second and later lines of a row that is folded
_READABLE = 20  # columns; where a text would get fewer, it moves to a line of its own
# A no-break space does not end a word. Chinese and Japanese have no spaces: each character is a
# word, with opening marks before it, and closing marks and full stops after it.
_CJK = "\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_BEFORE = "\u2018\u201c\u3008\u300a\u300c\u300e\u3010\uff08"
_AFTER = "\u2019\u201d\u3001\u3002\u3009\u300b\u300d\u300f\u3011\uff01\uff09\uff0c\uff1a-\uff1f"
_WORD = re.compile(f" *(?:[{_BEFORE}]*[{_CJK}]|[^ {_CJK}]+)[{_AFTER}]*")

TableRows = Sequence[Sequence[str]]


def measure_width(text: str) -> int:
    """Return a text's columns on a terminal; styles take none, wide characters two."""
    text = strip_styles(text)
    return len(text) if text.isascii() else sum(map(_measure_character, text))


def wrap_text(text: str, width: int, indent: str = "") -> list[str]:
    """Wrap each line to `width` columns between words; continuation lines are indented as it is.

    A longer word stays whole, on a line of its own. `indent` is added to continuation lines. The
    indentation gives way if the first word would not fit after it.
    """
    return [part for line in text.split("\n") for part in _wrap_line(line, width, indent)]


def _wrap_line(text: str, width: int, indent: str) -> Iterator[str]:
    if measure_width(text) <= width:
        yield text
        return
    leading = text[: len(text) - len(text.lstrip(" "))]
    first, *others = _WORD.findall(text) or [""]
    line = _indent_word(first.lstrip(" "), leading, width)
    for word in others:
        if measure_width(line) + measure_width(word) <= width:
            line += word
        else:
            yield line
            line = _indent_word(word.lstrip(" "), leading + indent, width)
    yield line


def _indent_word(word: str, indent: str, width: int) -> str:
    """Return a word after as much of an indentation as fits; all of it if the word does not fit."""
    available = width - measure_width(word)
    return (indent if available < 0 else indent[:available]) + word


def layout_rows(
    rows: TableRows, width: int | None = None, prose: Collection[int] = ()
) -> list[list[str]]:
    """Return each row as its lines, aligned with all others.

    `width` is that of the terminal, None for as wide as the cells are. If they do not fit, the
    columns numbered in `prose` are wrapped; if that does not suffice, each row is folded into
    several lines. No other cell is broken, and no word.
    """
    columns = [*zip(*rows, strict=True)]
    full_widths = [max(map(measure_width, column)) for column in columns]
    if width is None or _add_widths(full_widths) <= width:
        return [[_join(row, full_widths)] for row in rows]
    readable = min(_READABLE, width - len(_INDENT))
    least_widths = [
        min(_find_usual_width(column), readable) if number in prose else want
        for number, (column, want) in enumerate(zip(columns, full_widths, strict=True))
    ]
    groups = _fold_columns(least_widths, width)
    widths = [w for group in groups for w in _share_room(group, least_widths, full_widths, width)]
    return [list(_fold_row(row, groups, widths, width)) for row in rows]


def _measure_character(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _add_widths(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _find_usual_width(column: Sequence[str]) -> int:
    """Return what the title and most cells of a column need: one long text does not decide."""
    title, *cells = map(measure_width, column)
    return max(title, sorted(cells)[len(cells) // 2]) if cells else title


def _fold_columns(least: Sequence[int], width: int) -> list[range]:
    """Return the columns of each line: as many as fit."""
    groups, start = [], 0
    for end in range(1, len(least) + 1):
        available = width - (len(_INDENT) if start else 0)
        if end - start > 1 and _add_widths(least[start:end]) > available:
            groups.append(range(start, end - 1))
            start = end - 1
    return [*groups, range(start, len(least))]


def _share_room(
    group: range, least: Sequence[int], full_widths: Sequence[int], width: int
) -> Iterator[int]:
    """Yield the width of each column of a line: small ones first, then equal shares."""
    available = width - (len(_INDENT) if group.start else 0)
    free = max(0, available - _add_widths([least[n] for n in group]))
    shares = {}
    order = sorted(group, key=lambda n: full_widths[n] - least[n])
    for count, number in enumerate(order):
        extra = min(full_widths[number] - least[number], free // (len(order) - count))
        shares[number] = least[number] + extra
        free -= extra
    return (shares[number] for number in group)


def _fold_row(
    row: Sequence[str], groups: Sequence[range], widths: Sequence[int], width: int
) -> Iterator[str]:
    """Yield the lines of one row. A text with a word wider than its column goes below it."""
    for group in groups:
        line_widths = [widths[number] for number in group]
        words = {n: (word.strip(" ") for word in _WORD.findall(row[n]) or [""]) for n in group}
        longest = {n: max(map(measure_width, words[n])) for n in group}
        wide_columns = [n for n in group if len(group) > 1 and longest[n] > widths[n]]
        cells = [[] if n in wide_columns else wrap_text(row[n], widths[n]) for n in group]
        for parts in zip_longest(*cells, fillvalue=""):
            line = _join(parts, line_widths)
            if line or not group.start:
                yield (_INDENT if group.start else "") + line
        for number in wide_columns:
            yield from (_INDENT + part for part in wrap_text(row[number], width - len(_INDENT)))


def _join(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (w - measure_width(cell)) for cell, w in zip(cells, widths, strict=True))
    return _GAP.join(padded).rstrip(" ")
