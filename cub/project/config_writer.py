"""Edit config.yaml as text, so that every other byte stays; import settings from a JSON file.

`targets` is edited as a list of paths: its items are compared as paths, and keep their order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from cub.config_edit.config_text import YAML, parse_config_text
from cub.config_edit.string_list import ListLocation, edit_string_list, read_string_list
from cub.config_edit.value_edits import set_value
from cub.errors import CubError
from cub.project.config import CONFIG_FILE, parse_config
from cub.project.migrations import MigrationStep
from cub.project.targets import normalize_target

_TARGETS = ListLocation(CONFIG_FILE, ("targets",), YAML)
UNSET: Final = object()


class JsonImport(NamedTuple):
    """Hold the bytes of config.yaml (None: there is none), and the keys that were not imported."""

    config: bytes | None
    unmapped_keys: tuple[str, ...]


def set_config_value(
    data: bytes | None, key: str, value: object, *, path: str = CONFIG_FILE
) -> bytes:
    """Return the file's bytes with `value` at the dotted `key`; missing parents are added.

    A value that is there is replaced in the text, in its style of quotes, and every other byte
    stays. The same bytes come back if nothing is to be changed.

    Raises CubError for a file that can't be read, and as `set_value` does.
    """
    config = parse_config_text(data or b"", path)
    return set_value(config, tuple(key.split(".")), value)


def set_targets(data: bytes | None, targets: Sequence[str]) -> bytes:
    """Return the file's bytes with `targets` set; an existing list keeps its order.

    Raises CubError, and says what to write by hand, if an edit would not give exactly this
    configuration.
    """
    data = data or b""
    listed = read_string_list(data, _TARGETS) or ()
    removed = [path for path in listed if normalize_target(path) not in targets]
    return edit_string_list(data, _TARGETS, targets, removed_texts=removed)


def get_config_value(data: bytes | None, key: str) -> Any:
    """Return the value of a dotted key in config.yaml; UNSET if it has none."""
    node = parse_config_text(data or b"", CONFIG_FILE).python_value
    for name in key.split("."):
        if node is None:
            return UNSET
        if not isinstance(node, dict):
            return None  # a value where others have keys: nothing can be added to it
        node = node.get(name, UNSET)
        if node is UNSET:
            return UNSET
    return node


def parse_json_settings(data: bytes) -> dict[str, Any]:
    """Parse a JSON object; ValueError for anything else, and for a key given twice."""
    try:
        tree = json.loads(data, object_pairs_hook=_make_object, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("too deeply nested") from None
    if not isinstance(tree, dict):
        raise ValueError("expected an object")  # noqa: TRY004 - as for invalid JSON
    return tree


def import_json_settings(
    tree: dict[str, Any], step: MigrationStep, config: bytes | None, schema: int
) -> JsonImport:
    """Add the values of `tree` to `config`; existing values are never overwritten."""
    unmapped_keys = []
    for key, value in _iter_leaves(tree, ""):
        if any(_is_same_json(value, default) for default in step.default.get(key, ())):
            continue
        config_key = step.keys.get(key)
        if config_key is None:
            unmapped_keys.append(key)
            continue
        current = get_config_value(config, config_key)
        if current is UNSET:
            edited = _try_set(config, config_key, value, schema)
            config, current = edited or config, value if edited else current
        if not _is_same_json(current, value):
            unmapped_keys.append(key)
    return JsonImport(config, tuple(unmapped_keys))


def _try_set(config: bytes | None, key: str, value: object, schema: int) -> bytes | None:
    """Return the configuration with one more value; None if it can't take the value."""
    try:
        edited = set_config_value(config, key, value)
        parse_config(edited, schema=schema)
    except CubError:
        return None
    return edited


def _iter_leaves(tree: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _iter_leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _is_same_json(left: Any, right: Any) -> bool:
    """Compare as JSON does: true is not 1."""
    return left is not UNSET and json.dumps(left, default=str) == json.dumps(right, default=str)


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(tree := dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice")
    return tree


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")
