"""Write and read the header of a file that cub manages whole: its version and its digest."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from cub.edit.digests import compute_digest, compute_line_digest, matches_digest
from cub.edit.document import BOM, Document, normalize_lines, split_lines

CommentStyle = Literal["<!-- {} -->", "# {}"]

_REFRESHED = "`cub update` refreshes it until you edit it"
_HEADER = re.compile(
    rb"\s*+[^\n]*?cub file v(?P<version>\d{1,9}):[^\n]*\n"
    rb"\s*+[^\n]*?cub:digest (?P<digest>sha256-[0-9a-f]{16})[^\n]*\n"
)


class FileHeader(NamedTuple):
    """Describe a file's header; `is_intact` if the body is still the one it was written for."""

    version: int
    digest: str
    is_intact: bool = False
    is_markdown: bool = True

    def matches(self, body: bytes, front: bytes = b"") -> bool:
        """Tell whether the digest is that of a body and its front matter."""
        text = _join_parts(body, front)
        if self.is_markdown:
            return matches_digest(self.digest, text)
        return self.digest == compute_line_digest(text)


def add_file_header(
    body: str,
    version: int,
    comment: CommentStyle,
    front_matter: str = "",
    description: str = _REFRESHED,
) -> bytes:
    """Return `body` with a header; the digest covers `front_matter`, readers see `description`."""
    title = comment.format(f"cub file v{version}: {description}")
    compute = compute_digest if comment.startswith("<!--") else compute_line_digest
    digest = compute(_join_parts(body.encode(), front_matter.encode()))
    proof = comment.format(f"cub:digest {digest}")
    return f"{front_matter}{title}\n{proof}\n\n{body}".encode()


def parse_file_header(data: bytes) -> FileHeader | None:
    """Return the header of a file; None if it has none, and is not cub's."""
    front, text = _split_front_matter(data)
    match = _HEADER.match(text)
    if match is None:
        return None
    is_markdown = not match[0].lstrip().startswith(b"#")
    header = FileHeader(int(match["version"]), match["digest"].decode(), is_markdown=is_markdown)
    return header._replace(is_intact=header.matches(text[match.end() :], front))


def _join_parts(body: bytes, front: bytes) -> bytes:
    """Return what a header's digest covers, without blank lines around either part."""
    return b"\n".join([*normalize_lines(front), *normalize_lines(body)])


def strip_file_header(data: bytes) -> bytes:
    """Return what follows the header, with LF line endings; all of a file that has no header."""
    _, text = _split_front_matter(data)
    match = _HEADER.match(text)
    return text[match.end() :] if match else data


def _split_front_matter(data: bytes) -> tuple[bytes, bytes]:
    """Split front matter from the rest with LF line endings; drop a byte order mark."""
    data = data.removeprefix(BOM)
    head = Document(data).head_size
    lines = (line.rstrip(b"\r\n") for line in split_lines(data[head:]))
    return data[:head], b"\n".join(lines) + b"\n"
