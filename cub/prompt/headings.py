"""Headings in a text of somebody else's that would pass for cub's own are made plain text.

First line by line, wherever a heading may begin, so that it holds between any other texts; then
as a parser sees the text, until it sees no such heading any more, and no tag that makes one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cub.edit.blocks import parse_headings
from cub.prompt.reading import Titles
from cub.prompt.tags import may_hold_html, without_live_tags, without_tags

TITLES = (
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


def without_forged_headings(text: str) -> str:
    """A text of whole blocks in which no heading reads as one of cub's, or reaches out of it."""
    titles = Titles(TITLES)
    for _ in range(_ROUNDS):
        made = _without_forged_marks(without_live_tags(text), titles)
        if made == text:
            return text
        text = made
    return "\n".join(map(_escaped_mark, without_tags(text).split("\n")))


def without_forged_lines(text: str) -> str:
    """A text in which no line, with those above it, looks like a heading of cub's."""
    titles = Titles(TITLES)
    return "\n".join(_checked_lines(text, titles)) if titles.may_be_in(text) else text


def _without_forged_marks(text: str, titles: Titles) -> str:
    if titles.may_be_in(text):
        text = "\n".join(_checked_lines(text, titles))
    elif "<" not in text:
        return text
    # A tag that is open in a heading may keep it open, over what comes next: as <table> does.
    forged = {
        at for at, content in _parsed(text) if titles.is_forged(content) or may_hold_html(content)
    }
    return _escaped_at(text, forged)


def _checked_lines(text: str, titles: Titles) -> Iterator[str]:
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


def _is_forged_paragraph(lines: Sequence[str], titles: Titles) -> bool:
    """Whether an underline makes a forged heading of lines; nobody knows with which it begins."""
    if len(lines) > _MOST_LINES:
        return False  # of so many, the parser has to find it
    bare = [line[found.end() :] for line in lines if (found := _PREFIX.match(line))]
    return any(titles.is_forged("\n".join(bare[start:])) for start in reversed(range(len(bare))))


def _escaped_mark(line: str) -> str:
    """A line whose mark makes no heading of it, or of what is above it."""
    found = _HEADING.match(line) or _UNDERLINE.match(line)
    return f"{line[: found.start('mark')]}\\{line[found.start('mark') :]}" if found else line


def _parsed(text: str) -> Iterator[tuple[int, str]]:
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
