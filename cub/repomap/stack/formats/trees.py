"""TOML and JSON as trees, and careful ways to take something out of them.

Whatever is wrong with a text is a ValueError that begins with its line, if that is known.
"""

from __future__ import annotations

import json
import re
from typing import Any

from cub.errors import CubError

# tomllib takes time in the square of a key's parts; nobody writes one of a hundred.
_LONG_KEY = re.compile(r"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")
_PLACE = re.compile(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)


def toml_tree(text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    if _LONG_KEY.search(text):
        raise ValueError("this is not TOML that anybody wrote: a key of a hundred parts")
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.match(str(error))
        line = f"line {found[2]}: " if found and found[2] else ""
        raise ValueError(f"{line}this is not TOML: {found[1] if found else error}") from None


def json_tree(text: str) -> dict[str, Any]:
    """The object in a JSON text; comments and last commas are fine, as in tsconfig.json."""
    try:
        tree = json.loads(text)
    except json.JSONDecodeError:
        tree = _commented(text)
    return table(tree)


def _commented(text: str) -> Any:
    from cub.layout.jsonc import parse
    from cub.layout.source import Source

    try:
        node = parse(Source(text, ""))
    except CubError as error:
        line = f"line {error.line}: " if error.line else ""
        raise ValueError(f"{line}{error.message}") from None
    return node.plain() if node else {}


def table(value: object) -> dict[str, Any]:
    """A value if it is a table (an object), else an empty one."""
    return value if isinstance(value, dict) else {}


def at(tree: object, *keys: str) -> Any:
    """What stands at the end of these keys; None if one of them is missing."""
    for key in keys:
        tree = table(tree).get(key)
    return tree


def text_at(tree: object, *keys: str) -> str:
    """The text at the end of these keys, "" if there is none."""
    value = at(tree, *keys)
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """The texts of a list; of one text, that alone; of anything else, none."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
