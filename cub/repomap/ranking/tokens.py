"""What a file may say to refer to a definition."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cub.repomap.ranking.modules import Module
from cub.repomap.symbols.definition import Definition

_DISTINCTIVE = re.compile(r".*(?:[a-z][A-Z]|[A-Za-z]_[A-Za-z]|\d)|.{12,}")


@dataclass(slots=True)
class Token:
    """`name`, `.name` (`dotted`) or `module.name` (`qualified` too), as in `names_in`.

    `entries` are the numbers of the definitions that it may mean, and `files` those of their files;
    `words`, `modules` (their names) and `folders` are those of all these files' modules. A
    `distinctive` name is hardly a word that means something else as well.
    """

    name: str
    qualified: bool
    dotted: bool
    distinctive: bool
    entries: list[int]
    files: list[int]
    words: frozenset[str]
    modules: frozenset[str]
    folders: frozenset[str]


def tokens_of(definitions: Iterable[tuple[int, Module, Definition]]) -> dict[str, Token]:
    """By what is said: `name` and `module.name` for what stands at the top of a file, `.name` and
    `class.name` for members. Definitions are numbered as they come, each with its file's number.
    """
    found: dict[str, Token] = {}
    sets: dict[str, frozenset[str]] = {}  # most tokens have one file: its sets are shared
    distinct: dict[str, bool] = {}
    for entry, (file, module, definition) in enumerate(definitions):
        name, owner = definition.name, definition.member_of
        plain = f".{name}" if owner else name
        alone = sets.setdefault(module.name, frozenset((module.name,)))
        folder = sets.setdefault(module.folder, frozenset((module.folder,)))
        if (distinctive := distinct.get(name)) is None:
            distinctive = distinct[name] = _DISTINCTIVE.match(name) is not None
        for said in (plain, *(f"{word}.{name}" for word in ((owner,) if owner else module.words))):
            token = found.get(said)
            if token is None:
                kinds = (said != plain, said != name, distinctive)
                found[said] = Token(name, *kinds, [entry], [file], module.words, alone, folder)
                continue
            token.entries.append(entry)
            token.files.append(file)
            token.words |= module.words
            token.modules |= alone
            token.folders |= folder
    return found
