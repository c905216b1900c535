"""Find sections that have lost both markers, by digest or by their words, and offer repairs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cub.edit.document import Document, normalize_line
from cub.edit.markers import filter_html_lines, find_markers
from cub.edit.repair.repair_choice import RepairChoice, make_end_line, rebuild_document
from cub.edit.repair.similar_text import ReleasedBody, SimilarText, find_similar_text
from cub.edit.section_writer import list_header_lines
from cub.edit.sections import (
    find_digest_end,
    find_section_or_none,
    is_digest_comment,
    is_header_comment,
    split_header,
)

_OLDEST_VERSION = 1  # a text that no template gives may be of any version
_MAX_PARSED_PARTS = 20  # digest lines and headings: each costs a pass over the document
_MAX_MARKED_CHOICES = 7
_PROVEN = "every line of it is as cub wrote it"
_SIMILAR = "every line stays; `cub update` then shows the edit"


LoadBodies = Callable[[], Sequence[ReleasedBody]]


@dataclass(frozen=True, slots=True)
class UnmarkedSection:
    """Describe half-open lines: what is left of cub's comments, and the body from `body_start` on.

    If it is not proven, cub's text may end anywhere, and `end` is where the comments end; `similar`
    is then the edited text below them, if there is one that is known by its words.
    """

    start: int
    body_start: int
    end: int
    version: int = _OLDEST_VERSION
    is_proven: bool = True
    similar: SimilarText | None = None

    @property
    def line_range(self) -> range:
        """Return all its lines."""
        return range(self.start, self.end)


class _Comments(NamedTuple):
    """Describe adjacent comments of cub's; `text` is the next line that is not blank."""

    start: int
    end: int
    text: int
    has_digest: bool


def find_unmarked_sections(document: Document, load_bodies: LoadBodies) -> list[UnmarkedSection]:
    """Return the sections without markers, in order; none in a document that has markers.

    Only the top level counts: in a fence, a quote, or a list, cub's text is the user's sample. The
    released bodies are loaded only if the document may have one.
    """
    if b"cub" not in document.data.lower() or find_markers(document):
        return []
    comments, bodies = _find_comments(document), load_bodies()
    headings = _find_openings(document, {body.lines[0] for body in bodies})
    sections = _find_exact_sections(document, comments, headings, bodies)
    if not any(part.is_proven for part in sections) and (
        text := find_similar_text(document, bodies)
    ):
        start = next((run.start for run in comments if run.text == text.start), text.start)
        sections = [other for other in sections if other.start != start]
        version = text.body.version
        sections.append(UnmarkedSection(start, text.start, text.start, version, False, text))
    return sorted(sections, key=lambda part: part.start)


def _find_exact_sections(
    document: Document,
    comments: Sequence[_Comments],
    headings: Sequence[int],
    bodies: Sequence[ReleasedBody],
) -> list[UnmarkedSection]:
    sections: list[UnmarkedSection] = []
    for run in [run for run in comments if run.has_digest][:_MAX_PARSED_PARTS]:
        if not _is_inside(run.start, sections):
            match = _match_body(document, run.text, bodies)
            version = match.version if match else _OLDEST_VERSION
            sections.append(replace(_follow_digest(document, run), version=version))
    for line in headings[:_MAX_PARSED_PARTS]:
        match = _match_body(document, line, bodies)
        if match and not _is_inside(line, sections):
            start = next((run.start for run in comments if run.text == line), line)
            sections = [other for other in sections if other.start != start]
            sections.append(replace(match, start=start))
    return sections


def _find_openings(document: Document, first_lines: Collection[bytes]) -> list[int]:
    candidates = {n for opening in first_lines for n in document.find_lines_with(opening)}
    lines = sorted(candidates)
    lines = [n for n in lines if normalize_line(document.get_line(n)) in first_lines]
    headings, piece, boundaries = set[int](), range(0), document.boundaries
    for line in lines:
        if line not in piece:
            start, end = boundaries.find_at_or_above(line), boundaries.find_at_or_below(line + 1)
            piece, blocks = range(start, end), boundaries.parse_blocks_between(start, end)
            headings |= {block.start for block in blocks if block.kind == "heading_open"}
    return [line for line in lines if line in headings]


def _find_comments(document: Document) -> list[_Comments]:
    named = (number for number, line in enumerate(document.lines) if b"cub" in line)
    lines = [number for number in named if is_header_comment(document.get_line(number))]
    runs: list[_Comments] = []
    count = len(document.lines)
    for number in sorted(filter_html_lines(document, lines)):
        after = range(number + 1, count)
        text = next((n for n in after if document.lines[n].strip()), count)
        fresh = _Comments(number, number + 1, text, is_digest_comment(document.get_line(number)))
        if runs and runs[-1].text == number:
            above = runs.pop()
            has_digest = above.has_digest or fresh.has_digest
            fresh = fresh._replace(start=above.start, has_digest=has_digest)
        runs.append(fresh)
    return runs


def _follow_digest(document: Document, comments: _Comments) -> UnmarkedSection:
    start = comments.start
    count = find_digest_end([document.get_line(n) for n in range(start, len(document.lines))])
    if count is None:
        return UnmarkedSection(start, comments.end, comments.end, is_proven=False)
    return UnmarkedSection(start, comments.text, start + count)


def _match_body(
    document: Document, line: int, bodies: Sequence[ReleasedBody]
) -> UnmarkedSection | None:
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


def list_unmarked_choices(
    document: Document, sections: Sequence[UnmarkedSection]
) -> list[RepairChoice]:
    """Offer to mark a section again, to drop what is proven cub's, or to keep only the text."""
    if not sections:
        return []
    proven = [part for part in sections if part.is_proven]
    marked = (_mark(document, part, sections) for part in proven[:_MAX_MARKED_CHOICES])
    choices = [choice for choice in marked if choice]
    choices += [_mark_similar(document, part, sections) for part in sections if part.similar]
    if proven:
        data = rebuild_document(document, _list_cub_lines(document, sections))
        choices.append(RepairChoice(f"drop {_describe_parts(proven)}", _PROVEN, data))
    comments = {line for part in sections for line in range(part.start, part.body_start)}
    data = rebuild_document(document, comments)
    reason = "cub's text becomes yours and stays where it is"
    return [*choices, RepairChoice("keep all text as yours", reason, data)]


def _mark(
    document: Document, part: UnmarkedSection, sections: Sequence[UnmarkedSection]
) -> RepairChoice | None:
    """Put header and END around `part`, and remove what else is proven."""
    others = [other for other in sections if other != part]
    end = _find_end(document, part)
    removed = {*range(part.start, part.body_start), *_list_cub_lines(document, others)}
    _, body = split_header([document.get_line(number) for number in part.line_range])
    header = _render_header(document, part.version, body)
    new_lines = {part.start: header, end: make_end_line(document, end)}
    data = rebuild_document(document, removed, new_lines)
    section = find_section_or_none(document.replace_data(data))
    if section is None or section.author != "cub":
        return None
    proven = [other for other in others if other.is_proven]
    title = f"restore both markers around lines {part.start + 1}-{part.end}"
    title += f", drop {_describe_parts(proven)}" if proven else ""
    return RepairChoice(title, _PROVEN, data)


def _mark_similar(
    document: Document, part: UnmarkedSection, sections: Sequence[UnmarkedSection]
) -> RepairChoice:
    """Put header and END around an edited text: the digest is that of the text as cub wrote it."""
    text = part.similar
    assert text is not None
    header = _render_header(document, part.version, [line + b"\n" for line in text.body.lines])
    new_lines = {part.start: header, text.end: make_end_line(document, text.end)}
    data = rebuild_document(document, _list_cub_lines(document, sections), new_lines)
    title = f"restore both markers around lines {part.start + 1}-{text.end}"
    return RepairChoice(title, _SIMILAR, data)


def _render_header(document: Document, version: int, body: Iterable[bytes]) -> bytes:
    lines = list_header_lines(version, b"".join(body))
    return b"".join(line.encode() + document.newline for line in lines)


def _list_cub_lines(document: Document, parts: Sequence[UnmarkedSection]) -> set[int]:
    return {line for part in parts for line in range(part.start, _find_end(document, part))}


def _find_end(document: Document, part: UnmarkedSection) -> int:
    is_blank = part.end < len(document.lines) and not document.lines[part.end].strip()
    return part.end + (is_blank and part.is_proven)


def _describe_parts(parts: Sequence[UnmarkedSection]) -> str:
    if len(parts) == 1:
        return f"lines {parts[0].start + 1}-{parts[0].end}"
    return f"the {len(parts)} copies" if len(parts) > 1 else ""
