"""`@path` imports in instruction files, as Claude Code and Gemini resolve them."""

from __future__ import annotations

import posixpath
import re

from cub.edit.blocks import parse_inline

_IMPORT = re.compile(r"(?:^|(?<=\s))@(\S+)(?=\s|$)")


def imports(text: str, name: str) -> bool:
    """Whether `text` (Markdown, LF line ends) imports the file `name` beside it.

    An import stands behind a blank or at the start of a line and ends at a blank: in plain
    text, headings, lists, quotes and tables, but not in code, comments, HTML or links, and not
    with punctuation around it (observed with Claude Code 2.1 and Gemini CLI 0.61).
    """
    if "@" not in text or name not in text:
        return False
    return any(
        posixpath.normpath(found) == name
        for tokens in parse_inline(text)
        for found in _IMPORT.findall("".join(_visible(t.type, t.content) for t in tokens))
    )


def _visible(kind: str, content: str) -> str:
    """The characters that an import may stand among; NUL for everything that breaks one."""
    if kind == "text":
        return content
    return "\n" if kind in ("softbreak", "hardbreak") else "\0"
