"""The files below a folder that git does not know: all but those that a .gitignore names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.files.regular import place, read_start
from cub.repomap.listing.patterns import spec_of
from cub.repomap.notes import Note

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_MOST = 1_000_000  # bytes of a .gitignore
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
    base = os.fspath(root)  # a Path for each folder takes half of the time
    waiting: list[tuple[str, tuple[_Rules, ...]]] = [("", ())]
    while waiting:
        prefix, rules = waiting.pop()
        try:
            entries = list(os.scandir(place(base, prefix)))
        except OSError as error:
            notes.append(Note(prefix, f"cannot be listed: {(error.strerror or '').lower()}"))
            continue
        if any(entry.name == b".gitignore" and _is_plain(entry) for entry in entries):
            rules = (*_rules(base, prefix), *rules)
        for entry in entries:
            name = entry.name.decode("utf-8", "surrogateescape")
            path = prefix + name
            folder = entry.is_dir(follow_symlinks=False)
            if rules and _ignored(path + "/" * folder, rules):
                continue
            if not folder:
                yield path
            elif name not in _LEFTOVERS:
                waiting.append((path + "/", rules))


def _is_plain(entry: os.DirEntry[bytes]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _rules(root: str, prefix: str) -> tuple[_Rules, ...]:
    try:
        data = read_start(root, f"{prefix}.gitignore", _MOST)
    except OSError:
        return ()
    lines = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    return (_Rules(prefix, spec_of(lines)),)


def _ignored(path: str, rules: tuple[_Rules, ...]) -> bool:
    for rule in rules:
        said = rule.spec.check_file(path.removeprefix(rule.prefix)).include
        if said is not None:
            return said
    return False
