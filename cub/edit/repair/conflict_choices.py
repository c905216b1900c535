"""Offer ways out of a merge conflict that overlaps the section.

Each result has the section once or not at all, and outside of it every line that is not cub's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cub.edit.document import BOM, Document, get_line_end, split_lines
from cub.edit.markers import MergeConflict, describe_markers, find_conflicts, find_markers
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
from cub.edit.user_lines import extract_user_lines
from cub.errors import CubError

RecognizeBody = Callable[[Section], str | None]


class _ChosenSection(NamedTuple):
    text: bytes = b""
    body: str = ""
    edited_section: Section | None = None


def list_conflict_choices(
    document: Document, conflicts: Sequence[MergeConflict], recognize: RecognizeBody
) -> list[RepairChoice]:
    """Return a choice with the section, and one without it if a side has none.

    Raises CubError if the sides can't be told apart, or both have broken markers.
    """
    merge = _build_merge(document, conflicts)
    chosen = _choose_section(merge, recognize)
    choices = [_make_choice(merge, chosen, recognize)] if chosen.text else []
    if merge.sides_without_section:
        choices.append(_make_choice(merge, _ChosenSection(), recognize))
    return choices


def _build_merge(document: Document, conflicts: Sequence[MergeConflict]) -> SectionMerge:
    for conflict in conflicts:
        if conflict.middle is None:
            raise _make_manual_error(document, conflict, "cub cannot distinguish its sides")
    ours = build_side(document, conflicts, "ours")
    theirs = build_side(document, conflicts, "theirs")
    if ours.has_broken_markers and theirs.has_broken_markers:
        reason = "the markers of both sides are broken themselves"
        raise _make_manual_error(document, conflicts[0], reason)
    has_base = all(conflict.base is not None for conflict in conflicts)
    base = build_side(document, conflicts, "ancestor") if has_base else None
    base = None if base and base.has_broken_markers else base
    return SectionMerge(document, conflicts, ours, theirs, base)


def _choose_section(merge: SectionMerge, recognize: RecognizeBody) -> _ChosenSection:
    """Choose the newest section that is cub's own or has a known original; else an edited one."""
    sections = [(side, section) for side in (merge.ours, merge.theirs) for section in side.sections]
    candidates: list[tuple[int, bool, _ChosenSection]] = []
    for side, section in sections:
        if section.author == "cub":
            chosen = _ChosenSection(_get_text(side, section), _decode_body(section))
            candidates.append((section.version, True, chosen))
        elif (body := recognize(section)) is not None:
            text = render_section(body, section.version, merge.document.newline)
            text += get_line_end(side.document.lines[section.end - 1])
            candidates.append((section.version, False, _ChosenSection(text, body)))
    if candidates:
        return max(candidates, key=lambda candidate: candidate[:2])[2]
    if not sections:
        return _ChosenSection()
    return _ChosenSection(_get_text(*sections[0]), _decode_body(sections[0][1]), sections[0][1])


def _make_choice(
    merge: SectionMerge, chosen: _ChosenSection, recognize: RecognizeBody
) -> RepairChoice:
    above, below = merge_around_section(merge)
    moved = _list_moved_lines(merge, chosen, recognize)
    blank = merge.document.newline
    if moved and chosen.text:
        moved = [blank, *moved]
    if moved and below and below[0].strip():
        moved.append(blank)
    data = join_lines([*above, chosen.text, *moved, *below], merge.document.newline)
    if any(side.document.data.startswith(BOM) for side in merge.sides) and not data.startswith(BOM):
        data = BOM + data
    result = merge.document.replace_data(data)
    section = find_section_or_none(result)
    if (section is None) == bool(chosen.text) or (not chosen.text and find_markers(result)):
        reason = "what is not cub's in it would change what the section is"
        raise _make_manual_error(merge.document, merge.conflicts[0], reason)
    others = len(find_conflicts(merge.document)) - len(merge.conflicts)
    has_conflicts = len(find_conflicts(result)) > others
    title = _make_title(chosen, has_conflicts, bool(moved))
    reason = _explain(merge, chosen, bool(moved))
    return RepairChoice(title, reason, data, bool(chosen.text) and not chosen.edited_section)


def _list_moved_lines(
    merge: SectionMerge, chosen: _ChosenSection, recognize: RecognizeBody
) -> list[bytes]:
    """Return the users' lines in sections that do not stay as they are.

    Git merges what it can without a conflict, so a side may have lines of both originals.
    """
    sections = [section for side in (merge.ours, merge.theirs) for section in side.sections]
    originals = [chosen.body, *filter(None, map(recognize, sections))]

    def list_user_lines(side: MergeSide) -> list[bytes]:
        lines: list[bytes] = []
        for section in side.sections:
            if section.author != "cub" and section != chosen.edited_section:
                rest = section.body
                for original in originals:
                    rest = split_lines(extract_user_lines(original, rest))
                lines += rest
        return lines

    ours, theirs = list_user_lines(merge.ours), list_user_lines(merge.theirs)
    if not (ours and theirs):
        return ours or theirs
    return merge_lines(merge.document, merge.conflicts[0], {"ours": ours, "theirs": theirs})


def _make_title(chosen: _ChosenSection, has_conflicts: bool, has_moved_lines: bool) -> str:
    title = "keep one section" if chosen.text else "leave the section out"
    title = "keep the section unchanged" if chosen.edited_section else title
    if has_moved_lines:
        which = "the other" if chosen.edited_section else "it"
        title += f", the edits in {which} {'go below' if chosen.text else 'stay'}"
    return title + (", your own lines stay in conflict" if has_conflicts else "")


def _explain(merge: SectionMerge, chosen: _ChosenSection, has_moved_lines: bool) -> str:
    if chosen.edited_section:
        return "cub does not know the text that it was made from"
    if has_moved_lines:
        return "every line that cub did not write is kept"
    if chosen.text:
        return "what goes is cub's own"
    is_single = len(merge.sides_without_section) == 1
    return "one side has no section" if is_single else "no side has a section"


def _make_manual_error(document: Document, conflict: MergeConflict, why: str) -> CubError:
    return CubError(
        f"this conflict must be resolved manually: {why}",
        where=document.format_location(conflict.start),
        hint=f"it ends in line {conflict.end}: keep either side of the section whole",
        details=describe_markers(find_markers(document), document),
    )


def _get_text(side: MergeSide, section: Section) -> bytes:
    return b"".join(side.document.get_line(n) for n in range(section.start, section.end))


def _decode_body(section: Section) -> str:
    return b"".join(section.body).decode("utf-8", "replace")
