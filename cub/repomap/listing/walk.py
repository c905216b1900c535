"""The files below a folder that git does not know: all but those that a .gitignore names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.repomap.notes import Note

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# What tools leave beside sources; nobody writes a .gitignore in a folder without git.
_LEFTOVERS = frozenset(
    [".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox"]
)


class _Rules(NamedTuple):
    """The .gitignore of one folder: `prefix` is that folder's path with a slash behind it."""

    prefix: str
    spec: GitIgnoreSpec


def walk(root: Path, notes: list[Note]) -> Iterator[str]:
    """Paths relative to `root`, folders in no particular order; links are not followed.

    A rule of a deeper .gitignore counts before one of a higher one (gitignore(5)).
    """
    base = os.path.join(root, "")  # noqa: PTH118 - a Path for each folder takes half of the time
    waiting: list[tuple[str, tuple[_Rules, ...]]] = [("", ())]
    while waiting:
        prefix, rules = waiting.pop()
        try:
            entries = list(os.scandir(base + prefix))
        except OSError as error:
            notes.append(Note(prefix, f"cannot be listed: {(error.strerror or '').lower()}"))
            continue
        if any(entry.name == ".gitignore" and _is_plain(entry) for entry in entries):
            rules = (*_rules(root, prefix), *rules)
        for entry in entries:
            path = prefix + entry.name
            folder = entry.is_dir(follow_symlinks=False)
            if rules and _ignored(path + "/" * folder, rules):
                continue
            if not folder:
                yield path
            elif entry.name not in _LEFTOVERS:
                waiting.append((path + "/", rules))


def _is_plain(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _rules(root: Path, prefix: str) -> tuple[_Rules, ...]:
    from pathspec import GitIgnoreSpec

    try:
        text = (root / prefix / ".gitignore").read_text("utf-8", "surrogateescape")
        return (_Rules(prefix, GitIgnoreSpec.from_lines(text.splitlines())),)
    except (OSError, ValueError):
        return ()


def _ignored(path: str, rules: tuple[_Rules, ...]) -> bool:
    for rule in rules:
        said = rule.spec.check_file(path.removeprefix(rule.prefix)).include
        if said is not None:
            return said
    return False
