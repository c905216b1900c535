"""Decide which definition a file means when it mentions a name, and how sure that is.

`docs/explanation/map.md` explains how the weights were chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from cub.repomap.symbols.file_facts import Definition

_NAME, _MODULE, _PACKAGE = "imports its name", "imports its module", "imports from its directory"
_FOLDER = "is in the same directory"
# What a reference weighs: if the file imports the name or its module; from the same folder; else,
# for a name that is hardly a plain word, and for any other. After a dot, it has a share of that.
# All are powers of two: their sums are exact, and so the same in any order.
_IMPORTED, _SAME_FOLDER, _DISTINCTIVE, _PLAIN = 1.0, 0.5, 0.25, 0.0625
_DOTTED, _DOTTED_PLAIN = 0.5, 0.125

Resolution = tuple[Sequence[int], float, str]  # definitions, the weight of them all, and why


def resolve_token(
    token: ReferenceToken,
    modules: Sequence[ModulePath],
    import_words: frozenset[str],
    imported_names: frozenset[str],
    folder: str,
) -> Resolution:
    """Return the likeliest definitions: of an imported module, else of the folder, else all.

    `modules` are those of all files; `import_words` are all words of a file's imports,
    `imported_names` the names that they make available, and `folder` is the file's.
    """
    if token.qualified:
        return token.entries, _IMPORTED, "names it with its module"
    discount = 1.0
    if token.dotted:
        discount = _DOTTED if token.distinctive else _DOTTED_PLAIN
    select = partial(_select_entries, token, modules)
    is_named = token.name in imported_names and not token.dotted
    if not import_words.isdisjoint(token.modules):
        return select(lambda m: m.name in import_words), _IMPORTED * discount, _MODULE
    if not import_words.isdisjoint(token.words):
        weight = _IMPORTED if is_named else _SAME_FOLDER * discount
        entries = select(lambda m: not import_words.isdisjoint(m.import_names))
        return entries, weight, _NAME if is_named else _PACKAGE
    if is_named:
        return token.entries, _IMPORTED, _NAME
    if folder in token.folders:
        near = _SAME_FOLDER if token.distinctive else _SAME_FOLDER / 2
        return select(lambda m: m.folder == folder), near * discount, _FOLDER
    weight = _DISTINCTIVE if token.distinctive else _PLAIN
    return token.entries, weight * discount, "says its name"


def _select_entries(
    token: ReferenceToken, modules: Sequence[ModulePath], fits: Callable[[ModulePath], bool]
) -> Sequence[int]:
    """Return the definitions in modules that fit; a single module is known to fit."""
    if len(token.entries) == 1:
        return token.entries
    pairs = zip(token.entries, token.files, strict=True)
    return [entry for entry, file in pairs if fits(modules[file])]


# Files that stand for their folder, and export what it offers.
INDEX_STEMS = frozenset(["__init__", "index", "mod", "lib", "init"])
# Folders that say where sources are, not what they are about.
SOURCE_FOLDERS = frozenset(
    ["src", "lib", "source", "sources", "main", "java", "kotlin", "scala", "app"]
)


class ModulePath(NamedTuple):
    """Describe a file's path as other files import it.

    `import_names` are the names of the file and its folder in imports, `name` that of the file
    alone, "" if it says nothing. `is_index`: it stands for its `folder`. `depth` counts the
    folders above it, except plain ones such as `src`.
    """

    import_names: frozenset[str]
    name: str
    folder: str
    is_index: bool
    depth: int


def parse_module_path(path: str) -> ModulePath:
    """Split a path into the names by which it is imported."""
    folder, _, base = path.rpartition("/")
    stem = base[: base.rfind(".", 1)] if "." in base[1:] else base
    is_index = stem in INDEX_STEMS
    parts = [part for part in folder.split("/") if part]
    name = (parts[-1] if parts else "") if is_index else stem
    words = frozenset((name, *parts[-1:])) - SOURCE_FOLDERS - {""}
    depth = len([part for part in parts if part not in SOURCE_FOLDERS])
    return ModulePath(words, name if name in words else "", folder, is_index, depth)


def list_import_roots(paths: Iterable[str]) -> frozenset[str]:
    """Return the names of all folders and files, without endings: the starts of imports."""
    roots: set[str] = set()
    for path in paths:
        *folders, name = path.split("/")
        roots.update(folders)
        roots.add(name.partition(".")[0])
    return frozenset(roots)


_UNUSUAL = re.compile(r".*(?:[a-z][A-Z]|[A-Za-z]_[A-Za-z]|\d)|.{12,}")


@dataclass(slots=True)
class ReferenceToken:
    """Describe `name`, `.name` (`dotted`) or `module.name` (also `qualified`).

    `entries` are the numbers of the definitions that it may mean, and `files` those of their
    files; `words`, `modules` and `folders` belong to these files. A `distinctive` name is hardly
    a plain word.
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


def index_tokens(
    definitions: Iterable[tuple[int, ModulePath, Definition]],
) -> dict[str, ReferenceToken]:
    """Index definitions, numbered as they come, each with its file's number, by their mentions.

    `name` and `module.name` mean a definition at the top of a file, `.name` and `class.name` a
    member.
    """
    tokens: dict[str, ReferenceToken] = {}
    sets: dict[str, frozenset[str]] = {}  # most tokens have one file: its sets are shared
    distinctive: dict[str, bool] = {}
    for entry, (file, module, definition) in enumerate(definitions):
        name, owner = definition.name, definition.member_of
        plain = f".{name}" if owner else name
        names = sets.setdefault(module.name, frozenset((module.name,)))
        folder = sets.setdefault(module.folder, frozenset((module.folder,)))
        if name not in distinctive:
            distinctive[name] = _UNUSUAL.match(name) is not None
        qualifiers = (owner,) if owner else module.import_names
        for mention in (plain, *(f"{word}.{name}" for word in qualifiers)):
            token = tokens.get(mention)
            if token is None:
                flags = (mention != plain, mention != name, distinctive[name])
                tokens[mention] = ReferenceToken(
                    name, *flags, [entry], [file], module.import_names, names, folder
                )
                continue
            token.entries.append(entry)
            token.files.append(file)
            token.words |= module.import_names
            token.modules |= names
            token.folders |= folder
    return tokens
