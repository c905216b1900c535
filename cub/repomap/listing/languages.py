"""Detect which language a file is written in, by its name.

What cub knows about languages is in `languages.toml`, one block each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from cub.repomap.data import load_table
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.listing.file_listing import ListedFile


class Language(NamedTuple):
    """Hold one block of `languages.toml`, which says what each field means."""

    name: str
    endings: Sequence[str]
    grammar: str = ""  # "" where cub has none
    module: str = ""
    function: str = "language"
    queries: Sequence[str] = ()
    depth: int = 0
    sentinel: str = ""
    exported: str = "everything"
    reword: str = ""
    definitions: str = ""
    constants: Sequence[str] = ()
    type_first: bool = False
    comments: str = "slashes"
    modifiers: str = "usual"
    imports: str = "path_like"
    syntax_checked: bool = False
    ascii_scanner: bool = False
    component: bool = False
    markup: bool = False


def list_languages() -> list[Language]:
    """Return all languages in the order of the table."""
    return [Language(**block) for block in load_table("languages")["language"]]


@cache
def index_grammars() -> dict[str, Language]:
    """Return the languages with a grammar, or of components, by the grammar's name."""
    return {language.grammar: language for language in list_languages() if language.grammar}


@cache
def _index_endings() -> dict[str, Language]:
    return {ending: language for language in list_languages() for ending in language.endings}


def detect_language(path: str) -> Language | None:
    """Return the language of a file; None for data, prose and a name without an ending."""
    _, dot, ending = path.rpartition(".")
    return _index_endings().get(ending) if dot else None


def detect_header_language(paths: Iterable[str]) -> str:
    """Return the name of the language of `.h` files: the one of most of the other files."""
    others = (detect_language(path) for path in paths if not path.endswith(".h"))
    count = Counter(language.name for language in others if language)
    return max(("C", "C++", "Objective-C"), key=lambda name: count[name])


def compute_language_shares(
    files: Sequence[ListedFile], classifier: FileClassifier, least: int = 5
) -> tuple[tuple[str, int], ...]:
    """Return names of languages and their shares of sources and tests, in steps of 5 percent.

    Beside other languages, markup has no share of the work that symbols are.
    """
    sizes, markup_sizes = Counter[str](), Counter[str]()
    header = detect_header_language(file.path for file in files)
    for file in files:
        language = detect_language(file.path)
        if language and classifier.classify(file.path) in (FileKind.SOURCE, FileKind.TEST):
            name = header if file.path.endswith(".h") else language.name
            (markup_sizes if language.markup else sizes)[name] += file.size
    sizes = sizes or markup_sizes
    total = sum(sizes.values()) or 1
    shares = ((name, 5 * round(20 * size / total)) for name, size in sizes.items())
    return tuple(
        sorted((row for row in shares if row[1] >= least), key=lambda row: (-row[1], row[0]))
    )
