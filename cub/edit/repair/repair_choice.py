"""One way to repair a document, and how its bytes are put together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cub.edit.document import BOM, Document


@dataclass(frozen=True, slots=True)
class RepairChoice:
    """What it does, why that loses nothing, and the bytes that it leaves.

    `needs_render`: the section in them is cub's own, and is there to be rendered anew.
    """

    title: str
    reason: str
    data: bytes
    needs_render: bool = False


def rebuild_document(
    document: Document, removed_lines: Collection[int], new_lines: Mapping[int, bytes] | None = None
) -> bytes:
    """`document` without the lines `removed_lines`, and with `new_lines`: bytes by the line they
    precede.
    """
    pieces, at, more = [], 0, new_lines or {}
    for number in sorted({*removed_lines, *more, len(document.lines)}):
        kept = document.lines[at:number]
        pieces += [b"".join(kept).removeprefix(b"" if at else BOM), more.get(number, b"")]
        at = number + (number in removed_lines)
    mark = BOM if document.data.startswith(BOM) else b""
    return mark + join_lines(pieces, document.newline)


def join_lines(pieces: Iterable[bytes], newline: bytes) -> bytes:
    """Whole lines one behind the other, none of them made one with the next."""
    data = bytearray()
    for piece in filter(None, pieces):
        if data and not data.endswith((b"\r", b"\n")):
            data += newline
        if data.endswith(b"\r") and piece.startswith(b"\n"):
            data += b"\n"  # the CR takes this one, and the line stays
        data += piece
    return bytes(data)
