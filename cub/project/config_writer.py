"""Editing config.yaml as text: every other byte of the file stays as it is, wherever possible.

`targets` has a way of its own here: its items are compared as paths, and keep their order.

What a JSON file of settings has to say to config.yaml: values with the same meaning in both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from cub import __version__
from cub.config_edit.config_text import YAML, parse_config_text
from cub.config_edit.string_list import ListLocation, edit_string_list, read_string_list
from cub.config_edit.value_edits import set_value
from cub.errors import CubError
from cub.project import config as config_file
from cub.project.config import CONFIG_FILE, parse_config_tree
from cub.project.migration_steps import ImportJsonStep
from cub.project.targets import normalize_target

_TARGETS = ListLocation(CONFIG_FILE, ("targets",), YAML)


def set_config_value(
    data: bytes | None, key: str, value: object, *, path: str = CONFIG_FILE
) -> bytes:
    """Return the file's bytes with `value` at the dotted `key`; missing parents are added.

    A value that is there is replaced in the text, in its style of quotes, and every other byte
    stays. The same bytes come back if nothing is to be changed.

    Raises CubError for a file that can't be read, and as `set_value` does.
    """
    config = parse_config_text(data or b"", path)
    return set_value(config, tuple(key.split(".")), _plain(value))


def set_targets(data: bytes | None, targets: Sequence[str]) -> bytes:
    """Return the file's bytes with `targets` set; an existing list keeps its order.

    Raises CubError, and says what to write by hand, if an edit would not give exactly this
    configuration.
    """
    data = data or b""
    dropped = [
        path
        for path in read_string_list(data, _TARGETS) or ()
        if normalize_target(path) not in targets
    ]
    return edit_string_list(data, _TARGETS, targets, removed_texts=dropped)


def _plain(value: Any) -> Any:
    """Tuples as lists, all the way down."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


UNSET: Final = object()


class JsonImport(NamedTuple):
    """Hold the bytes of config.yaml (None: there is none), and the keys that were not imported."""

    config: bytes | None
    unmapped_keys: tuple[str, ...]


def parse_json_settings(data: bytes) -> dict[str, Any]:
    """Parse a JSON object; ValueError for anything else, and for a key given twice."""
    try:
        tree = json.loads(data, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("this is nested too deeply") from None
    if not isinstance(tree, dict):
        raise ValueError("this is not an object")  # noqa: TRY004 - as for what is no JSON
    return tree


def import_json_settings(
    tree: dict[str, Any], step: ImportJsonStep, config: bytes | None, schema: int
) -> JsonImport:
    """Add the values of `tree` to `config`; existing values are never overwritten."""
    left = []
    for key, value in _leaves(tree, ""):
        if any(_same(value, known) for known in step.default.get(key, ())):
            continue
        wanted = step.keys.get(key)
        if wanted is None:
            left.append(key)
            continue
        there = get_config_value(config, wanted)
        if there is UNSET:
            more = _with(config, wanted, value, schema)
            config, there = more or config, value if more else there
        if not _same(there, value):
            left.append(key)
    return JsonImport(config, tuple(left))


def _with(config: bytes | None, key: str, value: object, schema: int) -> bytes | None:
    """Return the configuration with one more value; None if it can't take the value."""
    try:
        more = set_config_value(config, key, value)
        config_file.parse_config(more, version=__version__, schema=schema)
    except CubError:
        return None
    return more


def _leaves(tree: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def get_config_value(data: bytes | None, key: str) -> Any:
    """Return the value of a dotted key in config.yaml; UNSET if it has none."""
    node = parse_config_tree(data, CONFIG_FILE) if data and data.strip() else None
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
    """Compare as JSON does: true is not 1."""
    return one is not UNSET and json.dumps(one, default=str) == json.dumps(other, default=str)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(tree := dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return tree


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")
