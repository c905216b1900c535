"""A review, or a plan, as Markdown: a comment on a pull request.

Nothing in it is taken for Markdown, and it is never longer than a host accepts: what matters most
comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from cub.actions.review.verdict import MEANING
from cub.cli.review_lines import closing, counts, versions
from cub.cli.visible import visible

if TYPE_CHECKING:
    from cub.actions.review.review import FileReview, Review
    from cub.edit.plan import Plan

_ROOM = 60_000  # characters; GitHub refuses comments over 65,536
_ROWS = 100
_LONGEST = 300  # lines of one diff
_WIDEST = 400  # characters of one line

Block = Sequence[str]


def review_comment(review: Review) -> Iterator[str]:
    """A table of all files, then what needs a look, then everything folded."""
    return _fitted(_of_review(review))


def plan_comment(plan: Plan) -> Iterator[str]:
    """What an update would change."""
    if not plan.shared:
        return iter(["cub: everything is up to date."])
    return _fitted(_of_plan(plan))


def _fitted(blocks: Iterable[Block]) -> Iterator[str]:
    """The blocks that there is room for, and how many there was none for."""
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


def _of_review(review: Review) -> Iterator[Block]:
    yield "### cub: instruction files of agents", "", closing(review, name=_code)
    if review.files:
        yield _table(review.files)
    if review.executed:
        yield "", "#### ⚠️ What executes has changed"
    for change in review.executed:
        yield "", f"{change.kind}: {_code(change.path)}", "", *_fenced(change.diff)
    for file in review.files:
        if file.section and file.section.touched:
            hand = ("", *_fenced(file.section.hand)) if file.section.hand else ()
            yield "", f"#### ⚠️ {_code(file.path)}", "", MEANING[file.section.verdict], *hand
    for file in review.files:
        yield _folded("cub's part of", file.path, file.section.diff if file.section else ())
        yield _folded("Other text of", file.path, file.own)


def _of_plan(plan: Plan) -> Iterator[Block]:
    yield ("### cub: `cub update` would change these files",)
    for edit in plan.shared:
        notes = (f"  - {note}" for note in edit.notes)
        yield "", f"- {edit.kind} {_code(edit.path)}: {edit.reason}", *notes
        yield _folded("Diff of", edit.path, tuple(edit.diff()))


def _table(files: Sequence[FileReview]) -> Block:
    """A row for each file; of very many, those first that a hand touched."""
    shown = files
    if len(files) > _ROWS:
        first = sorted(files, key=lambda file: not (file.section and file.section.touched))
        shown = first[:_ROWS]
    more = ("", f"… and {len(files) - _ROWS:,} more files") if len(files) > _ROWS else ()
    return "", "| File | cub's part | Other text |", "|---|---|---|", *map(_row, shown), *more


def _row(file: FileReview) -> str:
    section = file.section
    cub = f"{versions(section)}, {MEANING[section.verdict].split(':')[0]}" if section else "—"
    mark = "⚠️ " if section and section.touched else ""
    theirs = ", ".join([*([counts(file.own)] if file.own else []), *file.mode]) or "—"
    # A table is cut into cells before code spans are found (GitHub Flavored Markdown 4.10).
    path = _code(file.path).replace("|", "\\|")
    return f"| {path} | {mark}{cub} | {theirs} |"


def _code(words: str) -> str:
    """A code span that holds any name, cut to a length (CommonMark 6.1)."""
    shown = _cut(visible(words))
    ticks = "`" * (1 + _longest_run(shown))
    pad = " " if "`" in shown or shown != shown.strip() else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _fenced(diff: Sequence[str]) -> Iterator[str]:
    """A fence that is longer than any run of backticks inside (CommonMark 4.5)."""
    lines = [_cut(visible(line)) for line in diff[:_LONGEST]]
    if len(diff) > _LONGEST:
        lines.append(f"… and {len(diff) - _LONGEST:,} more lines")
    fence = "`" * max(3, 1 + max(map(_longest_run, lines), default=0))
    yield from (f"{fence}diff", *lines, fence)


def _folded(title: str, path: str, diff: Sequence[str]) -> Block:
    if not diff:
        return ()
    name = escape(_cut(visible(path)), quote=False)
    summary = f"<details><summary>{title} <code>{name}</code></summary>"
    return "", summary, "", *_fenced(diff), "", "</details>"


def _cut(line: str) -> str:
    more = len(line) - _WIDEST
    return line if more <= 0 else f"{line[:_WIDEST]}… and {more:,} more characters"


def _longest_run(line: str) -> int:
    return max(map(len, re.findall("`+", line)), default=0)
