"""A review as lines for a terminal; cub.cli.comment has it for a pull request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from cub.actions.review.verdict import MEANING

if TYPE_CHECKING:
    from cub.actions.review.review import Review
    from cub.actions.review.verdict import SectionReview


def text(review: Review) -> Iterator[str]:
    """Lines for a terminal; those of a diff begin with its marks."""
    if review.executed:
        yield "What executes has changed:"
    for change in review.executed:
        yield f"! {change.kind}: {change.path}"
        yield from change.diff
    if review.executed and review.files:
        yield ""
    for number, file in enumerate(review.files):
        yield from ([""] if number else [])
        yield f"{file.path} ({file.kind})"
        yield from file.mode
        if file.section:
            yield from _section_text(file.section)
        if file.own:
            yield f"other text: {counts(file.own)}"
            yield from file.own
        if not (file.section or file.own or file.mode):
            yield _NOTHING[file.kind]


# What is left when neither a part of cub's nor the text around it has changed.
_NOTHING = {
    "create": "an empty file",
    "update": "only formatting, or the place of the section, has changed",
    "delete": "it was empty",
}


def closing(review: Review, name: Callable[[str], str] = str) -> str:
    """How it ends, in one sentence; `name` shows the name of a commit."""
    if not review.files and not review.executed:
        names = f"{name(review.range.base_name)} and {name(review.range.head_name)}"
        return f"No file that cub manages differs between {names}."
    sections = [file.section for file in review.files if file.section]
    touched = sum(section.touched for section in sections)
    parts = [
        _count(len(sections), "part of cub's changed", "parts of cub's changed"),
        f"{touched} touched by hand" if touched else "none touched by hand",
        _count(sum(bool(f.own) for f in review.files), "file", "files") + " changed by people",
        _count(len(review.executed), "change", "changes") + " to what executes",
    ]
    return ", ".join(parts) + "."


def versions(section: SectionReview) -> str:
    """The version of a section, and the one before where it differs."""
    before, after = (None if v is None else f"v{v}" for v in (section.before, section.after))
    if before and after and before != after:
        return f"{before} → {after}"
    return after or before or "no version"


def counts(diff: Sequence[str]) -> str:
    """How many lines a diff adds and removes."""
    added, removed = (sum(line[:1] == mark for line in diff[2:]) for mark in "+-")
    return f"+{added} -{removed}"


def _section_text(section: SectionReview) -> Iterator[str]:
    yield f"{_part(section)}, {versions(section)}: {MEANING[section.verdict]}"
    yield from (f"  {note}" for note in section.notes)
    if not section.whole or section.verdict not in ("verified", "removed"):
        yield from section.diff
    if section.hand and section.hand[2:] != section.diff[2:]:
        yield "what is wrong:" if section.verdict == "broken" else "the hand's lines:"
        yield from section.hand


def _part(section: SectionReview) -> str:
    if section.whole:
        return "a file of cub's own"
    return "managed section" + (f" in line {section.line}" if section.line else "")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
