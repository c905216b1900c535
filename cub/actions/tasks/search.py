"""Which tasks say a text: the search of `cub task list`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cub.store.briefs import Brief
from cub.store.jsonl import Record
from cub.store.tasks import Tasks

_TEXTS = ("id", "title", "description", "notes")
_LISTS = ("labels", "acceptance_criteria")
# What JSON may spell in another way than by itself: `\"`, `\\`, `\/`, `\n`, `\ud800`.
_ESCAPED = re.compile('["\\\\/\x00-\x1f\x7f\ud800-\udfff]')


def matching(tasks: Tasks, rows: Iterable[Brief], text: str) -> list[Brief]:
    """The tasks that have `text` in their id, title, description, notes, labels or criteria,
    whatever the case of its letters.
    """
    wanted = text.casefold()
    by_line = not _ESCAPED.search(wanted)
    return [
        row
        for row in rows
        if (not by_line or _may_say(tasks, row.id, wanted)) and _says(tasks.seen(row.id), wanted)
    ]


def _may_say(tasks: Tasks, key: str, wanted: str) -> bool:
    """Whether the line of a task has the text anywhere, which is known without parsing it."""
    if key in tasks.apart:
        return True
    line = tasks.line(key)
    return b"\\u" in line or wanted in line.decode("utf-8", "replace").casefold()


def _says(record: Record, wanted: str) -> bool:
    if any(wanted in str(record.get(key) or "").casefold() for key in _TEXTS):
        return True
    return any(wanted in str(one).casefold() for key in _LISTS for one in record.get(key) or ())
