"""Headings in a text of somebody else's that would pass for cub's own are made plain text.

First line by line, wherever a heading may begin, so that it holds between any other texts; then
as a parser sees the text, until it sees no such heading any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import pairwise

from cub.edit.blocks import parse_headings, parse_inline_content
from cub.prompt.reading import Titles

TITLES = (
    "CURRENT TASK", "EPIC CONTEXT", "PREVIOUS ATTEMPT", "Task Management", "When Complete",
)  # fmt: skip
_ROUNDS = 4  # looks of the parser, each of which may find what the last one has made
_LONGEST_LINE = 500  # characters
_LONGEST_ELEMENT = 2000  # characters of a heading in HTML; what is longer is none
_MOST_LINES = 12  # of the paragraph of an underlined heading
# Also where a heading stands in a list or a quote. It takes what it can for good: else a line's
# square.
_BEFORE = r"(?:[^\S\n]|[>*+-]|\d{1,9}[.)])*+"
# ATX and setext headings (CommonMark 4.2, 4.3); some renderers want no blank behind the mark.
_HEADING = re.compile(rf"(?P<before>{_BEFORE})(?P<mark>#{{1,6}})(?P<content>[^\n]*)")
_UNDERLINE = re.compile(r"(?P<before>[ \t>]*+)(?P<mark>=++|-++)(?=[^\S\n]*+\Z)")
_PREFIX = re.compile(_BEFORE)
_BLANK = re.compile(r"[\s>]*+\Z")
# As lenient as a browser: a tag may hold what CommonMark allows in none. Its length is bounded, so
# that nobody looks far for the end of each of many; a tag may stand within another one.
_TAG = re.compile(
    r"<(?=(?P<name>[a-z][^\s/>]{0,40})(?P<rest>(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|[^>]){0,1000}?)>)",
    re.IGNORECASE,
)
_HEADING_NAME = re.compile(r"<h[1-6](?=[\s/>]|\Z)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"(?P<name>[^\s=\"'/]++)(?:\s*+=\s*+(?P<value>\"[^\"]*\"|'[^']*'|[^\s\"']++))?+"
)
_ENDING_TAG = re.compile(r"</h[1-6](?=[\s/>])", re.IGNORECASE)


def without_forged_headings(text: str) -> str:
    """A text in which no heading reads as one of cub's, whatever stands around it."""
    titles = Titles(TITLES)
    text = _without_forged_tags(text, titles)
    if not titles.may_be_in(text):
        return text
    text = "\n".join(_checked_lines(text, titles))
    if "\n" not in text:
        return text
    for _ in range(_ROUNDS):
        forged = {at for at, content in _parsed(text) if titles.is_forged(content)}
        if not forged:
            return text
        text = _escaped_at(text, forged)
    return "\n".join(map(_escaped_mark, text.split("\n")))


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


def _without_forged_tags(text: str, titles: Titles) -> str:
    """HTML's headings that read as cub's; and those that are open, which other text would close."""
    tags = _heading_tags(text)
    kept = len(text)  # where the next heading begins that is left
    forged = []
    for start in sorted(tags, reverse=True):
        tag_end, ending = tags[start]
        stop = min(kept if tag_end <= kept else len(text), start + _LONGEST_ELEMENT)
        found = ending.search(text, start, stop)
        is_followed = stop == kept < len(text)
        is_open = not (found or is_followed or _is_code(text, start))
        if is_open or _reads_as_title(text[start : found.start() if found else stop], titles):
            forged.append(start)
        else:
            kept = start
    parts = [text[start + 1 : stop] for start, stop in pairwise([-1, *forged[::-1], len(text)])]
    return "&lt;".join(parts)


def _heading_tags(text: str) -> dict[int, tuple[int, re.Pattern[str]]]:
    """Where the tags of HTML's headings begin, and of what has the role of one.

    For each, where it ends, as soon as possible if that is unclear, and what ends the heading.
    """
    tags = {one.start(): (one.end(), _ENDING_TAG) for one in _HEADING_NAME.finditer(text)}
    if "role" in text.casefold():
        for tag in filter(_has_role, _TAG.finditer(text)):
            ending = re.compile(f"</{re.escape(tag['name'])}(?=[\\s/>])", re.IGNORECASE)
            tags.setdefault(tag.start(), (tag.end("rest"), ending))
    return tags


def _has_role(tag: re.Match[str]) -> bool:
    return any(
        found["name"].casefold() == "role"
        and "heading" in unescape(found["value"] or "").casefold()
        for found in _ATTRIBUTE.finditer(tag["rest"])
    )


def _reads_as_title(element: str, titles: Titles) -> bool:
    """Whether what stands behind a tag reads as a title, wherever the tag is taken to end."""
    ends = {element.find(">") + 1, *(tag.end("rest") + 1 for tag in [_TAG.match(element)] if tag)}
    return any(titles.is_forged(element[end:], html=True) for end in ends)


def _is_code(text: str, start: int) -> bool:
    """Whether a tag in a line is a word about it, in backticks."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    if len(line) > _LONGEST_LINE or line.lstrip(" >*+-").startswith("<"):
        return False
    tags = (token.content for token in parse_inline_content(line) if token.type == "html_inline")
    return not any(map(_HEADING_NAME.match, tags))
