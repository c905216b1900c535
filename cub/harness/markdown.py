"""Find which parts of a Markdown text are code or quoted, by CommonMark's rules for fences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cub.context.expansion import find_code_spans

HIDDEN_CHAR = "\0"
_FENCE = re.compile(r"(?P<lead> {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?)(?P<run>`{3,}+|~{3,}+)")
_QUOTE_OR_INDENT = re.compile(r" {0,3}>| {4}| {0,3}\t")
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
    visible, pieces, at = "\n".join(lines), list[str](), 0
    for start, end in find_code_spans(visible):
        pieces += [visible[at:start], _VISIBLE_CHAR.sub(HIDDEN_CHAR, visible[start:end])]
        at = end
    return "".join(pieces) + visible[at:]


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
