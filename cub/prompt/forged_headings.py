"""Headings in a text of somebody else's that would pass for cub's own are made plain text.

First line by line, wherever a heading may begin, so that it holds between any other texts; then
as a parser sees the text, until it sees no such heading any more, and no tag that makes one.

What a heading reads as to a person, once it is rendered: whether it passes for one of cub's.

Markup and what has no shape of its own are gone then, and letters that look like Latin ones are
those. What may or may not be seen, such as the label of a link, is taken both ways. A text is
forged if a line of it, or several lines in a row, read as a title.

Letters as they look: those of other alphabets that a reader takes for Latin ones are these.
"""

# ruff: noqa: RUF001 - letters that can be mistaken are what this is about

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from typing import NamedTuple

from cub.edit.blocks import parse_headings, parse_inline_content
from cub.prompt.html_tags import escape_live_tags, escape_tags, may_hold_html

RESERVED_TITLES = (
    "CURRENT TASK", "EPIC CONTEXT", "PREVIOUS ATTEMPT", "Task Management", "When Complete",
)  # fmt: skip
_ROUNDS = 5  # looks of the parser, each of which may find what the last one has made
_MOST_LINES = 12  # of the paragraph of an underlined heading
# Also where a heading stands in a list or a quote. It takes what it can for good: else a line's
# square.
_BEFORE = r"(?:[^\S\n]|[>*+-]|\d{1,9}[.)])*+"
# ATX and setext headings (CommonMark 4.2, 4.3); some renderers want no blank behind the mark.
_HEADING = re.compile(rf"(?P<before>{_BEFORE})(?P<mark>#{{1,6}})(?P<content>[^\n]*)")
_UNDERLINE = re.compile(r"(?P<before>[ \t>]*+)(?P<mark>=++|-++)(?=[^\S\n]*+\Z)")
_PREFIX = re.compile(_BEFORE)
_BLANK = re.compile(r"[\s>]*+\Z")


def escape_forged_headings(text: str) -> str:
    """A text of whole blocks in which no heading reads as one of cub's, or reaches out of it."""
    titles = TitleMatcher(RESERVED_TITLES)
    for _ in range(_ROUNDS):
        made = _without_forged_marks(escape_live_tags(text), titles)
        if made == text:
            return text
        text = made
    return "\n".join(map(_escaped_mark, escape_tags(text).split("\n")))


def escape_forged_lines(text: str) -> str:
    """A text in which no line, with those above it, looks like a heading of cub's."""
    titles = TitleMatcher(RESERVED_TITLES)
    return "\n".join(_checked_lines(text, titles)) if titles.may_occur_in(text) else text


def _without_forged_marks(text: str, titles: TitleMatcher) -> str:
    if titles.may_occur_in(text):
        text = "\n".join(_checked_lines(text, titles))
    elif "<" not in text:
        return text
    # A tag that is open in a heading may keep it open, over what comes next: as <table> does.
    forged = {
        at
        for at, content in _iter_headings(text)
        if titles.is_forged(content) or may_hold_html(content)
    }
    return _escaped_at(text, forged)


def _checked_lines(text: str, titles: TitleMatcher) -> Iterator[str]:
    paragraph: list[str] = []  # what may belong to a heading that is underlined
    for line in text.split("\n"):
        shown = line
        if _BLANK.match(line):
            paragraph = []
        elif found := _HEADING.match(line):
            if titles.is_forged(found["content"]):
                shown = _escaped_mark(line)
        elif _UNDERLINE.match(line) and _is_forged_paragraph(paragraph, titles):
            shown = _escaped_mark(line)
        if not _BLANK.match(line):
            paragraph = [*paragraph[-_MOST_LINES:], shown]
        yield shown


def _is_forged_paragraph(lines: Sequence[str], titles: TitleMatcher) -> bool:
    """Whether an underline makes a forged heading of lines; nobody knows with which it begins."""
    if len(lines) > _MOST_LINES:
        return False  # of so many, the parser has to find it
    bare = [line[found.end() :] for line in lines if (found := _PREFIX.match(line))]
    return any(titles.is_forged("\n".join(bare[start:])) for start in reversed(range(len(bare))))


def _escaped_mark(line: str) -> str:
    """A line whose mark makes no heading of it, or of what is above it."""
    found = _HEADING.match(line) or _UNDERLINE.match(line)
    return f"{line[: found.start('mark')]}\\{line[found.start('mark') :]}" if found else line


def _iter_headings(text: str) -> Iterator[tuple[int, str]]:
    """The headings that a parser sees, each with the line of its mark: alone, or below a line."""
    for above in ("", "x\n"):
        lines = above.count("\n")
        for found in parse_headings(above + text):
            at = found.start if found.mark.startswith("#") else found.end - 1
            yield max(0, at - lines), found.content


def _escaped_at(text: str, numbers: set[int]) -> str:
    lines = text.split("\n")
    return "\n".join(
        _escaped_mark(line) if number in numbers else line for number, line in enumerate(lines)
    )


# Beyond these, what has the letters of a title in their order is taken for one without a parse,
# which may take the square of the length: nobody writes such a heading for people. So is what has
# HTML in it, which may hide letters, or begin a line.
_LONGEST = 500  # characters of one heading
_MOST = 200  # headings of one text
_HTML = re.compile(r"<[a-z/!?]", re.IGNORECASE)
# Of a link: its label, which another text may define, or its target, where it began before.
_LABEL = re.compile(r"(\]\[[^\[\]]*\]|\]\([^()]*\))")


class HeadingPart(NamedTuple):
    """A part of what a heading reads as; one that is `optional` may be hidden."""

    letters: str
    optional: bool = False


_LINE_END = HeadingPart("\n")


class TitleMatcher:
    """The titles that nobody else's heading may read as; judges the headings of one text."""

    def __init__(self, titles: Iterable[str]) -> None:
        folded = [fold_letters(title) for title in titles]
        self._titles = [*folded, *(title[::-1] for title in folded)]  # bidi marks can turn it
        self._left = _MOST

    def may_occur_in(self, text: str) -> bool:
        """Whether the letters of a title are in a text, in their order."""
        letters = fold_letters(unescape(text))
        return any(_is_scattered(title, letters) for title in self._titles)

    def is_forged(self, content: str) -> bool:
        """Whether the content of a heading reads as a title."""
        if not self.may_occur_in(content):
            return False
        self._left -= 1
        if len(content) > _LONGEST or self._left < 0 or _HTML.search(content):
            return True
        pieces = [*_pieces(content)]
        return any(_reads_as(pieces, title) for title in self._titles)


def _is_scattered(title: str, letters: str) -> bool:
    at = 0
    for letter in title:
        at = letters.find(letter, at) + 1
        if not at:
            return False
    return True


def _reads_as(pieces: Sequence[HeadingPart], title: str) -> bool:
    """Whether some lines in a row are the title, each optional piece there or not."""
    ends = {0}  # how much of the title may have been read
    for piece in pieces:
        letters = piece.letters
        if piece is _LINE_END:
            if len(title) in ends:
                return True
            ends.add(0)
            continue
        there = {end + len(letters) for end in ends if title.startswith(letters, end)}
        ends = ends | there if piece.optional else there
    return len(title) in ends


def _pieces(content: str) -> Iterator[HeadingPart]:
    """What is to be read of the inline content of a heading."""
    for token in parse_inline_content(content):
        if token.type in ("softbreak", "hardbreak"):
            yield _LINE_END
        elif token.type == "image":
            yield from _pieces(token.content)
        elif token.content:
            for number, part in enumerate(_LABEL.split(token.content)):
                yield HeadingPart(fold_letters(part), number % 2 == 1)


_ALIKE = (
    # From Unicode's confusables.txt, for the letters of the titles; upper case apart, because a
    # capital eta looks like an H, and a small one like an n.
    ("a", "АаΑαꭺᎪꓮⲀⲁɑᴀ"), ("c", "СсϹϲᏟꓚⲤⲥᴄ"), ("e", "ЕеҽΕεᎬꓰⲈⲉᴇ℮"), ("g", "ԌԍᏀꓖɡɢցǤǥ"),
    ("h", "НнҺһΗᎻꓧⲎⲏʜհႹ"), ("i", "ІіӀӏΙιᎥꓲⲒⲓıɩɪlLᏞꓡʟ1ⅼ"), ("k", "КкΚκᏦꓗⲔⲕᴋ"),
    ("m", "МмΜᎷꓟⲘⲙᴍ"), ("n", "ΝηпոռꓠⲚⲛɴ"), ("o", "ОоΟοσՕօꓳⲞⲟᴏ0"), ("p", "РрΡρᏢꓑⲢⲣᴘ"),
    ("r", "ᎡᏒꓣʀг"), ("s", "ЅѕᏚՏꓢꜱ5ς"), ("t", "ТтΤτᎢꓔⲦⲧᴛ"), ("u", "ՍսυꓴᴜⲨ"),
    ("v", "ѴѵνᏙꓦᴠ"), ("w", "ԜԝωᎳꓪᴡա"), ("x", "ХхΧχꓫⲬⲭ"),
)  # fmt: skip
_FOLDED = {ord(other): latin for latin, others in _ALIKE for other in others}
# Letters in squares and circles, and those of flags, which no normal form takes apart.
_FOLDED |= {
    start + at: "i" if letter == "l" else letter
    for start in (0x1F150, 0x1F170, 0x1F1E6)
    for at, letter in enumerate("abcdefghijklmnopqrstuvwxyz")
}
_FILLERS = dict.fromkeys(map(ord, "\u115f\u1160\u3164\uffa0"))  # letters that show nothing


def fold_letters(text: str) -> str:
    """The letters and digits of a text, as Latin ones in lower case where they look like these."""
    known = text.translate(_FILLERS).translate(_FOLDED)
    plain = unicodedata.normalize("NFKD", known).translate(_FOLDED).casefold().translate(_FOLDED)
    return "".join(filter(str.isalnum, plain))
