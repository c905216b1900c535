"""Ways out of a merge conflict that overlaps the section: the section once, and outside of it every
line that is not cub's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cub.edit import markers
from cub.edit.conflicts import Conflict, conflicts
from cub.edit.document import BOM, Document, line_end, split_lines
from cub.edit.edited import user_lines
from cub.edit.repair.choice import Choice, joined, section_in
from cub.edit.repair.merge import Merge, around, reunited
from cub.edit.repair.sides import Side, side
from cub.edit.sections import Section
from cub.edit.writing import render
from cub.errors import CubError

Recognize = Callable[[Section], str | None]


class _Kept(NamedTuple):
    """The section that stays: its text, its body, and the edited section that it still is."""

    text: bytes = b""
    body: str = ""
    edited: Section | None = None


def resolutions(
    document: Document, found: Sequence[Conflict], recognize: Recognize
) -> list[Choice]:
    """With the section, and where a side has none, also without.

    Raises CubError where the sides can't be told apart, or both have broken markers.
    """
    merge = _merge(document, found)
    kept = _kept(merge, recognize)
    choices = [_choice(merge, kept, recognize)] if kept.text else []
    if merge.bare:
        choices.append(_choice(merge, _Kept(), recognize))
    return choices


def _merge(document: Document, found: Sequence[Conflict]) -> Merge:
    for conflict in found:
        if conflict.middle is None:
            raise _by_hand(document, conflict, "nobody can tell its sides apart")
    ours, theirs = side(document, found, "ours"), side(document, found, "theirs")
    if ours.broken and theirs.broken:
        raise _by_hand(document, found[0], "the markers of both sides are broken themselves")
    base = side(document, found, "ancestor") if all(c.base is not None for c in found) else None
    return Merge(document, found, ours, theirs, None if base and base.broken else base)


def _kept(merge: Merge, recognize: Recognize) -> _Kept:
    """The newest section that is cub's own or whose original is known; else an edited one."""
    found = [(one, section) for one in (merge.ours, merge.theirs) for section in one.sections]
    known: list[tuple[int, bool, _Kept]] = []
    for one, section in found:
        if section.author == "cub":
            known.append((section.version, True, _Kept(_text(one, section), _body(section))))
        elif (body := recognize(section)) is not None:
            text = render(body, section.version, merge.document.newline)
            text += line_end(one.document.lines[section.end - 1])
            known.append((section.version, False, _Kept(text, body)))
    if known:
        return max(known, key=lambda one: one[:2])[2]
    return _Kept(_text(*found[0]), _body(found[0][1]), found[0][1]) if found else _Kept()


def _choice(merge: Merge, kept: _Kept, recognize: Recognize) -> Choice:
    above, below = around(merge)
    moved = _moved(merge, kept, recognize)
    blank = merge.document.newline
    if moved and kept.text:
        moved = [blank, *moved]
    if moved and below and below[0].strip():
        moved.append(blank)
    data = joined([*above, kept.text, *moved, *below], merge.document.newline)
    if any(one.document.data.startswith(BOM) for one in merge.sides) and not data.startswith(BOM):
        data = BOM + data
    result = merge.document.with_data(data)
    section = section_in(result)
    if (section is None) == bool(kept.text) or (not kept.text and markers.scan(result)):
        reason = "what is not cub's in it would change what the section is"
        raise _by_hand(merge.document, merge.conflicts[0], reason)
    others = len(conflicts(merge.document)) - len(merge.conflicts)
    words = _words(merge, kept, len(conflicts(result)) > others, bool(moved))
    return Choice(*words, data, bool(kept.text) and not kept.edited)


def _moved(merge: Merge, kept: _Kept, recognize: Recognize) -> list[bytes]:
    """The lines that persons wrote into sections which do not stay as they are.

    Git merges what it can without a conflict, so that a side may hold lines of both originals.
    """
    found = [section for one in (merge.ours, merge.theirs) for section in one.sections]
    originals = [kept.body, *filter(None, map(recognize, found))]

    def of(one: Side) -> list[bytes]:
        lines: list[bytes] = []
        for section in one.sections:
            if section.author != "cub" and section != kept.edited:
                theirs = section.body
                for original in originals:
                    theirs = split_lines(user_lines(original, theirs))
                lines += theirs
        return lines

    ours, theirs = of(merge.ours), of(merge.theirs)
    if not (ours and theirs):
        return ours or theirs
    return reunited(merge.document, merge.conflicts[0], {"ours": ours, "theirs": theirs})


def _words(merge: Merge, kept: _Kept, left: bool, moved: bool) -> tuple[str, str]:
    """Title and reason."""
    title = "keep one section" if kept.text else "leave the section out"
    title = "keep the section as it stands" if kept.edited else title
    if moved:
        which = "the other" if kept.edited else "it"
        title += f", the edits in {which} {'go below' if kept.text else 'stay'}"
    title += ", your own lines stay in conflict" if left else ""
    if kept.edited:
        return title, "no text of cub's is known that it was made from"
    if moved:
        return title, "every line that cub did not write is kept"
    if kept.text:
        return title, "what goes is cub's own"
    return title, "one side has no section" if len(merge.bare) == 1 else "no side has a section"


def _by_hand(document: Document, conflict: Conflict, why: str) -> CubError:
    return CubError(
        f"this conflict has to be resolved by hand: {why}",
        where=document.at(conflict.start),
        hint=f"it ends in line {conflict.end}: keep either side of the section whole",
        details=markers.places(markers.scan(document), document),
    )


def _text(one: Side, section: Section) -> bytes:
    return b"".join(one.document.line(n) for n in range(section.start, section.end))


def _body(section: Section) -> str:
    return b"".join(section.body).decode("utf-8", "replace")
