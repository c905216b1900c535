"""Tasks as a tree: epics, and what is a part of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cub.actions.tasks.queries import Found
    from cub.store.briefs import Brief

_SIGNS = {"open": " ", "in_progress": ">", "retry": "!", "parked": "-", "closed": "x"}


def tree_lines(found: Found) -> Iterator[str]:
    """A line for each task, below that which it is a part of; a circle is begun anywhere."""
    below: dict[str, list[Brief]] = {}
    here = {row.id for row in found.rows}
    for row in found.rows:
        below.setdefault(row.parent if row.parent in here else "", []).append(row)
    seen: set[str] = set()
    for row in [*below.get("", ()), *found.rows]:
        if row.id not in seen:
            yield from _branch(found, row, below, seen)


def _branch(
    found: Found, top: Brief, below: dict[str, list[Brief]], seen: set[str]
) -> Iterator[str]:
    work = [(top, 0)]
    while work:
        row, depth = work.pop()
        if row.id in seen:
            continue
        seen.add(row.id)
        title = found.tasks.record(row.id).get("title", "")
        sign = _SIGNS.get(row.status, "?")
        waits = found.waits_for(row)
        tail = f"  (waits for {', '.join(waits)})" if waits else ""
        yield f"{'  ' * depth}[{sign}] {row.id}  P{row.priority}  {title}{tail}"
        work += [(child, depth + 1) for child in reversed(below.get(row.id, ()))]
