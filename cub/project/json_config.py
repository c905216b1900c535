"""What a JSON file of settings has to say to config.yaml: values with the same meaning in both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from cub import __version__
from cub.errors import CubError
from cub.project import config as config_file
from cub.project.config import CONFIG, load
from cub.project.config_edit import with_value
from cub.project.verbs import ConfigFromJson

UNSET: Final = object()


class Adopted(NamedTuple):
    """The bytes of config.yaml (None: there is none), and the keys that it does not speak for."""

    config: bytes | None
    left: tuple[str, ...]


def parse(data: bytes) -> dict[str, Any]:
    """The object in a JSON file; ValueError for anything else, and for a key given twice."""
    try:
        tree = json.loads(data, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("this is nested too deeply") from None
    if not isinstance(tree, dict):
        raise ValueError("this is not an object")  # noqa: TRY004 - as for what is no JSON
    return tree


def adopt(tree: dict[str, Any], step: ConfigFromJson, config: bytes | None, schema: int) -> Adopted:
    """`config` with the values of `tree` added; what it says already is never overwritten."""
    left = []
    for key, value in _leaves(tree, ""):
        if any(_same(value, known) for known in step.default.get(key, ())):
            continue
        wanted = step.keys.get(key)
        if wanted is None:
            left.append(key)
            continue
        there = value_at(config, wanted)
        if there is UNSET:
            more = _with(config, wanted, value, schema)
            config, there = more or config, value if more else there
        if not _same(there, value):
            left.append(key)
    return Adopted(config, tuple(left))


def _with(config: bytes | None, key: str, value: object, schema: int) -> bytes | None:
    """None where config.yaml can't take the value."""
    try:
        more = with_value(config, key, value)
        config_file.parse(more, version=__version__, schema=schema)
    except CubError:
        return None
    return more


def _leaves(tree: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def value_at(data: bytes | None, key: str) -> Any:
    """The value of a dotted key in config.yaml; UNSET where it has none."""
    node = load(data, CONFIG) if data and data.strip() else None
    for name in key.split("."):
        if node is None:
            return UNSET
        if not isinstance(node, dict):
            return None  # a value where others have keys: nothing can be added to it
        node = node.get(name, UNSET)
        if node is UNSET:
            return UNSET
    return node


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return one is not UNSET and json.dumps(one, default=str) == json.dumps(other, default=str)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(tree := dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return tree


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")
