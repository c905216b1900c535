"""Find which parts of a Markdown text are code or quoted, by CommonMark's rules for fences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

HIDDEN_CHAR = "\0"
_FENCE = re.compile(r"(?P<lead> {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?)(?P<run>`{3,}+|~{3,}+)")
_QUOTE_OR_INDENT = re.compile(r" {0,3}>| {4}| {0,3}\t")
_CODE = re.compile(r"`++")
_VISIBLE_CHAR = re.compile(r"[^\n]")


class MarkdownLine(NamedTuple):
    """Hold a line; `is_fence`: it opens or closes a fence; `is_in_fence`: it is in one."""

    text: str
    is_fence: bool
    is_in_fence: bool


class _OpenFence(NamedTuple):
    """Hold an open fence, and how far its list item is indented."""

    mark: str
    length: int
    indent: int


def split_markdown(text: str) -> Iterator[MarkdownLine]:
    """Yield the lines of a text; an unclosed fence extends to its end, or its list item's."""
    fence: _OpenFence | None = None
    for line in text.split("\n"):
        if fence and line.strip() and len(line) - len(line.lstrip(" ")) < fence.indent:
            fence = None
        if fence:
            closes = _is_closing(line, fence)
            yield MarkdownLine(line, closes, is_in_fence=not closes)
            fence = None if closes else fence
        else:
            fence = _parse_opening(line)
            yield MarkdownLine(line, fence is not None, is_in_fence=False)


def hide_code(text: str) -> str:
    """Replace code, quotes and lines indented by four with NULs of the same length."""
    text = text.replace(HIDDEN_CHAR, " ")
    lines = [HIDDEN_CHAR * len(line) if is_fence or is_in_fence or _QUOTE_OR_INDENT.match(line)
             else line for line, is_fence, is_in_fence in split_markdown(text)]  # fmt: skip
    # A run of backticks closes at the next run of its length in the same paragraph.
    paragraphs = re.split(r"(\n[ \t\0]*(?:\n|\Z))", "\n".join(lines))
    return "".join(map(_hide_code_spans, paragraphs))


def _parse_opening(line: str) -> _OpenFence | None:
    match = _FENCE.match(line)
    if not match or ("`" in match["run"] and "`" in line[match.end() :]):
        return None
    lead = match["lead"]
    return _OpenFence(match["run"][0], len(match["run"]), len(lead) if lead.strip() else 0)


def _is_closing(line: str, fence: _OpenFence) -> bool:
    marks = line.strip(" \t\r")
    indent = len(line) - len(line.lstrip(" ")) - fence.indent
    return indent <= 3 and len(marks) >= fence.length and not marks.strip(fence.mark)


def _hide_code_spans(part: str) -> str:
    runs = list(_CODE.finditer(part))
    following: dict[int, int] = {}
    closing = [-1] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        closing[at] = following.get(len(runs[at][0]), -1)
        following[len(runs[at][0])] = at
    pieces, copied, at = [], 0, 0
    while at < len(runs):
        if closing[at] < 0:
            at += 1
            continue
        start, end = runs[at].start(), runs[closing[at]].end()
        pieces += [part[copied:start], _VISIBLE_CHAR.sub(HIDDEN_CHAR, part[start:end])]
        copied, at = end, closing[at] + 1
    return "".join(pieces) + part[copied:]
