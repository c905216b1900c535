"""Load the tables that say what languages, packages, programs and files are."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@cache
def load_table(name: str) -> dict[str, Any]:
    """Return the parsed TOML file `name` of this folder; callers must not change it.

    Callers build their own dictionaries in cached functions, so that importing parses nothing.
    """
    import tomllib

    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def load_words(name: str, part: str, key: str) -> frozenset[str]:
    """Return the words of a list in a table."""
    return frozenset(load_table(name)[part][key])


@cache
def index_words(name: str, part: str) -> dict[str, Any]:
    """Return the key of each word in the lists of a table's part."""
    return {word: key for key, words in load_table(name)[part].items() for word in words}
