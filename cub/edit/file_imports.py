"""Find `@path` imports in instruction files, and prepare whole Markdown files for a section."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from cub.edit import markers
from cub.edit.block_boundaries import BlockBoundaries
from cub.edit.blocks import Block, parse_inline
from cub.edit.document import Document, split_lines
from cub.edit.file_header import strip_file_header
from cub.edit.markers import find_conflicts
from cub.edit.verification import describe_open_block
from cub.errors import CubError

# Where an import or a link definition can be, as far as the text shows without parsing.
_RELEVANT = re.compile(r"(?:^|(?<=[\s>]))@(?=\S)|\]:", re.MULTILINE)
IMPORT = re.compile(r"(?:^|(?<=\s))@([^\s\0]+)(?=\s|$)")  # a NUL masks markup
# Words such as @types/node or @someone are no paths. These endings, or a leading `./`, make one.
_PATH = re.compile(r"(?:\.{1,2}|~)?/.*|.*\.(?:md|mdc|mdx|markdown|txt|rst|adoc|ya?ml|toml|json)")
_PATTERN_SIGNS = re.compile(r"[*{}$|\\\"'`]|<|>|\.\.\.")
PUNCTUATION = ".,;:!?)]"
_LEVEL = 3  # below the `## ` of the section
_CLOSING = re.compile(r"(?<=[ \t])(?=#+$)")  # what an ATX heading does not count as its text
_ESCAPED = r"\\"
_BLANKS = " \t"
_NO_CHARACTER = "\ufffd".encode()


def find_imports(text: str) -> frozenset[str]:
    """Return the paths that `text` (Markdown, LF line endings) imports, normalized.

    An import begins after whitespace or at the start of a line, and ends at whitespace: in plain
    text, headings, lists, quotes, and tables, but not in code, comments, HTML, or links, and not
    with punctuation around it (observed with Claude Code 2.1 and Gemini CLI 0.61).
    """
    if "@" not in text:
        return frozenset()
    return frozenset(
        posixpath.normpath(path)
        for tokens in parse_inline(_iter_relevant_parts(text), having="@")
        for path in IMPORT.findall("".join(_mask_markup(t.type, t.content) for t in tokens))
    )


def is_import_path(text: str) -> bool:
    """Return whether what follows an `@` is meant as a path, even if no such file exists."""
    return bool(_PATH.fullmatch(text.rstrip(PUNCTUATION))) and not _PATTERN_SIGNS.search(text)


def _iter_relevant_parts(text: str) -> Iterator[str]:
    """Yield whole blocks of a text that may contain an import or a link definition."""
    boundaries, end = BlockBoundaries(text), 0
    for match in _RELEVANT.finditer(text):
        line = boundaries.get_line_number(match.start())
        if line >= end:
            start, end = boundaries.find_at_or_above(line), boundaries.find_at_or_below(line + 1)
            yield boundaries.get_text(start, end)


def _mask_markup(kind: str, content: str) -> str:
    if kind == "text":
        return content
    return "\n" if kind in ("softbreak", "hardbreak") else "\0"


def inline_file(data: bytes, path: str, title: str) -> str:
    """Return the text of a file for a section, LF line endings, its top headings at level 3.

    `title` is put on top if the text does not begin with a heading; an empty text stays empty.
    Raises CubError for what would break the section: markers, a merge conflict, or a fence or
    comment that is never closed.
    """
    _require_inlinable(Document.parse(data, path))
    body = strip_file_header(data)
    lines = (line.rstrip(b" \t\r\n") for line in split_lines(body[Document(body).head_size :]))
    # Behind a blank line, nothing reads as front matter.
    document = Document(b"\n" + b"\n".join(lines).replace(b"\0", _NO_CHARACTER), path)
    text = "\n".join(_demote_headings(document)).strip("\n")
    begins_with_heading = bool(document.blocks) and document.blocks[0].kind == "heading_open"
    return text if begins_with_heading or not text else f"### {title}\n\n{text}"


def _require_inlinable(document: Document) -> None:
    if found_markers := markers.find_markers(document):
        where = document.format_location(found_markers[0].line)
        raise CubError("a file with a managed section can't be inlined", where=where)
    if conflicts := find_conflicts(document):
        message, hint = "this file can't be inlined: it has git's conflict markers", "resolve them"
        raise CubError(message, where=document.format_location(conflicts[0].start), hint=hint)
    if document.data and (reason := describe_open_block(document)):
        message = f"this file can't be inlined: {reason}"
        raise CubError(message, where=document.path, hint="close it")


def _demote_headings(document: Document) -> list[str]:
    lines = [line.decode("utf-8", "replace").rstrip("\n") for line in document.lines]
    headings = [block for block in document.blocks if block.kind == "heading_open"]
    shift = _LEVEL - min((_get_level(block) for block in headings), default=_LEVEL)
    for block in reversed(headings):
        lines[block.start : block.end] = [_render_heading(lines, block, shift)]
    return lines


def _get_level(block: Block) -> int:
    return int(str(block.token_key[0][1])[1])


def _render_heading(lines: list[str], block: Block, shift: int) -> str:
    """Return an ATX heading (CommonMark 4.2) for one of either form; there is no level below 6."""
    marks = "#" * min(6, max(_LEVEL, _get_level(block) + shift))
    if str(block.token_key[0][3]).startswith("#"):
        text = lines[block.start].lstrip(_BLANKS).lstrip("#").strip(_BLANKS)
        return f"{marks} {text}".rstrip(_BLANKS)
    text = " ".join(line.strip(_BLANKS) for line in lines[block.start : block.end - 1])
    return f"{marks} {_CLOSING.sub(_ESCAPED, text)}"
