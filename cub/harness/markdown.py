"""Which parts of a Markdown text are code or quoted, by CommonMark's rules for fences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

HIDDEN_CHAR = "\0"
_FENCE = re.compile(r"(?P<lead> {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?)(?P<run>`{3,}+|~{3,}+)")
_ASIDE = re.compile(r" {0,3}>| {4}| {0,3}\t")
_CODE = re.compile(r"`++")
_SHOWN = re.compile(r"[^\n]")


class MarkdownLine(NamedTuple):
    """A line with its end; `is_fence` if it opens or closes one, `is_in_fence` if one holds it."""

    text: str
    is_fence: bool
    is_in_fence: bool


class _OpenFence(NamedTuple):
    """An open fence, and how far its list item is indented."""

    mark: str
    length: int
    indent: int


def split_markdown(text: str) -> Iterator[MarkdownLine]:
    """The lines of a text; an unclosed fence reaches to its end, or to that of its list item."""
    fence: _OpenFence | None = None
    for line in text.split("\n"):
        if fence and line.strip() and len(line) - len(line.lstrip(" ")) < fence.indent:
            fence = None
        if fence:
            closes = _closes(line, fence)
            yield MarkdownLine(line, closes, is_in_fence=not closes)
            fence = None if closes else fence
        else:
            fence = _parse_opening(line)
            yield MarkdownLine(line, fence is not None, is_in_fence=False)


def hide_code(text: str) -> str:
    """The text, as long as before, with NUL for all that is code, a quote or indented by four."""
    text = text.replace(HIDDEN_CHAR, " ")
    kept = [_blank_line(at) if at.is_fence or at.is_in_fence or _ASIDE.match(at.text) else at.text
            for at in split_markdown(text)]  # fmt: skip
    return _without_code("\n".join(kept))


def _parse_opening(line: str) -> _OpenFence | None:
    found = _FENCE.match(line)
    if not found or ("`" in found["run"] and "`" in line[found.end() :]):
        return None
    lead = found["lead"]
    return _OpenFence(found["run"][0], len(found["run"]), len(lead) if lead.strip() else 0)


def _closes(line: str, fence: _OpenFence) -> bool:
    found = line.strip(" \t\r")
    indent = len(line) - len(line.lstrip(" ")) - fence.indent
    return indent <= 3 and len(found) >= fence.length and not found.strip(fence.mark)


def _blank_line(line: MarkdownLine) -> str:
    return HIDDEN_CHAR * len(line.text)


def _without_code(text: str) -> str:
    """Code in backticks hidden: a run of them closes at the next as long one in its paragraph."""
    parts = re.split(r"(\n[ \t\0]*(?:\n|\Z))", text)
    return "".join(_spans_hidden(part) for part in parts)


def _spans_hidden(part: str) -> str:
    runs = list(_CODE.finditer(part))
    following: dict[int, int] = {}
    closing = [-1] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        closing[at] = following.get(len(runs[at][0]), -1)
        following[len(runs[at][0])] = at
    made, done, at = [], 0, 0
    while at < len(runs):
        if closing[at] < 0:
            at += 1
            continue
        start, end = runs[at].start(), runs[closing[at]].end()
        made += [part[done:start], _SHOWN.sub(HIDDEN_CHAR, part[start:end])]
        done, at = end, closing[at] + 1
    return "".join(made) + part[done:]
