"""What a heading reads as to a person, once it is rendered: whether it passes for one of cub's.

Markup and what has no shape of its own are gone then, and letters that look like Latin ones are
those. What may or may not be seen, such as the label of a link, is taken both ways. A text is
forged if a line of it, or several lines in a row, read as a title.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from typing import NamedTuple

from cub.edit.blocks import parse_inline_content
from cub.prompt.letters import folded_letters

# Beyond these, what has the letters of a title in their order is taken for one without a parse,
# which may take the square of the length: nobody writes such a heading for people. So is what has
# HTML in it, which may hide letters, or begin a line.
_LONGEST = 500  # characters of one heading
_MOST = 200  # headings of one text
_HTML = re.compile(r"<[a-z/!?]", re.IGNORECASE)
# Of a link: its label, which another text may define, or its target, where it began before.
_LABEL = re.compile(r"(\]\[[^\[\]]*\]|\]\([^()]*\))")


class Piece(NamedTuple):
    """A part of what a heading reads as; one that is `optional` may be hidden."""

    letters: str
    optional: bool = False


_LINE_END = Piece("\n")


class Titles:
    """The titles that nobody else's heading may read as; judges the headings of one text."""

    def __init__(self, titles: Iterable[str]) -> None:
        folded = [folded_letters(title) for title in titles]
        self._titles = [*folded, *(title[::-1] for title in folded)]  # bidi marks can turn it
        self._left = _MOST

    def may_be_in(self, text: str) -> bool:
        """Whether the letters of a title are in a text, in their order."""
        letters = folded_letters(unescape(text))
        return any(_is_scattered(title, letters) for title in self._titles)

    def is_forged(self, content: str) -> bool:
        """Whether the content of a heading reads as a title."""
        if not self.may_be_in(content):
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


def _reads_as(pieces: Sequence[Piece], title: str) -> bool:
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


def _pieces(content: str) -> Iterator[Piece]:
    """What is to be read of the inline content of a heading."""
    for token in parse_inline_content(content):
        if token.type in ("softbreak", "hardbreak"):
            yield _LINE_END
        elif token.type == "image":
            yield from _pieces(token.content)
        elif token.content:
            for number, part in enumerate(_LABEL.split(token.content)):
                yield Piece(folded_letters(part), number % 2 == 1)
