"""How sure it is that a file means a definition when it says its name.

How a file's path relates to what other files import.

What a file may say to refer to a definition.

The numbers that decide what ranks where; docs/explanation/map.md tells how they were chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cub.repomap.symbols.file_facts import Definition

_NAME, _MODULE, _PACKAGE = "imports its name", "imports its module", "imports from its folder"
_FOLDER = "is in the same folder"

Resolution = tuple[Sequence[int], float, str]  # definitions, the weight of them all, and why


class ReferenceResolver:
    """Tells what a file means by a token, from what it imports and where it stands."""

    def __init__(self, weights: RankingWeights, modules: Sequence[ModulePath]) -> None:
        self.weights, self.modules = weights, modules

    def resolve(
        self,
        token: ReferenceToken,
        import_words: frozenset[str],
        imported_names: frozenset[str],
        folder: str,
    ) -> Resolution:
        """The likeliest: those whose module is imported, else those nearby, else all.

        `import_words` are all words of a file's imports, and `imported_names` the names that they
        bring in; `folder` is where the file stands.
        """
        weights = self.weights
        if token.qualified:
            return token.entries, weights.imported, "names it with its module"
        discount = 1.0
        if token.dotted:
            discount = weights.dotted if token.distinctive else weights.dotted_plain
        is_named = token.name in imported_names and not token.dotted
        if not import_words.isdisjoint(token.modules):
            weight = weights.imported * discount
            return self._of(token, lambda m: m.name in import_words), weight, _MODULE
        if not import_words.isdisjoint(token.words):
            weight = weights.imported if is_named else weights.same_folder * discount
            found = self._of(token, lambda m: not import_words.isdisjoint(m.import_names))
            return found, weight, _NAME if is_named else _PACKAGE
        if is_named:
            return token.entries, weights.imported, _NAME
        if folder in token.folders:
            near = weights.same_folder if token.distinctive else weights.same_folder / 2
            return self._of(token, lambda m: m.folder == folder), near * discount, _FOLDER
        weight = weights.distinctive if token.distinctive else weights.plain
        return token.entries, weight * discount, "says its name"

    def _of(self, token: ReferenceToken, fits: Callable[[ModulePath], bool]) -> Sequence[int]:
        """The definitions in modules that fit; where there is one module, it is known to."""
        if len(token.entries) == 1:
            return token.entries
        places = zip(token.entries, token.files, strict=True)
        return [entry for entry, file in places if fits(self.modules[file])]


# Files that stand for their folder, and give others what the folder offers.
INDEX_STEMS = frozenset(["__init__", "index", "mod", "lib", "init"])
# Folders that say where sources are, not what they are about.
SOURCE_FOLDERS = frozenset(
    ["src", "lib", "source", "sources", "main", "java", "kotlin", "scala", "app"]
)


class ModulePath(NamedTuple):
    """`import_names` are the names under which others import the file or its folder, `name` the one
    of the file alone ("" if it says nothing); `folder` is where it stands;
    `is_index`: it stands for its folder; `depth` counts the folders above it, without plain ones.
    """

    import_names: frozenset[str]
    name: str
    folder: str
    is_index: bool
    depth: int


def parse_module_path(path: str) -> ModulePath:
    """What can be told from a path."""
    folder, _, base = path.rpartition("/")
    stem = base[: base.rfind(".", 1)] if "." in base[1:] else base
    face = stem in INDEX_STEMS
    parts = [part for part in folder.split("/") if part]
    name = (parts[-1] if parts else "") if face else stem
    words = frozenset((name, *parts[-1:])) - SOURCE_FOLDERS - {""}
    depth = len([part for part in parts if part not in SOURCE_FOLDERS])
    return ModulePath(words, name if name in words else "", folder, face, depth)


def list_import_roots(paths: Iterable[str]) -> frozenset[str]:
    """The names of all folders and files, without endings: what an import could begin with."""
    found: set[str] = set()
    for path in paths:
        *folders, name = path.split("/")
        found.update(folders)
        found.add(name.partition(".")[0])
    return frozenset(found)


_DISTINCTIVE = re.compile(r".*(?:[a-z][A-Z]|[A-Za-z]_[A-Za-z]|\d)|.{12,}")


@dataclass(slots=True)
class ReferenceToken:
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


def index_tokens(
    definitions: Iterable[tuple[int, ModulePath, Definition]],
) -> dict[str, ReferenceToken]:
    """By what is said: `name` and `module.name` for what stands at the top of a file, `.name` and
    `class.name` for members. Definitions are numbered as they come, each with its file's number.
    """
    found: dict[str, ReferenceToken] = {}
    sets: dict[str, frozenset[str]] = {}  # most tokens have one file: its sets are shared
    distinct: dict[str, bool] = {}
    for entry, (file, module, definition) in enumerate(definitions):
        name, owner = definition.name, definition.member_of
        plain = f".{name}" if owner else name
        alone = sets.setdefault(module.name, frozenset((module.name,)))
        folder = sets.setdefault(module.folder, frozenset((module.folder,)))
        if (distinctive := distinct.get(name)) is None:
            distinctive = distinct[name] = _DISTINCTIVE.match(name) is not None
        for said in (
            plain,
            *(f"{word}.{name}" for word in ((owner,) if owner else module.import_names)),
        ):
            token = found.get(said)
            if token is None:
                kinds = (said != plain, said != name, distinctive)
                found[said] = ReferenceToken(
                    name, *kinds, [entry], [file], module.import_names, alone, folder
                )
                continue
            token.entries.append(entry)
            token.files.append(file)
            token.words |= module.import_names
            token.modules |= alone
            token.folders |= folder
    return found


_VALUES = ("variable", "constant")


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """A reference counts `imported` where the file imports the name or its module, `same_folder`
    from the same folder, `distinctive` for a name that reads like no word, `plain` for one that
    does; `test` and `docs` are what users of these kinds count for. What stands behind a dot may
    belong to anything, and counts `dotted` of that. All of these are powers of two: their sums are
    exact, and so the same in any order.
    """

    imported: float = 1.0
    same_folder: float = 0.5
    distinctive: float = 0.25
    plain: float = 0.0625
    dotted: float = 0.5
    dotted_plain: float = 0.125
    test: float = 0.5
    docs: float = 0.5
    rank_power: float = 0.1
    index_file: float = 2.0
    inner_index_file: float = 1.4
    variable: float = 0.5
    member: float = 0.3

    def get_kind_factor(self, definition: Definition) -> float:
        """What a definition counts for by its kind: members and variables less."""
        factor = self.member if definition.member_of else 1.0
        return factor * (self.variable if definition.kind in _VALUES else 1.0)


DEFAULT_WEIGHTS = RankingWeights()
