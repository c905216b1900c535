"""Find which files and tests a task's own text names: title, description, acceptance criteria."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from cub.store.jsonl import Record

_FIELDS = ("title", "description", "acceptance_criteria")
# What may not stand around a path: `docs/AGENTS.md` and `AGENTS.md.orig` don't name `AGENTS.md`.
_BEFORE, _AFTER = r"(?<![\w./\\@-])(?:\./)?", r"(?![\w/\\-]|\.\w)"

_TEST_NAME = re.compile(r"test\w|.*\w\W+\w", re.IGNORECASE)


def mentions_path(task: Record, path: str) -> bool:
    """Return whether a task's text names a file, by its path or the end of it, such as its name.

    Upper and lower case are the same. The name of a folder doesn't name the files in it.
    """
    parts = PurePosixPath(path).parts
    ends = (r"[/\\]".join(map(re.escape, parts[start:])) for start in range(len(parts)))
    pattern = re.compile(f"{_BEFORE}(?:{'|'.join(ends)}){_AFTER}", re.IGNORECASE)
    return any(pattern.search(text) for text in _list_texts(task))


def mentions_test(task: Record, name: str) -> bool:
    """Return whether a task's text names a test: `test_heat`, or `heats the oven` in full.

    A single word such as `heats` may stand there by chance.
    """
    if not _TEST_NAME.match(name):
        return False
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    return any(pattern.search(text) for text in _list_texts(task))


def _list_texts(task: Record) -> list[str]:
    values = (task.get(name) for name in _FIELDS)
    texts = (value if isinstance(value, list) else [value] for value in values)
    return [text for group in texts for text in group if isinstance(text, str)]
