"""One way to repair a document, and how its bytes are put together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cub.edit.document import BOM, Document
from cub.edit.sections import Section, find
from cub.errors import CubError


@dataclass(frozen=True, slots=True)
class Choice:
    """What it does, why that loses nothing, and the bytes that it leaves.

    `anew`: the section in them is cub's own, and is there to be rendered anew.
    """

    title: str
    why: str
    data: bytes
    anew: bool = False


def rebuilt(
    document: Document, gone: Collection[int], added: Mapping[int, bytes] | None = None
) -> bytes:
    """`document` without the lines `gone`, and with `added`: bytes by the line they precede."""
    pieces, at, more = [], 0, added or {}
    for number in sorted({*gone, *more, len(document.lines)}):
        kept = document.lines[at:number]
        pieces += [b"".join(kept).removeprefix(b"" if at else BOM), more.get(number, b"")]
        at = number + (number in gone)
    mark = BOM if document.data.startswith(BOM) else b""
    return mark + joined(pieces, document.newline)


def joined(pieces: Iterable[bytes], newline: bytes) -> bytes:
    """Whole lines one behind the other, none of them made one with the next."""
    data = bytearray()
    for piece in filter(None, pieces):
        if data and not data.endswith((b"\r", b"\n")):
            data += newline
        if data.endswith(b"\r") and piece.startswith(b"\n"):
            data += b"\n"  # the CR takes this one, and the line stays
        data += piece
    return bytes(data)


def section_in(document: Document) -> Section | None:
    """The section of `document`; None also where its markers are broken."""
    try:
        return find(document)
    except CubError:
        return None
