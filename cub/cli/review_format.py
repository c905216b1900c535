"""Format a review, or a plan, as lines for a terminal or as a comment on a pull request.

Nothing in a comment is taken for Markdown, and it is never longer than a host accepts: what matters
most comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from cub.actions.review.section_verdict import VERDICT_MEANINGS
from cub.cli.terminal import escape_invisible

if TYPE_CHECKING:
    from cub.actions.review.review import FileReview, Review
    from cub.actions.review.section_verdict import SectionReview
    from cub.edit.plan import Plan


_ROOM = 60_000  # characters; GitHub refuses comments over 65,536
_ROWS = 100
_LONGEST = 300  # lines of one diff
_WIDEST = 400  # characters of one line

CommentBlock = Sequence[str]


def format_review_comment(review: Review) -> Iterator[str]:
    """Yield a table of all files, then what needs a look, then the rest, folded."""
    return _fitted(_of_review(review))


def format_plan_comment(plan: Plan) -> Iterator[str]:
    """Yield what an update would change."""
    if not plan.shared_edits:
        return iter(["cub: everything is up to date."])
    return _fitted(_of_plan(plan))


def _fitted(blocks: Iterable[CommentBlock]) -> Iterator[str]:
    """Yield the blocks that fit, and how many did not."""
    room, left = _ROOM, 0
    for block in blocks:
        size = sum(len(line) + 1 for line in block)
        if size > room:
            left += 1
            continue
        room -= size
        yield from block
    if left:
        yield from ("", f"{left:,} more did not fit into this comment: `cub diff` shows them.")


def _of_review(review: Review) -> Iterator[CommentBlock]:
    yield "### cub: instruction files of agents", "", summarize_review(review, name=_code)
    if review.files:
        yield _table(review.files)
    if review.executable_changes:
        yield "", "#### ⚠️ What executes has changed"
    for change in review.executable_changes:
        yield "", f"{change.kind}: {_code(change.path)}", "", *_fenced(change.diff)
    for file in review.files:
        if file.section and file.section.needs_attention:
            hand = ("", *_fenced(file.section.hand)) if file.section.hand else ()
            yield (
                "",
                f"#### ⚠️ {_code(file.path)}",
                "",
                VERDICT_MEANINGS[file.section.verdict],
                *hand,
            )
    for file in review.files:
        yield _folded("cub's part of", file.path, file.section.diff if file.section else ())
        yield _folded("Other text of", file.path, file.own_diff)


def _of_plan(plan: Plan) -> Iterator[CommentBlock]:
    yield ("### cub: `cub update` would change these files",)
    for edit in plan.shared_edits:
        notes = (f"  - {note}" for note in edit.changelog)
        yield "", f"- {edit.kind} {_code(edit.path)}: {edit.reason}", *notes
        yield _folded("Diff of", edit.path, tuple(edit.format_diff()))


def _table(files: Sequence[FileReview]) -> CommentBlock:
    """Return a row for each file; of very many, the edited ones first."""
    shown = files
    if len(files) > _ROWS:
        first = sorted(files, key=lambda file: not (file.section and file.section.needs_attention))
        shown = first[:_ROWS]
    more = ("", f"… and {len(files) - _ROWS:,} more files") if len(files) > _ROWS else ()
    return "", "| File | cub's part | Other text |", "|---|---|---|", *map(_row, shown), *more


def _row(file: FileReview) -> str:
    section = file.section
    cub = (
        f"{format_versions(section)}, {VERDICT_MEANINGS[section.verdict].split(':')[0]}"
        if section
        else "—"
    )
    mark = "⚠️ " if section and section.needs_attention else ""
    theirs = (
        ", ".join([*([format_line_counts(file.own_diff)] if file.own_diff else []), *file.mode])
        or "—"
    )
    # A table is cut into cells before code spans are found (GitHub Flavored Markdown 4.10).
    path = _code(file.path).replace("|", "\\|")
    return f"| {path} | {mark}{cub} | {theirs} |"


def _code(words: str) -> str:
    """Return a code span that holds any name, cut to a length (CommonMark 6.1)."""
    shown = _cut(escape_invisible(words))
    ticks = "`" * (1 + _longest_run(shown))
    pad = " " if "`" in shown or shown != shown.strip() else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _fenced(diff: Sequence[str]) -> Iterator[str]:
    """Yield a diff in a fence longer than any run of backticks inside (CommonMark 4.5)."""
    lines = [_cut(escape_invisible(line)) for line in diff[:_LONGEST]]
    if len(diff) > _LONGEST:
        lines.append(f"… and {len(diff) - _LONGEST:,} more lines")
    fence = "`" * max(3, 1 + max(map(_longest_run, lines), default=0))
    yield from (f"{fence}diff", *lines, fence)


def _folded(title: str, path: str, diff: Sequence[str]) -> CommentBlock:
    if not diff:
        return ()
    name = escape(_cut(escape_invisible(path)), quote=False)
    summary = f"<details><summary>{title} <code>{name}</code></summary>"
    return "", summary, "", *_fenced(diff), "", "</details>"


def _cut(line: str) -> str:
    more = len(line) - _WIDEST
    return line if more <= 0 else f"{line[:_WIDEST]}… and {more:,} more characters"


def _longest_run(line: str) -> int:
    return max(map(len, re.findall("`+", line)), default=0)


def format_review(review: Review) -> Iterator[str]:
    """Yield lines for a terminal; those of a diff begin with its marks."""
    if review.executable_changes:
        yield "What executes has changed:"
    for change in review.executable_changes:
        yield f"! {change.kind}: {change.path}"
        yield from change.diff
    if review.executable_changes and review.files:
        yield ""
    for number, file in enumerate(review.files):
        yield from ([""] if number else [])
        yield f"{file.path} ({file.kind})"
        yield from file.mode
        if file.section:
            yield from _section_text(file.section)
        if file.own_diff:
            yield f"other text: {format_line_counts(file.own_diff)}"
            yield from file.own_diff
        if not (file.section or file.own_diff or file.mode):
            yield _NOTHING[file.kind]


# What is left when neither a part of cub's nor the text around it has changed.
_NOTHING = {
    "create": "an empty file",
    "update": "only formatting, or the place of the section, has changed",
    "delete": "it was empty",
}


def summarize_review(review: Review, name: Callable[[str], str] = str) -> str:
    """Return the result in one sentence; `name` formats the name of a commit."""
    if not review.files and not review.executable_changes:
        names = f"{name(review.commit_range.base_name)} and {name(review.commit_range.head_name)}"
        return f"No file that cub manages differs between {names}."
    sections = [file.section for file in review.files if file.section]
    touched = sum(section.needs_attention for section in sections)
    parts = [
        _count(len(sections), "part of cub's changed", "parts of cub's changed"),
        f"{touched} touched by hand" if touched else "none touched by hand",
        _count(sum(bool(f.own_diff) for f in review.files), "file", "files") + " changed by people",
        _count(len(review.executable_changes), "change", "changes") + " to what executes",
    ]
    return ", ".join(parts) + "."


def format_versions(section: SectionReview) -> str:
    """Return the version of a section, and the one before if it differs."""
    before, after = (None if v is None else f"v{v}" for v in (section.before, section.after))
    if before and after and before != after:
        return f"{before} → {after}"
    return after or before or "no version"


def format_line_counts(diff: Sequence[str]) -> str:
    """Return how many lines a diff adds and removes."""
    added, removed = (sum(line[:1] == mark for line in diff[2:]) for mark in "+-")
    return f"+{added} -{removed}"


def _section_text(section: SectionReview) -> Iterator[str]:
    yield f"{_part(section)}, {format_versions(section)}: {VERDICT_MEANINGS[section.verdict]}"
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
