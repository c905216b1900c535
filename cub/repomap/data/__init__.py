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
