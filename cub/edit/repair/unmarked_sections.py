"""Sections that have lost both markers: cub's text, known by its digest line or word for word.

Ways to repair a document that has cub's text in it, and no marker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cub.edit import markers
from cub.edit.document import Document, get_line_end, normalize_line
from cub.edit.markers import filter_html_lines, find_markers
from cub.edit.repair.repair_choice import RepairChoice, rebuild_document
from cub.edit.sections import (
    compute_digest,
    find_digest_end,
    find_section_or_none,
    is_digest_comment,
    is_header_comment,
    split_header,
)

_OLDEST = 1  # a text that no template gives may be of any version
_MOST = 20  # digest lines and headings that are followed: each costs a pass over the document


class ReleasedBody(NamedTuple):
    """A body that the templates of `version` give, as normalized lines."""

    version: int
    lines: tuple[bytes, ...]


class ReleasedBodies(NamedTuple):
    """The lines that released bodies begin with, and all of them, made only when asked for."""

    first_lines: frozenset[bytes] = frozenset()
    load_bodies: Callable[[], Sequence[ReleasedBody]] = tuple


NO_RELEASED_BODIES = ReleasedBodies()


@dataclass(frozen=True, slots=True)
class UnmarkedSection:
    """Lines `start` to `end`, half-open: what is left of cub's comments, and the body from the
    line `body_start` on.

    `is_proven`: every line is as cub wrote it. Where that is not so, nobody can tell how far cub's
    text goes, and `end` is where the comments end.
    """

    start: int
    body_start: int
    end: int
    version: int = _OLDEST
    is_proven: bool = True

    @property
    def line_range(self) -> range:
        """All its lines."""
        return range(self.start, self.end)


class _Comments(NamedTuple):
    """Comments of cub's with nothing but blank lines between: from the line `start` to `end`,
    half-open; `text` is the next line that is not blank.
    """

    start: int
    end: int
    text: int
    has_digest: bool


def find_unmarked_sections(
    document: Document, released_bodies: ReleasedBodies
) -> list[UnmarkedSection]:
    """The sections without markers, in order; none in a document that has markers.

    Only what stands at the top level of the document counts: in a fence, a quote or a list, cub's
    text is a sample of the person's.
    """
    headings = _find_openings(document, released_bodies)
    if (b"cub:digest" not in document.data and not headings) or find_markers(document):
        return []
    comments, bodies = _find_comments(document), released_bodies.load_bodies()
    found = _find_by_digest(document, [run for run in comments if run.has_digest], bodies)
    for line in headings[:_MOST]:
        part = _match_body(document, line, bodies)
        if part and not _is_inside(line, found):
            start = next((run.start for run in comments if run.text == line), line)
            found = [other for other in found if other.start != start]
            found.append(replace(part, start=start))
    return sorted(found, key=lambda part: part.start)


def _find_by_digest(
    document: Document, comments: Sequence[_Comments], bodies: Sequence[ReleasedBody]
) -> list[UnmarkedSection]:
    """A section for each of the `comments`, proven or not; its version as the words tell it."""
    found: list[UnmarkedSection] = []
    for run in comments[:_MOST]:
        if not _is_inside(run.start, found):
            same = _match_body(document, run.text, bodies)
            version = same.version if same else _OLDEST
            found.append(replace(_follow_digest(document, run), version=version))
    return found


def _find_openings(document: Document, released: ReleasedBodies) -> list[int]:
    """The headings of the top level that a body of cub's may begin with."""
    if not any(opening in document.data for opening in released.first_lines):
        return []
    lines = (block.start for block in document.blocks if block.kind == "heading_open")
    return [
        number
        for number in lines
        if normalize_line(document.get_line(number)) in released.first_lines
    ]


def _find_comments(document: Document) -> list[_Comments]:
    """What is left of cub's headers, in order."""
    named = (number for number, line in enumerate(document.lines) if b"cub" in line)
    own = [number for number in named if is_header_comment(document.get_line(number))]
    found: list[_Comments] = []
    for number in sorted(filter_html_lines(document, own)):
        text = _find_text(document, number + 1)
        fresh = _Comments(number, number + 1, text, is_digest_comment(document.get_line(number)))
        if found and found[-1].text == number:
            above = found.pop()
            fresh = fresh._replace(
                start=above.start, has_digest=above.has_digest or fresh.has_digest
            )
        found.append(fresh)
    return found


def _find_text(document: Document, start: int) -> int:
    """The first line from `start` on that is not blank, or where the document ends."""
    numbers = range(start, len(document.lines))
    return next((n for n in numbers if document.lines[n].strip()), len(document.lines))


def _follow_digest(document: Document, comments: _Comments) -> UnmarkedSection:
    """What the digest among the comments proves of the text below them."""
    start = comments.start
    count = find_digest_end([document.get_line(n) for n in range(start, len(document.lines))])
    if count is None:
        return UnmarkedSection(start, comments.end, comments.end, is_proven=False)
    return UnmarkedSection(start, comments.text, start + count)


def _match_body(
    document: Document, line: int, bodies: Sequence[ReleasedBody]
) -> UnmarkedSection | None:
    """The longest released body that stands from `line` on, of several the newest."""
    longest = max((len(body.lines) for body in bodies), default=0)
    last = min(line + longest, len(document.lines))
    text = tuple(normalize_line(document.get_line(number)) for number in range(line, last))
    fitting = [(len(lines), version) for version, lines in bodies if text[: len(lines)] == lines]
    if not fitting:
        return None
    length, version = max(fitting)
    return UnmarkedSection(line, line, line + length, version)


def _is_inside(line: int, parts: Iterable[UnmarkedSection]) -> bool:
    return any(line in part.line_range for part in parts)


_UNMARKED_CHOICES_MOST = 7  # of them are offered to be marked again


def list_unmarked_choices(
    document: Document, sections: Sequence[UnmarkedSection]
) -> list[RepairChoice]:
    """Mark one of `sections` again, drop what is proven to be cub's, or leave the text to the
    person.

    In each of them, the comments of cub's go from what is not proven, as its text stays.
    """
    if not sections:
        return []
    proven = [part for part in sections if part.is_proven]
    marked = (_mark(document, part, sections) for part in proven[:_UNMARKED_CHOICES_MOST])
    choices = [choice for choice in marked if choice]
    if proven:
        data = rebuild_document(document, _lines_of(document, sections))
        choices.append(RepairChoice(f"drop {_name(proven)}", _PROVEN, data))
    comments = {line for part in sections for line in range(part.start, part.body_start)}
    why = "cub's text becomes yours where it stands"
    return [
        *choices,
        RepairChoice("keep all text as yours", why, rebuild_document(document, comments)),
    ]


_PROVEN = "every line of it is as cub wrote it"


def _mark(
    document: Document, part: UnmarkedSection, found: Sequence[UnmarkedSection]
) -> RepairChoice | None:
    """Header and END around `part`, and what else is proven goes."""
    others = [other for other in found if other != part]
    end = _behind_blank(document, part)
    last, newline = document.lines[end - 1], document.newline
    blank = newline if last.strip() else b""
    closing = blank + markers.END_MARKER.encode() + (newline if get_line_end(last) else b"")
    gone = {*range(part.start, part.body_start), *_lines_of(document, others)}
    added = {part.start: _header(document, part), end: closing}
    data = rebuild_document(document, gone, added)
    section = find_section_or_none(document.replace_data(data))
    if section is None or section.author != "cub":
        return None
    proven = [other for other in others if other.is_proven]
    title = f"put both markers back around lines {part.start + 1}-{part.end}"
    return RepairChoice(title + (f", drop {_name(proven)}" if proven else ""), _PROVEN, data)


def _header(document: Document, part: UnmarkedSection) -> bytes:
    """All lines above the body: what is left of them is written anew."""
    _, body = split_header([document.get_line(number) for number in part.line_range])
    lines = (
        markers.BEGIN_MARKER.format(version=part.version),
        *markers.HEADER_COMMENTS,
        markers.DIGEST_COMMENT.format(digest=compute_digest(b"".join(body))),
        "",
    )
    return b"".join(line.encode() + document.newline for line in lines)


def _lines_of(document: Document, parts: Sequence[UnmarkedSection]) -> set[int]:
    """What of `parts` is cub's own, with the blank line below each."""
    return {line for part in parts for line in range(part.start, _behind_blank(document, part))}


def _behind_blank(document: Document, part: UnmarkedSection) -> int:
    """Where `part` ends, with the blank line that stood in front of END."""
    is_blank = part.end < len(document.lines) and not document.lines[part.end].strip()
    return part.end + (is_blank and part.is_proven)


def _name(parts: Sequence[UnmarkedSection]) -> str:
    if len(parts) == 1:
        return f"lines {parts[0].start + 1}-{parts[0].end}"
    return f"the {len(parts)} copies" if len(parts) > 1 else ""
