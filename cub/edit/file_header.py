"""Whole files of cub's own: a header that carries version and digest, and the body behind it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from cub.edit.document import BOM, Document, normalize_lines, split_lines
from cub.edit.sections import compute_digest

CommentStyle = Literal["<!-- {} -->", "# {}"]

_REFRESHED = "`cub update` refreshes it while nobody edits it"
_HEADER = re.compile(
    rb"\s*[^\n]*?cub file v(?P<version>\d{1,9}):[^\n]*\n"
    rb"\s*[^\n]*?cub:digest (?P<digest>sha256-[0-9a-f]{16})[^\n]*\n"
)


class FileHeader(NamedTuple):
    """What a file's header says; `is_intact` if the body is still the one it was written for."""

    version: int
    digest: str
    is_intact: bool


def add_file_header(
    body: str,
    version: int,
    comment: CommentStyle,
    front_matter: str = "",
    description: str = _REFRESHED,
) -> bytes:
    """`body` as a file of cub's own; `front_matter` is its front matter, which the digest covers.

    `description` is what a reader of the header is told.
    """
    title = comment.format(f"cub file v{version}: {description}")
    proof = comment.format(
        f"cub:digest {compute_file_digest(body.encode(), front_matter.encode())}"
    )
    return f"{front_matter}{title}\n{proof}\n\n{body}".encode()


def parse_file_header(data: bytes) -> FileHeader | None:
    """The header of a file, or None where it has none and is somebody else's."""
    front, text = _parts(data)
    found = _HEADER.match(text)
    if found is None:
        return None
    recorded = found["digest"].decode()
    fresh = compute_file_digest(text[found.end() :], front)
    return FileHeader(int(found["version"]), recorded, fresh == recorded)


def compute_file_digest(body: bytes, front: bytes = b"") -> str:
    """What a header records: over front matter and body, blank lines around each left out."""
    return compute_digest(b"\n".join([*normalize_lines(front), *normalize_lines(body)]))


def strip_file_header(data: bytes) -> bytes:
    """What stands behind the header, LF line ends; all of a file that has no header."""
    _, text = _parts(data)
    found = _HEADER.match(text)
    return text[found.end() :] if found else data


def _parts(data: bytes) -> tuple[bytes, bytes]:
    """Front matter as it stands, and the rest with LF line ends; no byte order mark."""
    data = data.removeprefix(BOM)
    head = Document(data).head_size
    lines = (line.rstrip(b"\r\n") for line in split_lines(data[head:]))
    return data[:head], b"\n".join(lines) + b"\n"
