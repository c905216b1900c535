"""Ways out of a merge conflict that overlaps the section: the section once, and outside of it every
line that is not cub's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cub.edit import markers
from cub.edit.document import BOM, Document, get_line_end, split_lines
from cub.edit.line_matching import extract_user_lines
from cub.edit.merge_conflicts import MergeConflict, find_conflicts
from cub.edit.repair.merge_sides import (
    MergeSide,
    SectionMerge,
    build_side,
    merge_around_section,
    merge_lines,
)
from cub.edit.repair.repair_choice import RepairChoice, join_lines
from cub.edit.section_writer import render_section
from cub.edit.sections import Section, find_section_or_none
from cub.errors import CubError

RecognizeBody = Callable[[Section], str | None]


class _RemainingSection(NamedTuple):
    """The section that stays: its text, its body, and the edited section that it still is."""

    text: bytes = b""
    body: str = ""
    edited_section: Section | None = None


def list_conflict_choices(
    document: Document, conflicts: Sequence[MergeConflict], recognize: RecognizeBody
) -> list[RepairChoice]:
    """With the section, and where a side has none, also without.

    Raises CubError where the sides can't be told apart, or both have broken markers.
    """
    merge = _merge(document, conflicts)
    kept = _kept(merge, recognize)
    choices = [_choice(merge, kept, recognize)] if kept.text else []
    if merge.sides_without_section:
        choices.append(_choice(merge, _RemainingSection(), recognize))
    return choices


def _merge(document: Document, found: Sequence[MergeConflict]) -> SectionMerge:
    for conflict in found:
        if conflict.middle is None:
            raise _by_hand(document, conflict, "nobody can tell its sides apart")
    ours, theirs = build_side(document, found, "ours"), build_side(document, found, "theirs")
    if ours.has_broken_markers and theirs.has_broken_markers:
        raise _by_hand(document, found[0], "the markers of both sides are broken themselves")
    base = (
        build_side(document, found, "ancestor") if all(c.base is not None for c in found) else None
    )
    return SectionMerge(
        document, found, ours, theirs, None if base and base.has_broken_markers else base
    )


def _kept(merge: SectionMerge, recognize: RecognizeBody) -> _RemainingSection:
    """The newest section that is cub's own or whose original is known; else an edited one."""
    found = [(one, section) for one in (merge.ours, merge.theirs) for section in one.sections]
    known: list[tuple[int, bool, _RemainingSection]] = []
    for one, section in found:
        if section.author == "cub":
            known.append(
                (section.version, True, _RemainingSection(_text(one, section), _body(section)))
            )
        elif (body := recognize(section)) is not None:
            text = render_section(body, section.version, merge.document.newline)
            text += get_line_end(one.document.lines[section.end - 1])
            known.append((section.version, False, _RemainingSection(text, body)))
    if known:
        return max(known, key=lambda one: one[:2])[2]
    return (
        _RemainingSection(_text(*found[0]), _body(found[0][1]), found[0][1])
        if found
        else _RemainingSection()
    )


def _choice(merge: SectionMerge, kept: _RemainingSection, recognize: RecognizeBody) -> RepairChoice:
    above, below = merge_around_section(merge)
    moved = _moved(merge, kept, recognize)
    blank = merge.document.newline
    if moved and kept.text:
        moved = [blank, *moved]
    if moved and below and below[0].strip():
        moved.append(blank)
    data = join_lines([*above, kept.text, *moved, *below], merge.document.newline)
    if any(one.document.data.startswith(BOM) for one in merge.sides) and not data.startswith(BOM):
        data = BOM + data
    result = merge.document.replace_data(data)
    section = find_section_or_none(result)
    if (section is None) == bool(kept.text) or (not kept.text and markers.find_markers(result)):
        reason = "what is not cub's in it would change what the section is"
        raise _by_hand(merge.document, merge.conflicts[0], reason)
    others = len(find_conflicts(merge.document)) - len(merge.conflicts)
    words = _words(merge, kept, len(find_conflicts(result)) > others, bool(moved))
    return RepairChoice(*words, data, bool(kept.text) and not kept.edited_section)


def _moved(merge: SectionMerge, kept: _RemainingSection, recognize: RecognizeBody) -> list[bytes]:
    """The lines that persons wrote into sections which do not stay as they are.

    Git merges what it can without a conflict, so that a side may hold lines of both originals.
    """
    found = [section for one in (merge.ours, merge.theirs) for section in one.sections]
    originals = [kept.body, *filter(None, map(recognize, found))]

    def of(one: MergeSide) -> list[bytes]:
        lines: list[bytes] = []
        for section in one.sections:
            if section.author != "cub" and section != kept.edited_section:
                theirs = section.body
                for original in originals:
                    theirs = split_lines(extract_user_lines(original, theirs))
                lines += theirs
        return lines

    ours, theirs = of(merge.ours), of(merge.theirs)
    if not (ours and theirs):
        return ours or theirs
    return merge_lines(merge.document, merge.conflicts[0], {"ours": ours, "theirs": theirs})


def _words(
    merge: SectionMerge, kept: _RemainingSection, left: bool, moved: bool
) -> tuple[str, str]:
    """Title and reason."""
    title = "keep one section" if kept.text else "leave the section out"
    title = "keep the section as it stands" if kept.edited_section else title
    if moved:
        which = "the other" if kept.edited_section else "it"
        title += f", the edits in {which} {'go below' if kept.text else 'stay'}"
    title += ", your own lines stay in conflict" if left else ""
    if kept.edited_section:
        return title, "no text of cub's is known that it was made from"
    if moved:
        return title, "every line that cub did not write is kept"
    if kept.text:
        return title, "what goes is cub's own"
    return title, "one side has no section" if len(
        merge.sides_without_section
    ) == 1 else "no side has a section"


def _by_hand(document: Document, conflict: MergeConflict, why: str) -> CubError:
    return CubError(
        f"this conflict has to be resolved by hand: {why}",
        where=document.format_location(conflict.start),
        hint=f"it ends in line {conflict.end}: keep either side of the section whole",
        details=markers.describe_markers(markers.find_markers(document), document),
    )


def _text(one: MergeSide, section: Section) -> bytes:
    return b"".join(one.document.get_line(n) for n in range(section.start, section.end))


def _body(section: Section) -> str:
    return b"".join(section.body).decode("utf-8", "replace")
