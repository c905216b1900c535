"""A whole Markdown file made fit to stand inside a section."""

from __future__ import annotations

import re

from cub.edit import markers
from cub.edit.blocks import Block
from cub.edit.conflicts import conflicts
from cub.edit.document import Document, split_lines
from cub.edit.owned import body_of
from cub.edit.verify import open_tail
from cub.errors import CubError

_LEVEL = 3  # below the `## ` of the section
_CLOSING = re.compile(r"(?<=[ \t])(?=#+$)")  # what an ATX heading does not count as its text
_ESCAPED = r"\\"
_BLANKS = " \t"
_NO_CHARACTER = "\ufffd".encode()


def inlined(data: bytes, path: str, title: str) -> str:
    """The text of a file for a section, LF line ends, its top headings at level 3.

    `title` is put on top where the text does not begin with a heading; an empty text stays empty.
    Raises CubError for what would break the section: markers of its own, a merge's conflict, or a
    fence or comment that is never closed.
    """
    _require_fit(Document.parse(data, path))
    body = body_of(data)
    lines = (line.rstrip(b" \t\r\n") for line in split_lines(body[Document(body).head :]))
    # Behind a blank line, nothing reads as front matter.
    document = Document(b"\n" + b"\n".join(lines).replace(b"\0", _NO_CHARACTER), path)
    text = "\n".join(_demoted(document)).strip("\n")
    begins_with_heading = bool(document.blocks) and document.blocks[0].kind == "heading_open"
    return text if begins_with_heading or not text else f"### {title}\n\n{text}"


def _require_fit(document: Document) -> None:
    if found := markers.scan(document):
        where = document.at(found[0].line)
        raise CubError("a file with a managed section can't be inlined", where=where)
    if torn := conflicts(document):
        message, hint = "this file can't be inlined: it has git's conflict markers", "resolve them"
        raise CubError(message, where=document.at(torn[0].start), hint=hint)
    if document.data and (reason := open_tail(document)):
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
    return int(str(block.shape[0][1])[1])


def _heading(lines: list[str], block: Block, shift: int) -> str:
    """An ATX heading (CommonMark 4.2) for one of either form; there is no level below 6."""
    marks = "#" * min(6, max(_LEVEL, _level(block) + shift))
    if str(block.shape[0][3]).startswith("#"):
        return f"{marks} {lines[block.start].lstrip(_BLANKS).lstrip('#').strip(_BLANKS)}".rstrip(
            _BLANKS
        )
    text = " ".join(line.strip(_BLANKS) for line in lines[block.start : block.end - 1])
    return f"{marks} {_CLOSING.sub(_ESCAPED, text)}"
