"""Values as YAML on one line, the way that a person would write them."""

from __future__ import annotations

import json
import re
from typing import Any

from cub.layout.nodes import scalar

_PLAIN = re.compile(r"[\w./](?:[\w./+=@%^~-]| (?=[\w./-]))*")
# Words, numbers and dates in YAML 1.1, which other programs read.
_OLDER = re.compile(r"yes|no|on|off|\.inf|\.nan|0[bx][\da-f_]+|[\d._-]+(e[+-]?\d+)?", re.IGNORECASE)
_INVISIBLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def written(value: Any, quote: str = "") -> str:
    """A scalar, a list or a mapping; `quote` is how a text is quoted where that is possible."""
    if isinstance(value, dict):
        inner = (f"{written(str(key))}: {written(item)}" for key, item in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, str):
        return _text(value, quote)
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _text(text: str, quote: str) -> str:
    if quote == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    plain = _PLAIN.fullmatch(text) and text.isprintable() and scalar(text) == text
    if plain and quote != '"' and not _OLDER.fullmatch(text):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
