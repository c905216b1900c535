"""The description in a manifest, and nothing else of it."""

from __future__ import annotations

import json
import tomllib
from typing import Any

_LARGEST = 262_144
_LONGEST = 2_000  # characters: no description is a text to search through
# Where the description is in each, outermost key first; the first text counts.
_KEYS = {
    "package.json": (("description",),),
    "pyproject.toml": (("project", "description"), ("tool", "poetry", "description")),
    "Cargo.toml": (("package", "description"),),
    "composer.json": (("description",),),
    "deno.json": (("description",),),
}
MANIFESTS = tuple(_KEYS)


def manifest_words(name: str, text: str) -> str:
    """The description in the manifest of this name; "" if it has none, or can't be read."""
    if "description" not in text or len(text) > _LARGEST:
        return ""
    try:
        tree = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return next(filter(None, (_at(tree, keys) for keys in _KEYS[name])), "")


def _at(tree: Any, keys: tuple[str, ...]) -> str:
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree[:_LONGEST] if isinstance(tree, str) else ""
