"""How the files of each language are named, where that is not what the language always does."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cub.repomap.listing.languages import language_of

_LEAST = 10  # files whose names tell one style from another
_MOST = 0.8
_STYLES = (
    ("snake_case", re.compile(r"_*[a-z\d]+(?:_[a-z\d]+)+_*")),
    ("kebab-case", re.compile(r"[a-z\d]+(?:-[a-z\d]+)+")),
    ("PascalCase", re.compile(r"(?:[A-Z][a-z\d]*)+")),
    ("camelCase", re.compile(r"[a-z][a-z\d]*(?:[A-Z][a-z\d]*)+")),
)
# What everybody does needs no words.
_USUAL = {
    "Python": "snake_case",
    "Ruby": "snake_case",
    "Rust": "snake_case",
    "Elixir": "snake_case",
    "Erlang": "snake_case",
    "Dart": "snake_case",
    "Go": "snake_case",
    "Java": "PascalCase",
    "Kotlin": "PascalCase",
    "Scala": "PascalCase",
    "Swift": "PascalCase",
    "C#": "PascalCase",
    "F#": "PascalCase",
    "Haskell": "PascalCase",
    "Groovy": "PascalCase",
}


def naming_habits(sources: Sequence[str]) -> Iterator[str]:
    """`TypeScript files in kebab-case`, by the languages with most files."""
    styles: dict[str, Counter[str]] = {}
    for path in sources:
        language = language_of(path)
        if language:
            style = _style(posixpath.basename(path).partition(".")[0])
            if style:
                styles.setdefault(language.name, Counter())[style] += 1
    for name in sorted(styles, key=lambda name: (-styles[name].total(), name)):
        style = _prevailing(styles[name])
        if style and style != _USUAL.get(name):
            yield f"{name} files in {style}"


def _style(stem: str) -> str:
    return next((name for name, pattern in _STYLES if pattern.fullmatch(stem)), "")


def _prevailing(counts: Counter[str]) -> str:
    style = min(counts, key=lambda name: (-counts[name], name))
    enough = counts.total() >= _LEAST and counts[style] >= _MOST * counts.total()
    return style if enough else ""
