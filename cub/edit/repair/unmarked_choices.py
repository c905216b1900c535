"""Ways to repair a document that has cub's text in it, and no marker."""

from __future__ import annotations

from collections.abc import Sequence

from cub.edit import markers
from cub.edit.document import Document, line_end
from cub.edit.repair.choice import Choice, rebuilt, section_in
from cub.edit.repair.unmarked import Unmarked
from cub.edit.sections import digest, split_header

_MOST = 7  # of them are offered to be marked again


def unmarked_choices(document: Document, found: Sequence[Unmarked]) -> list[Choice]:
    """Mark one of `found` again, drop what is proven to be cub's, or leave the text to the person.

    In each of them, the comments of cub's go from what is not proven, as its text stays.
    """
    if not found:
        return []
    proven = [part for part in found if part.proven]
    marked = (_mark(document, part, found) for part in proven[:_MOST])
    choices = [choice for choice in marked if choice]
    if proven:
        data = rebuilt(document, _lines_of(document, found))
        choices.append(Choice(f"drop {_name(proven)}", _PROVEN, data))
    comments = {line for part in found for line in range(part.start, part.body)}
    why = "cub's text becomes yours where it stands"
    return [*choices, Choice("keep all text as yours", why, rebuilt(document, comments))]


_PROVEN = "every line of it is as cub wrote it"


def _mark(document: Document, part: Unmarked, found: Sequence[Unmarked]) -> Choice | None:
    """Header and END around `part`, and what else is proven goes."""
    others = [other for other in found if other != part]
    end = _behind_blank(document, part)
    last, newline = document.lines[end - 1], document.newline
    blank = newline if last.strip() else b""
    closing = blank + markers.END.encode() + (newline if line_end(last) else b"")
    gone = {*range(part.start, part.body), *_lines_of(document, others)}
    added = {part.start: _header(document, part), end: closing}
    data = rebuilt(document, gone, added)
    section = section_in(document.with_data(data))
    if section is None or section.author != "cub":
        return None
    proven = [other for other in others if other.proven]
    title = f"put both markers back around lines {part.start + 1}-{part.end}"
    return Choice(title + (f", drop {_name(proven)}" if proven else ""), _PROVEN, data)


def _header(document: Document, part: Unmarked) -> bytes:
    """All lines above the body: what is left of them is written anew."""
    _, body = split_header([document.line(number) for number in part.lines])
    lines = (
        markers.BEGIN.format(version=part.version),
        *markers.NOTES,
        markers.DIGEST.format(digest=digest(b"".join(body))),
        "",
    )
    return b"".join(line.encode() + document.newline for line in lines)


def _lines_of(document: Document, parts: Sequence[Unmarked]) -> set[int]:
    """What of `parts` is cub's own, with the blank line below each."""
    return {line for part in parts for line in range(part.start, _behind_blank(document, part))}


def _behind_blank(document: Document, part: Unmarked) -> int:
    """Where `part` ends, with the blank line that stood in front of END."""
    is_blank = part.end < len(document.lines) and not document.lines[part.end].strip()
    return part.end + (is_blank and part.proven)


def _name(parts: Sequence[Unmarked]) -> str:
    if len(parts) == 1:
        return f"lines {parts[0].start + 1}-{parts[0].end}"
    return f"the {len(parts)} copies" if len(parts) > 1 else ""
