"""The managed section of a document: finding it, and telling its author by its digest."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cub.edit import markers
from cub.edit.document import Document, normalized

_NOTES = {tuple(note.encode().split()) for note in markers.NOTES}
_DIGEST = re.compile(rb"\s*<!--\s+cub:digest\s+(sha256-[0-9a-f]{16})\s+-->\s*")
_COMMENT = re.compile(rb"\s*<!--.*-->\s*")
_OLD_DIGEST = re.compile(rb"\s*<!--\s*sha256:([0-9a-f]{64})\s*-->\s*")

Author = Literal["cub", "edited", "unknown"]


@dataclass(frozen=True, slots=True)
class Section:
    """Lines `start` (BEGIN) to `end` (behind END), half-open; `body` is the text between.

    `digest` is what the section records of its body ("" where it records nothing), `author`
    what that proves: cub alone wrote the body, a person edited it, or nobody can tell.
    """

    start: int
    end: int
    version: int
    body: tuple[bytes, ...]
    digest: str
    author: Author

    def is_current(self, body: str, version: int) -> bool:
        """Whether writing `body` anew would change nothing but formatting."""
        fresh = digest(body.encode())
        return self.version == version and self.digest == fresh == digest(b"".join(self.body))


def digest(body: bytes) -> str:
    """The recorded form: `sha256-` and 16 hex digits over the normalized lines of `body`."""
    return "sha256-" + hashlib.sha256(b"\n".join(normalized(body))).hexdigest()[:16]


def find(document: Document) -> Section | None:
    """The managed section, or None. Broken, doubled or conflicting markers raise CubError."""
    found = markers.pair(document)
    if found is None:
        return None
    begin, end = found
    return section_between(document, begin, end.line)


def section_between(document: Document, begin: markers.Marker, end: int) -> Section:
    """The section from the marker `begin` to END in the line `end`."""
    inside = document.lines[begin.line + 1 : end]
    recorded, body = split_header(inside)
    return Section(
        start=begin.line,
        end=end + 1,
        version=begin.version or 0,
        body=body,
        digest=recorded,
        author=_author(recorded, body, inside),
    )


def without(document: Document, section: Section) -> bytes:
    """All bytes of `document` outside `section`: what is the user's own."""
    return document.before(section.start) + document.after(section.end)


def author_of(inside: Sequence[bytes]) -> Author:
    """Who wrote the lines between a BEGIN and an END."""
    return _author(*split_header(inside), inside)


def is_own_comment(line: bytes) -> bool:
    """Whether `line` reads as a comment that cub writes below BEGIN: a note or the digest."""
    return tuple(line.split()) in _NOTES or is_digest(line)


def is_digest(line: bytes) -> bool:
    """Whether `line` reads as the digest."""
    return _DIGEST.fullmatch(line) is not None


def is_old_digest(line: bytes) -> bool:
    """Whether `line` reads as the older form of the digest."""
    return _OLD_DIGEST.fullmatch(line) is not None


def own_comments(inside: Sequence[bytes]) -> list[int]:
    """Which of the lines behind a BEGIN are the comments that cub wrote there."""
    own: list[int] = []
    first = True
    for number, line in enumerate(inside):
        if is_own_comment(line) or (first and is_old_digest(line)):
            own.append(number)
        elif line.strip() and not _COMMENT.fullmatch(line):
            break
        first = first and not line.strip()
    return own


def split_header(inside: Sequence[bytes]) -> tuple[str, tuple[bytes, ...]]:
    """The recorded digest, and the body behind the header of comments and blank lines.

    A comment that cub did not write counts as body, so that the digest notices it.
    """
    recorded = ""
    foreign: list[bytes] = []
    for number, line in enumerate(inside):
        if found := _DIGEST.fullmatch(line):
            recorded = recorded or found[1].decode()
        elif (old := _OLD_DIGEST.fullmatch(line)) and not b"".join(inside[:number]).strip():
            recorded = f"sha256:{old[1].decode()}"
        elif line.strip() and tuple(line.split()) not in _NOTES:
            if not _COMMENT.fullmatch(line):
                return recorded, (*foreign, *inside[number:])
            foreign.append(line)
    return recorded, tuple(foreign)


def _author(recorded: str, body: Sequence[bytes], inside: Sequence[bytes]) -> Author:
    if not recorded:
        return "unknown"
    if recorded.startswith("sha256:"):
        return "cub" if _old_digest(inside) == recorded else "edited"
    return "cub" if digest(b"".join(body)) == recorded else "edited"


def _old_digest(inside: Sequence[bytes]) -> str:
    """The older form: over the stripped text between its own line, the first one, and END."""
    lines = [line.rstrip(b"\r\n") for line in inside]
    text = b"\n".join(lines).strip().partition(b"\n")[2].strip()
    return f"sha256:{hashlib.sha256(text).hexdigest()}"
