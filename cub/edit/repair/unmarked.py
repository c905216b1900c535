"""Sections that have lost both markers: cub's text, known by its digest line or word for word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cub.edit.document import Document, plain
from cub.edit.markers import free_lines, scan
from cub.edit.repair.proof import proven_end
from cub.edit.sections import is_digest, is_own_comment

_OLDEST = 1  # a text that no template gives may be of any version
_MOST = 20  # digest lines and headings that are followed: each costs a pass over the document


class ReleasedBody(NamedTuple):
    """A body that the templates of `version` give, as normalized lines."""

    version: int
    lines: tuple[bytes, ...]


class Released(NamedTuple):
    """The lines that released bodies begin with, and all of them, made only when asked for."""

    openings: frozenset[bytes] = frozenset()
    bodies: Callable[[], Sequence[ReleasedBody]] = tuple


NOTHING_RELEASED = Released()


@dataclass(frozen=True, slots=True)
class Unmarked:
    """Lines `start` to `end`, half-open: what is left of cub's comments, and the body from the
    line `body` on.

    `proven`: every line is as cub wrote it. Where that is not so, nobody can tell how far cub's
    text goes, and `end` is where the comments end.
    """

    start: int
    body: int
    end: int
    version: int = _OLDEST
    proven: bool = True

    @property
    def lines(self) -> range:
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


def find_unmarked(document: Document, released: Released) -> list[Unmarked]:
    """The sections without markers, in order; none in a document that has markers.

    Only what stands at the top level of the document counts: in a fence, a quote or a list, cub's
    text is a sample of the person's.
    """
    headings = _find_openings(document, released)
    if (b"cub:digest" not in document.data and not headings) or scan(document):
        return []
    comments, bodies = _find_comments(document), released.bodies()
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
) -> list[Unmarked]:
    """A section for each of the `comments`, proven or not; its version as the words tell it."""
    found: list[Unmarked] = []
    for run in comments[:_MOST]:
        if not _is_inside(run.start, found):
            same = _match_body(document, run.text, bodies)
            version = same.version if same else _OLDEST
            found.append(replace(_follow_digest(document, run), version=version))
    return found


def _find_openings(document: Document, released: Released) -> list[int]:
    """The headings of the top level that a body of cub's may begin with."""
    if not any(opening in document.data for opening in released.openings):
        return []
    lines = (block.start for block in document.blocks if block.kind == "heading_open")
    return [number for number in lines if plain(document.line(number)) in released.openings]


def _find_comments(document: Document) -> list[_Comments]:
    """What is left of cub's headers, in order."""
    named = (number for number, line in enumerate(document.lines) if b"cub" in line)
    own = [number for number in named if is_own_comment(document.line(number))]
    found: list[_Comments] = []
    for number in sorted(free_lines(document, own)):
        text = _find_text(document, number + 1)
        fresh = _Comments(number, number + 1, text, is_digest(document.line(number)))
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


def _follow_digest(document: Document, comments: _Comments) -> Unmarked:
    """What the digest among the comments proves of the text below them."""
    start = comments.start
    count = proven_end([document.line(n) for n in range(start, len(document.lines))])
    if count is None:
        return Unmarked(start, comments.end, comments.end, proven=False)
    return Unmarked(start, comments.text, start + count)


def _match_body(document: Document, line: int, bodies: Sequence[ReleasedBody]) -> Unmarked | None:
    """The longest released body that stands from `line` on, of several the newest."""
    longest = max((len(body.lines) for body in bodies), default=0)
    last = min(line + longest, len(document.lines))
    text = tuple(plain(document.line(number)) for number in range(line, last))
    fitting = [(len(lines), version) for version, lines in bodies if text[: len(lines)] == lines]
    if not fitting:
        return None
    length, version = max(fitting)
    return Unmarked(line, line, line + length, version)


def _is_inside(line: int, parts: Iterable[Unmarked]) -> bool:
    return any(line in part.lines for part in parts)
