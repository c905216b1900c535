"""Take values out of JSON that another program wrote: each may be missing, or of any type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

JsonObject = Mapping[str, Any]


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Return the object that a text is; {} for anything else."""
    try:
        tree = json.loads(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)
    except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError too
        return {}
    return tree if isinstance(tree, dict) else {}


def get_object(tree: JsonObject, *keys: str) -> JsonObject:
    """Return the object below these keys; {} if there is none."""
    for key in keys:
        value = tree.get(key)
        tree = value if isinstance(value, dict) else {}
    return tree


def get_text(tree: JsonObject, *keys: str) -> str:
    """Return the string below these keys; "" if there is none."""
    value = get_object(tree, *keys[:-1]).get(keys[-1])
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def get_count(tree: JsonObject, *keys: str) -> int:
    """Return the number below these keys; 0 if there is none, or a negative one."""
    value = get_object(tree, *keys[:-1]).get(keys[-1])
    return value if type(value) is int and 0 <= value < 10**12 else 0


def list_objects(tree: JsonObject, *keys: str) -> Iterator[JsonObject]:
    """Yield the objects of the list below these keys."""
    value = get_object(tree, *keys[:-1]).get(keys[-1])
    yield from (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def list_texts(tree: JsonObject, *keys: str) -> list[str]:
    """Return the strings of the list below these keys."""
    value = get_object(tree, *keys[:-1]).get(keys[-1])
    texts = value if isinstance(value, list) else []
    return [get_text({"": text}, "") for text in texts if isinstance(text, str)]


def get_dollars(tree: JsonObject, *keys: str) -> float | None:
    """Return the dollars below these keys; None if there are none."""
    value = get_object(tree, *keys[:-1]).get(keys[-1])
    is_number = type(value) in (int, float) and 0 <= float(str(value)) < 10**6
    return float(str(value)) if is_number else None
