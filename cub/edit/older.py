"""Sections as an older form left them, brought to today's form of the markers."""

from __future__ import annotations

from cub.edit.document import Document, line_end
from cub.edit.markers import DIGEST
from cub.edit.sections import Section, digest, is_old_digest


def is_older(section: Section) -> bool:
    """Whether its digest line is of the older form, and proves that nobody edited the body."""
    return section.digest.startswith("sha256:") and section.author == "cub"


def modernized(document: Document, section: Section) -> bytes:
    """The bytes with today's digest line in place of the older one, and no other change."""
    lines = list(document.lines)
    number = next(n for n in range(section.start + 1, section.end) if is_old_digest(lines[n]))
    fresh = DIGEST.format(digest=digest(b"".join(section.body)))
    lines[number] = fresh.encode() + line_end(lines[number])
    return b"".join(lines)
