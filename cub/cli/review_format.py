"""Format a review, or a plan, as lines for a terminal or as a comment on a pull request.

Nothing in a comment is taken for Markdown, and it is never longer than a host accepts: what matters
most comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from cub.actions.review.review import FileReview, Review
from cub.actions.review.section_verdict import VERDICT_MEANINGS, SectionReview
from cub.cli.terminal import escape_invisible
from cub.edit.plan import Plan

_MAX_COMMENT_CHARS = 60_000  # characters; GitHub refuses comments over 65,536
_MAX_ROWS = 100
_MAX_DIFF_LINES = 300  # lines of one diff
_MAX_LINE_CHARS = 400  # characters of one line

CommentBlock = Sequence[str]


def format_review_comment(review: Review) -> Iterator[str]:
    """Yield a table of all files, then what needs a look, then the rest, folded."""
    return _limit_blocks(_make_review_blocks(review))


def format_plan_comment(plan: Plan) -> Iterator[str]:
    """Yield what an update would change."""
    if not plan.shared_edits:
        return iter(["cub: already up to date."])
    return _limit_blocks(_make_plan_blocks(plan))


def _limit_blocks(blocks: Iterable[CommentBlock]) -> Iterator[str]:
    """Yield the blocks that fit, and how many did not."""
    remaining, omitted = _MAX_COMMENT_CHARS, 0
    for block in blocks:
        size = sum(len(line) + 1 for line in block)
        if size > remaining:
            omitted += 1
            continue
        remaining -= size
        yield from block
    if omitted:
        yield from (
            "",
            f"{omitted:,} more did not fit in this comment; run `cub diff` to see them.",
        )


def _make_review_blocks(review: Review) -> Iterator[CommentBlock]:
    yield "### cub: instruction files of agents", "", summarize_review(review, name=_format_code)
    if review.files:
        yield _make_table(review.files)
    if review.executable_changes:
        yield "", "#### ⚠️ Executable configuration changed"
    for change in review.executable_changes:
        yield "", f"{change.kind}: {_format_code(change.path)}", "", *_format_fence(change.diff)
    for file in review.files:
        if file.section and file.section.needs_attention:
            hand = ("", *_format_fence(file.section.hand)) if file.section.hand else ()
            meaning = VERDICT_MEANINGS[file.section.verdict]
            yield "", f"#### ⚠️ {_format_code(file.path)}", "", meaning, *hand
    for file in review.files:
        yield _fold_diff("cub's part of", file.path, file.section.diff if file.section else ())
        yield _fold_diff("Other text of", file.path, file.own_diff)


def _make_plan_blocks(plan: Plan) -> Iterator[CommentBlock]:
    yield ("### cub: `cub update` would change these files",)
    for edit in plan.shared_edits:
        notes = (f"  - {note}" for note in edit.changelog)
        yield "", f"- {edit.kind} {_format_code(edit.path)}: {edit.reason}", *notes
        yield _fold_diff("Diff of", edit.path, tuple(edit.format_diff()))


def _make_table(files: Sequence[FileReview]) -> CommentBlock:
    """Return a row for each file; of very many, the edited ones first."""
    rows = sorted(files, key=lambda file: not (file.section and file.section.needs_attention))
    rows = rows[:_MAX_ROWS] if len(files) > _MAX_ROWS else list(files)
    more = ("", f"… and {len(files) - _MAX_ROWS:,} more files") if len(files) > _MAX_ROWS else ()
    return "", "| File | cub's part | Other text |", "|---|---|---|", *map(_make_row, rows), *more


def _make_row(file: FileReview) -> str:
    section, cub, mark = file.section, "—", ""
    if section:
        cub = f"{format_versions(section)}, {VERDICT_MEANINGS[section.verdict].split(':')[0]}"
        mark = "⚠️ " if section.needs_attention else ""
    counts = [format_line_counts(file.own_diff)] if file.own_diff else []
    own_text = ", ".join([*counts, *file.mode]) or "—"
    # A table is cut into cells before code spans are found (GitHub Flavored Markdown 4.10).
    path = _format_code(file.path).replace("|", "\\|")
    return f"| {path} | {mark}{cub} | {own_text} |"


def _format_code(name: str) -> str:
    """Return a code span that holds any name, cut to a length (CommonMark 6.1)."""
    text = _truncate_line(escape_invisible(name))
    ticks = "`" * (1 + _count_ticks(text))
    pad = " " if "`" in text or text != text.strip() else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _format_fence(diff: Sequence[str]) -> Iterator[str]:
    """Yield a diff in a fence longer than any run of backticks inside (CommonMark 4.5)."""
    lines = [_truncate_line(escape_invisible(line)) for line in diff[:_MAX_DIFF_LINES]]
    if len(diff) > _MAX_DIFF_LINES:
        lines.append(f"… and {len(diff) - _MAX_DIFF_LINES:,} more lines")
    fence = "`" * max(3, 1 + max(map(_count_ticks, lines), default=0))
    yield from (f"{fence}diff", *lines, fence)


def _fold_diff(title: str, path: str, diff: Sequence[str]) -> CommentBlock:
    if not diff:
        return ()
    name = escape(_truncate_line(escape_invisible(path)), quote=False)
    summary = f"<details><summary>{title} <code>{name}</code></summary>"
    return "", summary, "", *_format_fence(diff), "", "</details>"


def _truncate_line(line: str) -> str:
    more = len(line) - _MAX_LINE_CHARS
    return line if more <= 0 else f"{line[:_MAX_LINE_CHARS]}… and {more:,} more characters"


def _count_ticks(line: str) -> int:
    return max(map(len, re.findall("`+", line)), default=0)


def format_review(review: Review) -> Iterator[str]:
    """Yield lines for a terminal; those of a diff begin with its marks."""
    if review.executable_changes:
        yield "Executable configuration changed:"
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
            yield from _format_section(file.section)
        if file.own_diff:
            yield f"other text: {format_line_counts(file.own_diff)}"
            yield from file.own_diff
        if not (file.section or file.own_diff or file.mode):
            yield _NO_DIFFERENCE[file.kind]


# What is left when neither a part of cub's nor the text around it has changed.
_NO_DIFFERENCE = {
    "create": "an empty file",
    "update": "only the formatting or the position of the section changed",
    "delete": "it was empty",
}


def summarize_review(review: Review, name: Callable[[str], str] = str) -> str:
    """Return the result in one sentence; `name` formats the name of a commit."""
    if not review.files and not review.executable_changes:
        names = f"{name(review.commit_range.base_name)} and {name(review.commit_range.head_name)}"
        return f"No file that cub manages differs between {names}."
    sections = [file.section for file in review.files if file.section]
    edited = sum(section.needs_attention for section in sections)
    changed_files = sum(bool(file.own_diff) for file in review.files)
    parts = [
        f"cub's sections: {len(sections)} changed, {edited} edited manually.",
        f"Your files: {changed_files} changed.",
        f"Executable configuration: {len(review.executable_changes)} changed.",
    ]
    return " ".join(parts)


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


def _format_section(section: SectionReview) -> Iterator[str]:
    versions, meaning = format_versions(section), VERDICT_MEANINGS[section.verdict]
    yield f"{_describe_part(section)}, {versions}: {meaning}"
    yield from (f"  {note}" for note in section.notes)
    if not section.whole or section.verdict not in ("verified", "removed"):
        yield from section.diff
    if section.hand and section.hand[2:] != section.diff[2:]:
        yield "what is wrong:" if section.verdict == "broken" else "manual edits:"
        yield from section.hand


def _describe_part(section: SectionReview) -> str:
    if section.whole:
        return "managed file"
    return "managed section" + (f" in line {section.line}" if section.line else "")
