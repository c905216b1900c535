"""Put a managed section into a document or take it out, and keep every other byte."""

from __future__ import annotations

from typing import NamedTuple

from cub.edit import markers
from cub.edit.digests import compute_digest
from cub.edit.document import BOM, Document, count_lines, get_line_end, require_size, split_lines
from cub.edit.sections import Section, find_section
from cub.edit.verification import describe_open_block, find_fault
from cub.errors import CubError, InternalError


class PutResult(NamedTuple):
    """Hold what `put_section` made, and why a section asked for at the bottom is on top."""

    document: Document
    moved_to_top_reason: str = ""


class _Cut(NamedTuple):
    before: bytes
    section: bytes
    after: bytes

    @property
    def data(self) -> bytes:
        return self.before + self.section + self.after


def render_section(body: str, version: int, newline: bytes) -> bytes:
    """Return the section's text, markers and digest included, without a line ending at its end."""
    text = body.strip("\n")
    header = list_header_lines(version, text.encode())
    lines = [*header, *text.split("\n"), "", markers.END_MARKER]
    return newline.join(line.encode() for line in lines)


def list_header_lines(version: int, body: bytes) -> list[str]:
    """Return the lines of a section above its body: the marker, the notes, the digest of `body`."""
    digest = markers.DIGEST_COMMENT.format(digest=compute_digest(body))
    return [markers.BEGIN_MARKER.format(version=version), *markers.HEADER_COMMENTS, digest, ""]


def put_section(
    document: Document, body: str, version: int, *, top: bool = False, lines_below: bytes = b""
) -> PutResult:
    """Return `document` with a section of `body` and `version`, checked by parsing it again.

    An existing section is replaced where it is, and left alone if it is current; `lines_below` are
    put under it. A new one goes to the end, or to the top if `top` is set or an open fence,
    comment, or raw HTML element at the end would swallow it.
    """
    section = find_section(document)
    if section is not None:
        if section.is_current(body, version) and not lines_below:
            return PutResult(document)
        cut = _replace(document, section, body, version, lines_below)
        return PutResult(_verify_cut(document, section, cut))
    if not top or document.head_size == len(document.data):
        cut = _append(document, body, version)
        if not (wrong := _find_cut_fault(document, None, cut)):
            return PutResult(_make_document(document, cut))
        if not (reason := describe_open_block(document)):
            raise _explain_fault(document, None, wrong)
    else:
        reason = ""
    return PutResult(_verify_cut(document, None, _prepend(document, body, version)), reason)


def remove_section(document: Document, section: Section, *, top: bool = False) -> bytes:
    """Return the bytes without `section` and without the separator that was written with it.

    `top` says that new sections are put on top here. Whatever a separator may not explain is kept:
    after a move or an edit around the section, every byte outside it remains.
    """
    before = document.get_bytes_before(section.start)
    after = document.get_bytes_from(section.end)
    if not after:
        closed = bool(get_line_end(document.lines[section.end - 1]))
        return _strip_separator(before, closed)
    blank = document.lines[section.end]
    rest = after[len(blank) :]
    if len(before) == document.head_size and not blank.rstrip(b"\r\n"):
        original = document.replace_data(before + rest)
        if top or describe_open_block(original):
            return original.data
    return before + after


def _append(document: Document, body: str, version: int) -> _Cut:
    data, newline = document.data, document.newline
    text = render_section(body, version, newline)
    if not data:
        return _Cut(b"", text + newline, b"")
    end = get_line_end(document.lines[-1])
    if not end:
        return _Cut(data, newline * 2 + text, b"")
    # After a lone CR, an LF would form one line ending with it.
    separator = end if end == b"\r" else newline
    return _Cut(data, separator + text + newline, b"")


def _prepend(document: Document, body: str, version: int) -> _Cut:
    head, rest = document.data[: document.head_size], document.data[document.head_size :]
    newline = document.newline
    return _Cut(
        head, render_section(body, version, newline) + newline + _make_line_end(rest, newline), rest
    )


def _replace(document: Document, section: Section, body: str, version: int, below: bytes) -> _Cut:
    before = document.get_bytes_before(section.start)
    after = document.get_bytes_from(section.end)
    newline = document.newline
    text = render_section(body, version, newline) + get_line_end(document.lines[section.end - 1])
    if below:
        text = text.rstrip(b"\r\n") + newline * 2 + below.strip(b"\r\n")
        text += _make_line_end(after, newline)
        text += newline if after and not after.startswith((b"\r", b"\n")) else b""
    return _Cut(before, text, after)


def _make_line_end(rest: bytes, newline: bytes) -> bytes:
    return b"\r\n" if newline == b"\r" and rest.startswith(b"\n") else newline


def _verify_cut(document: Document, section: Section | None, cut: _Cut) -> Document:
    """Return the new document. Raises CubError if the section would not stand as it should."""
    if wrong := _find_cut_fault(document, section, cut):
        raise _explain_fault(document, section, wrong)
    return _make_document(document, cut)


def _explain_fault(document: Document, section: Section | None, wrong: str) -> CubError:
    """Return the error for a section that can't be put; a bug if it is new or stands by itself.

    Without blank lines around it, the text there may depend on the section: a raw HTML block ends
    at the first blank line, which may be one of the section's.
    """
    if section is None:
        return InternalError(wrong, where=document.path)
    neighbors = (*document.lines[: section.start][-1:], *document.lines[section.end :][:1])
    if all(not line.strip() for line in neighbors):
        return InternalError(wrong, where=document.path)
    where = f"{document.path}:{section.start + 1}"
    return CubError(wrong, where=where, hint="put a blank line above and below the section")


def _make_document(document: Document, cut: _Cut) -> Document:
    """Return the result, unless it is too large to be read again."""
    require_size(cut.data, document.path, "with its section, this file")
    return document.replace_data(cut.data)


def _find_cut_fault(document: Document, section: Section | None, cut: _Cut) -> str:
    start = count_lines(cut.before.removeprefix(BOM))
    after = document.replace_data(cut.data)
    end = len(after.lines) - count_lines(cut.after)
    try:
        return find_fault(document, section, after, (start, end))
    except CubError as error:  # the result does not even have one well-formed section
        return error.message


def _strip_separator(before: bytes, closed: bool) -> bytes:
    lines = split_lines(before)
    if len(lines) < 2 or lines[-1].rstrip(b"\r\n"):
        return before
    if closed:
        return b"".join(lines[:-1])
    return b"".join(lines[:-1]).removesuffix(get_line_end(lines[-2]))


def cut_own_section(data: bytes, path: str) -> bytes | None:
    """Return a file without the section that cub wrote; None if a person may have edited that."""
    try:
        document = Document.parse(data, path)
        section = find_section(document)
        if section is None:
            return data
        return remove_section(document, section) if section.author == "cub" else None
    except CubError:
        return None
