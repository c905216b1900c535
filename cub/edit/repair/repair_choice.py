"""Describe one way to repair a document, and put its bytes together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cub.edit.document import BOM, Document, get_line_end
from cub.edit.markers import END_MARKER


@dataclass(frozen=True, slots=True)
class RepairChoice:
    """Describe what a repair does, why that loses nothing, and the bytes that it leaves.

    `needs_render` says that the section in them is cub's own, and has to be rendered again.
    """

    title: str
    reason: str
    data: bytes
    needs_render: bool = False


def rebuild_document(
    document: Document, removed_lines: Collection[int], new_lines: Mapping[int, bytes] | None = None
) -> bytes:
    """Return the bytes without `removed_lines`, with `new_lines` by the line that they precede."""
    pieces, start, more = [], 0, new_lines or {}
    for number in sorted({*removed_lines, *more, len(document.lines)}):
        lines = document.lines[start:number]
        pieces += [b"".join(lines).removeprefix(b"" if start else BOM), more.get(number, b"")]
        start = number + (number in removed_lines)
    mark = BOM if document.data.startswith(BOM) else b""
    return mark + join_lines(pieces, document.newline)


def make_end_line(document: Document, line: int) -> bytes:
    """Return an END marker to go above `line`, after a blank line."""
    last, newline = document.lines[line - 1], document.newline
    blank = newline if last.strip() else b""
    return blank + END_MARKER.encode() + (newline if get_line_end(last) else b"")


def join_lines(pieces: Iterable[bytes], newline: bytes) -> bytes:
    """Join whole lines so that no two of them become one."""
    data = bytearray()
    for piece in filter(None, pieces):
        if data and not data.endswith((b"\r", b"\n")):
            data += newline
        if data.endswith(b"\r") and piece.startswith(b"\n"):
            data += b"\n"  # the CR takes this one, and the line stays
        data += piece
    return bytes(data)
