"""A review as lines: for a terminal, and as Markdown for a comment on a pull request.

What comes from a commit is somebody else's text: it is shown so that nothing in it stays unseen,
and so that none of it can end a fence, a table or the colors of a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cub.actions.verdict import MEANING

if TYPE_CHECKING:
    from cub.actions.review import FileReview, Review
    from cub.actions.verdict import SectionReview
    from cub.edit.plan import Plan

_LONGEST = 300  # lines of one diff in a comment; hosts refuse comments over 65,536 characters


def text(review: Review) -> Iterator[str]:
    """Lines for a terminal; those of a diff begin with its marks."""
    if review.executed:
        yield "What executes has changed:"
    for change in review.executed:
        yield f"! {change.kind}: {visible(change.path)}"
        yield from map(visible, change.diff)
    if review.executed and review.files:
        yield ""
    for number, file in enumerate(review.files):
        yield from ([""] if number else [])
        yield f"{visible(file.path)} ({file.kind})"
        if file.section:
            yield from _section_text(file.section)
        if file.own:
            yield f"other text: {_counts(file.own)}"
            yield from map(visible, file.own)


def closing(review: Review) -> str:
    """How it ends, in one sentence."""
    names = f"{review.range.base_name} and {review.range.head_name}"
    if not review.files and not review.executed:
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


def markdown(review: Review) -> Iterator[str]:
    """A comment: a table of all files, then what needs a look, then everything folded."""
    yield "### cub: instruction files of agents"
    yield ""
    yield closing(review)
    if review.files:
        yield from ("", "| File | cub's part | Other text |", "|---|---|---|")
        yield from map(_row, review.files)
    if review.executed:
        yield from ("", "#### ⚠️ What executes has changed")
        for change in review.executed:
            yield from ("", f"{change.kind}: {_code(change.path)}", "", *_fenced(change.diff))
    for file in review.files:
        if file.section and file.section.touched:
            yield from ("", f"#### ⚠️ {_code(file.path)}", "", MEANING[file.section.verdict])
            yield from ("", *_fenced(file.section.hand)) if file.section.hand else ()
    for file in review.files:
        yield from _folded(f"cub's part of {file.path}", file.section.diff if file.section else ())
        yield from _folded(f"Other text of {file.path}", file.own)


def plan_markdown(plan: Plan) -> Iterator[str]:
    """What an update would change, as a comment."""
    if not plan.shared:
        yield "cub: everything is up to date."
        return
    yield "### cub: `cub update` would change these files"
    for edit in plan.shared:
        yield from ("", f"- {edit.kind} {_code(edit.path)}: {edit.reason}")
        yield from (f"  - {note}" for note in edit.notes)
        yield from _folded(f"Diff of {edit.path}", tuple(edit.diff()))


def visible(line: str) -> str:
    """A line with everything that a reader can't see written out: controls, bidi marks, tags."""
    return "".join(c if c.isprintable() or c == "\t" else _escaped(c) for c in line)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _section_text(section: SectionReview) -> Iterator[str]:
    yield f"{_part(section)}, {_versions(section)}: {MEANING[section.verdict]}"
    yield from (f"  {note}" for note in section.notes)
    if not section.whole or section.touched:
        yield from map(visible, section.diff)
    if section.hand and section.hand[2:] != section.diff[2:]:
        yield "the hand's lines:"
        yield from map(visible, section.hand)


def _part(section: SectionReview) -> str:
    if section.whole:
        return "a file of cub's own"
    return "managed section" + (f" in line {section.line}" if section.line else "")


def _versions(section: SectionReview) -> str:
    before, after = (None if v is None else f"v{v}" for v in (section.before, section.after))
    if before and after and before != after:
        return f"{before} → {after}"
    return after or before or "no version"


def _row(file: FileReview) -> str:
    section = file.section
    cub = f"{_versions(section)}, {MEANING[section.verdict].split(':')[0]}" if section else "—"
    mark = "⚠️ " if section and section.touched else ""
    return f"| {_code(file.path)} | {mark}{cub} | {_counts(file.own) if file.own else '—'} |"


def _counts(diff: Sequence[str]) -> str:
    added, removed = (sum(line[:1] == mark for line in diff[2:]) for mark in "+-")
    return f"+{added} -{removed}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _code(words: str) -> str:
    """A code span that holds any path, in a table too (GitHub Flavored Markdown 4.10)."""
    shown = visible(words).replace("|", "\\|")
    ticks = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    pad = " " if "`" in shown else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _fenced(diff: Sequence[str]) -> Iterator[str]:
    """A fence that is longer than any run of backticks inside (CommonMark 4.5)."""
    lines = [visible(line) for line in diff[:_LONGEST]]
    if len(diff) > _LONGEST:
        lines.append(f"… and {len(diff) - _LONGEST:,} more lines")
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}diff", *lines, fence)


def _folded(title: str, diff: Sequence[str]) -> Iterator[str]:
    if diff:
        shown = visible(title).replace("&", "&amp;").replace("<", "&lt;")
        yield from (
            "",
            f"<details><summary>{shown}</summary>",
            "",
            *_fenced(diff),
            "",
            "</details>",
        )
