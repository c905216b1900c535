"""`@path` imports in instruction files, as Claude Code and Gemini resolve them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from cub.edit.blocks import parse_inline
from cub.edit.boundaries import Boundaries

# Where one may stand before Markdown is parsed, and where a link may get what it refers to.
_NEEDED = re.compile(r"(?:^|(?<=[\s>]))@(?=\S)|\]:", re.MULTILINE)
_IMPORT = re.compile(r"(?:^|(?<=\s))@(\S+)(?=\s|$)")


def imports(text: str) -> frozenset[str]:
    """The paths that `text` (Markdown, LF line ends) imports, normalized.

    An import stands behind a blank or at the start of a line and ends at a blank: in plain
    text, headings, lists, quotes and tables, but not in code, comments, HTML or links, and not
    with punctuation around it (observed with Claude Code 2.1 and Gemini CLI 0.61).
    """
    if "@" not in text:
        return frozenset()
    return frozenset(
        posixpath.normpath(found)
        for tokens in parse_inline(_needed(text), having="@")
        for found in _IMPORT.findall("".join(_visible(t.type, t.content) for t in tokens))
    )


def _needed(text: str) -> Iterator[str]:
    """The parts of a text, whole blocks, that have something to do with imports."""
    boundaries, end = Boundaries(text), 0
    for found in _NEEDED.finditer(text):
        line = boundaries.line(found.start())
        if line >= end:
            start, end = boundaries.at_or_above(line), boundaries.at_or_below(line + 1)
            yield boundaries.between(start, end)


def _visible(kind: str, content: str) -> str:
    """The characters that an import may stand among; NUL for everything that breaks one."""
    if kind == "text":
        return content
    return "\n" if kind in ("softbreak", "hardbreak") else "\0"
