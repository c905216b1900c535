"""Whole files of cub's own: a header that carries version and digest, and the body behind it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from cub.edit.document import BOM, Document, normalized, split_lines
from cub.edit.sections import digest

Comment = Literal["<!-- {} -->", "# {}"]

_REFRESHED = "`cub update` refreshes it while nobody edits it"
_HEADER = re.compile(
    rb"\s*[^\n]*?cub file v(?P<version>\d{1,9}):[^\n]*\n"
    rb"\s*[^\n]*?cub:digest (?P<digest>sha256-[0-9a-f]{16})[^\n]*\n"
)


class Seal(NamedTuple):
    """What a file's header says; `intact` if the body is still the one it was written for."""

    version: int
    digest: str
    intact: bool


def seal(
    body: str, version: int, comment: Comment, front: str = "", says: str = _REFRESHED
) -> bytes:
    """`body` as a file of cub's own; `front` is its front matter, which the digest covers.

    `says` is what a reader of the header is told.
    """
    title = comment.format(f"cub file v{version}: {says}")
    proof = comment.format(f"cub:digest {digest_of(body.encode(), front.encode())}")
    return f"{front}{title}\n{proof}\n\n{body}".encode()


def unseal(data: bytes) -> Seal | None:
    """The header of a file, or None where it has none and is somebody else's."""
    front, text = _parts(data)
    found = _HEADER.match(text)
    if found is None:
        return None
    recorded = found["digest"].decode()
    fresh = digest_of(text[found.end() :], front)
    return Seal(int(found["version"]), recorded, fresh == recorded)


def digest_of(body: bytes, front: bytes = b"") -> str:
    """What a header records: over front matter and body, blank lines around each left out."""
    return digest(b"\n".join([*normalized(front), *normalized(body)]))


def body_of(data: bytes) -> bytes:
    """What stands behind the header, LF line ends; all of a file that has no header."""
    _, text = _parts(data)
    found = _HEADER.match(text)
    return text[found.end() :] if found else data


def _parts(data: bytes) -> tuple[bytes, bytes]:
    """Front matter as it stands, and the rest with LF line ends; no byte order mark."""
    data = data.removeprefix(BOM)
    head = Document(data).head
    lines = (line.rstrip(b"\r\n") for line in split_lines(data[head:]))
    return data[:head], b"\n".join(lines) + b"\n"
