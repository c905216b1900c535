"""`@path` imports in instruction files, as Claude Code and Gemini resolve them.

A whole Markdown file made fit to stand inside a section.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from cub.edit import markers
from cub.edit.block_boundaries import BlockBoundaries
from cub.edit.blocks import Block, parse_inline
from cub.edit.document import Document, split_lines
from cub.edit.file_header import strip_file_header
from cub.edit.merge_conflicts import find_conflicts
from cub.edit.verification import describe_open_block
from cub.errors import CubError

# Where one may stand before Markdown is parsed, and where a link may get what it refers to.
_NEEDED = re.compile(r"(?:^|(?<=[\s>]))@(?=\S)|\]:", re.MULTILINE)
_IMPORT = re.compile(r"(?:^|(?<=\s))@(\S+)(?=\s|$)")


def find_imports(text: str) -> frozenset[str]:
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
    boundaries, end = BlockBoundaries(text), 0
    for found in _NEEDED.finditer(text):
        line = boundaries.get_line_number(found.start())
        if line >= end:
            start, end = boundaries.find_at_or_above(line), boundaries.find_at_or_below(line + 1)
            yield boundaries.get_text(start, end)


def _visible(kind: str, content: str) -> str:
    """The characters that an import may stand among; NUL for everything that breaks one."""
    if kind == "text":
        return content
    return "\n" if kind in ("softbreak", "hardbreak") else "\0"


_LEVEL = 3  # below the `## ` of the section
_CLOSING = re.compile(r"(?<=[ \t])(?=#+$)")  # what an ATX heading does not count as its text
_ESCAPED = r"\\"
_BLANKS = " \t"
_NO_CHARACTER = "\ufffd".encode()


def inline_file(data: bytes, path: str, title: str) -> str:
    """The text of a file for a section, LF line ends, its top headings at level 3.

    `title` is put on top where the text does not begin with a heading; an empty text stays empty.
    Raises CubError for what would break the section: markers of its own, a merge's conflict, or a
    fence or comment that is never closed.
    """
    _require_fit(Document.parse(data, path))
    body = strip_file_header(data)
    lines = (line.rstrip(b" \t\r\n") for line in split_lines(body[Document(body).head_size :]))
    # Behind a blank line, nothing reads as front matter.
    document = Document(b"\n" + b"\n".join(lines).replace(b"\0", _NO_CHARACTER), path)
    text = "\n".join(_demoted(document)).strip("\n")
    begins_with_heading = bool(document.blocks) and document.blocks[0].kind == "heading_open"
    return text if begins_with_heading or not text else f"### {title}\n\n{text}"


def _require_fit(document: Document) -> None:
    if found := markers.find_markers(document):
        where = document.format_location(found[0].line)
        raise CubError("a file with a managed section can't be inlined", where=where)
    if torn := find_conflicts(document):
        message, hint = "this file can't be inlined: it has git's conflict markers", "resolve them"
        raise CubError(message, where=document.format_location(torn[0].start), hint=hint)
    if document.data and (reason := describe_open_block(document)):
        message = f"this file can't be inlined: {reason}"
        raise CubError(message, where=document.path, hint="close it")


def _demoted(document: Document) -> list[str]:
    """The lines, every heading as deep below level 3 as it was below the highest one."""
    lines = [line.decode("utf-8", "replace").rstrip("\n") for line in document.lines]
    headings = [block for block in document.blocks if block.kind == "heading_open"]
    shift = _LEVEL - min((_level(block) for block in headings), default=_LEVEL)
    for block in reversed(headings):
        lines[block.start : block.end] = [_heading(lines, block, shift)]
    return lines


def _level(block: Block) -> int:
    """1 to 6: the digit of the tag `h1` … `h6`."""
    return int(str(block.token_key[0][1])[1])


def _heading(lines: list[str], block: Block, shift: int) -> str:
    """An ATX heading (CommonMark 4.2) for one of either form; there is no level below 6."""
    marks = "#" * min(6, max(_LEVEL, _level(block) + shift))
    if str(block.token_key[0][3]).startswith("#"):
        return f"{marks} {lines[block.start].lstrip(_BLANKS).lstrip('#').strip(_BLANKS)}".rstrip(
            _BLANKS
        )
    text = " ".join(line.strip(_BLANKS) for line in lines[block.start : block.end - 1])
    return f"{marks} {_CLOSING.sub(_ESCAPED, text)}"
