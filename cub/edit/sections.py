"""Find the managed section of a document, and tell its author by its digest, old form or new."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cub.edit import markers
from cub.edit.digests import (
    compute_digest,
    compute_legacy_digest,
    count_matching_lines,
    matches_digest,
)
from cub.edit.document import Document, get_line_end
from cub.edit.markers import DIGEST_COMMENT
from cub.errors import CubError


def has_legacy_digest(section: Section) -> bool:
    """Tell whether its digest line has the older form, and proves that nobody edited the body."""
    return section.digest.startswith("sha256:") and section.author == "cub"


def rewrite_legacy_digest(document: Document, section: Section) -> bytes:
    """Return the bytes with today's digest line in place of the older one, and no other change."""
    lines = list(document.lines)
    number = next(
        n for n in range(section.start + 1, section.end) if is_legacy_digest_comment(lines[n])
    )
    fresh = DIGEST_COMMENT.format(digest=compute_digest(b"".join(section.body)))
    lines[number] = fresh.encode() + get_line_end(lines[number])
    return b"".join(lines)


def find_section_or_none(document: Document) -> Section | None:
    """Return the section of `document`; None also if its markers are broken."""
    try:
        return find_section(document)
    except CubError:
        return None


def list_section_lines(data: bytes) -> tuple[bytes, ...]:
    """Return the lines of a file's section; of a damaged one, the markers; else nothing."""
    try:
        document = Document.parse(data)
    except CubError:  # cub manages no such file: it is too large, or UTF-16
        return ()
    if section := find_section_or_none(document):
        return document.lines[section.start : section.end]
    return tuple(document.lines[marker.line] for marker in markers.find_markers(document))


def find_digest_end(inside: Sequence[bytes]) -> int | None:
    """Return the least number of lines after BEGIN that the recorded digest proves, or None."""
    recorded, body = split_header(inside)
    if not recorded:
        return None
    lines: Sequence[bytes] = body
    if recorded.startswith("sha256:"):  # the digest line itself is the first that is not blank
        lines = inside[next(n for n, line in enumerate(inside) if line.strip()) + 1 :]
    count = count_matching_lines(lines, recorded)
    if count is None:
        return None
    end = len(inside) - len(lines) + count
    return end if detect_author(inside[:end]) == "cub" else None


_NOTES = {tuple(note.encode().split()) for note in markers.HEADER_COMMENTS}
_DIGEST = re.compile(rb"\s*<!--\s+cub:digest\s+(sha256-[0-9a-f]{16})\s+-->\s*")
_COMMENT = re.compile(rb"\s*<!--.*-->\s*")
_OLD_DIGEST = re.compile(rb"\s*<!--\s*sha256:([0-9a-f]{64})\s*-->\s*")

SectionAuthor = Literal["cub", "edited", "unknown"]


@dataclass(frozen=True, slots=True)
class Section:
    """Describe lines `start` (BEGIN) to `end` (after END), half-open; `body` is the text between.

    `digest` is what the section records of its body ("" if it records nothing), `author` what that
    proves: cub alone wrote the body, a user edited it, or it is unknown.
    """

    start: int
    end: int
    version: int
    body: tuple[bytes, ...]
    digest: str
    author: SectionAuthor

    def is_current(self, body: str, version: int) -> bool:
        """Tell whether writing `body` again would change nothing but formatting."""
        bodies = body.encode(), b"".join(self.body)
        return self.version == version and all(matches_digest(self.digest, b) for b in bodies)


def find_section(document: Document) -> Section | None:
    """Return the section, or None; raise CubError for broken, duplicate, or conflicting markers."""
    pair = markers.find_marker_pair(document)
    if pair is None:
        return None
    begin, end = pair
    return parse_section(document, begin, end.line)


def parse_section(document: Document, begin: markers.Marker, end: int) -> Section:
    """Return the section from the marker `begin` to the END in the line `end`."""
    inside = document.lines[begin.line + 1 : end]
    recorded, body = split_header(inside)
    return Section(
        start=begin.line,
        end=end + 1,
        version=begin.version or 0,
        body=body,
        digest=recorded,
        author=_judge_author(recorded, body, inside),
    )


def get_bytes_outside(document: Document, section: Section) -> bytes:
    """Return all bytes of `document` outside `section`: the user's own."""
    return document.get_bytes_before(section.start) + document.get_bytes_from(section.end)


def detect_author(inside: Sequence[bytes]) -> SectionAuthor:
    """Tell who wrote the lines between a BEGIN and an END."""
    return _judge_author(*split_header(inside), inside)


def is_header_comment(line: bytes) -> bool:
    """Tell whether `line` reads as a comment that cub writes below BEGIN: a note or the digest."""
    return tuple(line.split()) in _NOTES or is_digest_comment(line)


def is_digest_comment(line: bytes) -> bool:
    """Tell whether `line` reads as the digest."""
    return _DIGEST.fullmatch(line) is not None


def is_legacy_digest_comment(line: bytes) -> bool:
    """Tell whether `line` reads as the older form of the digest."""
    return _OLD_DIGEST.fullmatch(line) is not None


def find_header_comments(inside: Sequence[bytes]) -> list[int]:
    """Return which of the lines after a BEGIN are comments that cub wrote there."""
    own: list[int] = []
    first = True
    for number, line in enumerate(inside):
        if is_header_comment(line) or (first and is_legacy_digest_comment(line)):
            own.append(number)
        elif line.strip() and not _COMMENT.fullmatch(line):
            break
        first = first and not line.strip()
    return own


def split_header(inside: Sequence[bytes]) -> tuple[str, tuple[bytes, ...]]:
    """Return the recorded digest, and the body after the header of comments and blank lines.

    A comment that cub did not write counts as body, so that the digest notices it.
    """
    recorded = ""
    foreign: list[bytes] = []
    for number, line in enumerate(inside):
        if match := _DIGEST.fullmatch(line):
            recorded = recorded or match[1].decode()
        elif (old := _OLD_DIGEST.fullmatch(line)) and not b"".join(inside[:number]).strip():
            recorded = f"sha256:{old[1].decode()}"
        elif line.strip() and tuple(line.split()) not in _NOTES:
            if not _COMMENT.fullmatch(line):
                return recorded, (*foreign, *inside[number:])
            foreign.append(line)
    return recorded, tuple(foreign)


def _judge_author(recorded: str, body: Sequence[bytes], inside: Sequence[bytes]) -> SectionAuthor:
    if not recorded:
        return "unknown"
    if recorded.startswith("sha256:"):
        return "cub" if compute_legacy_digest(inside) == recorded else "edited"
    return "cub" if matches_digest(recorded, b"".join(body)) else "edited"
