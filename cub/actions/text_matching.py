"""Count how often a text is in what an agent loads, by content: paragraph by paragraph.

Line breaks, comments, and the level of headings and quotes don't count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # Claude Code takes comments out
_MARKUP = re.compile(r"^[\s#>*+-]+")  # a heading may have another level, a list other bullets
_IMPORT = re.compile(r"(?:^|(?<=\s))@(?=\S)")  # cub's agent puts the text after its path
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]")
_WHOLE = 0.8  # of the characters of a text have to be there


class Paragraph(NamedTuple):
    """Hold a paragraph with the headings above it, and its words without them, to be compared."""

    text: str
    words: str


class TextMatcher:
    """Count the paragraphs of texts in one that an agent loads."""

    def __init__(self, text: str) -> None:
        self._lines = _fold_lines(text)

    def count(self, paragraph: Paragraph) -> int:
        """Return how often the paragraph is there, from the start of a line to the end of one."""
        count, at, words = 0, -1, f" {paragraph.words} "
        while (at := self._flat.find(words, at + 1)) >= 0:
            count += at in self._bounds and at + len(words) - 1 in self._bounds
        return count

    @cached_property
    def _flat(self) -> str:
        return f" {' '.join(self._lines)} "

    @cached_property
    def _bounds(self) -> frozenset[int]:
        bounds = [0]
        for line in self._lines:
            bounds.append(bounds[-1] + len(line) + 1)
        return frozenset(bounds)


def split_paragraphs(text: str) -> list[Paragraph]:
    """Return the paragraphs of a text; a heading belongs to the one below it."""
    paragraphs: list[Paragraph] = []
    lines: list[str] = []
    for line in [*_COMMENT.sub("", text).splitlines(), ""]:
        lines.append(line)
        has_words = any(one.strip() and not _HEADING.match(one) for one in lines)
        if not line.strip() and has_words:
            paragraphs.append(_make_paragraph(lines))
            lines = []
    if any(line.strip() for line in lines):
        paragraphs.append(_make_paragraph(lines))
    return [paragraph for paragraph in paragraphs if paragraph.words]


def _make_paragraph(lines: Sequence[str]) -> Paragraph:
    body = [line for line in lines if not _HEADING.match(line)]
    words = _fold_lines("\n".join(body)) or _fold_lines("\n".join(lines))
    return Paragraph("\n".join(lines).strip("\n"), " ".join(words))


def _fold_lines(text: str) -> list[str]:
    text = _IMPORT.sub("", _COMMENT.sub("", text))
    lines = (_MARKUP.sub("", line) for line in text.splitlines())
    return [words for line in lines if (words := " ".join(line.split()))]


def count_paragraphs(paragraphs: Sequence[Paragraph], matchers: Iterable[TextMatcher]) -> list[int]:
    """Return how often each paragraph of a text is in all that is loaded.

    One that the text itself has several times counts once for each time that all of them are there.
    """
    matchers = list(matchers)
    words = [paragraph.words for paragraph in paragraphs]
    return [
        sum(matcher.count(one) for matcher in matchers) // words.count(one.words)
        for one in paragraphs
    ]


def count_whole(paragraphs: Sequence[Paragraph], counts: Sequence[int]) -> int:
    """Return how often most of a text is there: a few lines that differ don't count."""
    total = sum(len(one.words) for one in paragraphs)
    for times in sorted(set(counts), reverse=True):
        there = (len(p.words) for p, n in zip(paragraphs, counts, strict=True) if n >= times)
        if sum(there) >= _WHOLE * total:
            return times
    return 0


def contains_text(whole: bytes, text: bytes) -> bool:
    """Tell whether a file has every paragraph of another text; False for one without words."""
    paragraphs = split_paragraphs(text.decode("utf-8", "replace"))
    matcher = TextMatcher(whole.decode("utf-8", "replace"))
    return bool(paragraphs) and all(map(matcher.count, paragraphs))
