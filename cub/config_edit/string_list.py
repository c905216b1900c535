"""Edit a list of strings in a settings file; every other byte of the file stays."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import normpath
from typing import NamedTuple

from cub.config_edit.config_text import ConfigFormat, ConfigText, KeyPath, parse_config_text
from cub.config_edit.value_edits import set_value, suggest_manual_edit


class ListLocation(NamedTuple):
    """Locate a list of strings in a file by the keys that lead to it."""

    path: str
    keys: KeyPath
    format: ConfigFormat


def read_string_list(data: bytes, location: ListLocation) -> tuple[str, ...] | None:
    """Return the strings at `location`; a single string counts as a list; None if it is not set.

    Raises CubError with `path:line:column` for a file or a value of another kind.
    """
    return _get_texts(parse_config_text(data, location.path, location.format), location)


def edit_string_list(
    data: bytes,
    location: ListLocation,
    items: Sequence[str],
    *,
    removed_texts: Sequence[str] = (),
    default: Sequence[str] = (),
) -> bytes:
    """Return the file's bytes with `items` in the list, and without those in `removed_texts`.

    A list that does not exist yet begins with `default`. Paths are compared in their normal form.
    Raises CubError for a file or a value of another kind, and as `set_value` does.
    """
    config = parse_config_text(data, location.path, location.format)
    hint = suggest_manual_edit(config, location.keys, [*default, *items])
    texts = _get_texts(config, location, hint)
    items = [*default, *items] if texts is None and items else items
    old_texts, removed = texts or (), set(map(normpath, removed_texts))
    known_texts = set(map(normpath, old_texts))
    remaining = [text for text in old_texts if normpath(text) not in removed]
    added = [item for item in dict.fromkeys(items) if normpath(item) not in known_texts]
    if [*remaining, *added] == list(old_texts):
        return data
    return set_value(config, location.keys, [*remaining, *added], one_item_per_line=True)


def _get_texts(
    config: ConfigText, location: ListLocation, hint: str = ""
) -> tuple[str, ...] | None:
    node = config.root
    for depth, key in enumerate(location.keys):
        if node is None or node.is_empty:
            return None
        if node.kind != "mapping":
            prefix = f"{location.keys[depth - 1]}: " if depth else ""
            message = f"{prefix}expected a mapping of keys to values"
            raise config.source.make_error(node.start, message, hint)
        entry = node.collect_entries().get(key)
        node = entry.value if entry else None
    if node is None or node.is_empty:
        return None
    value = node.to_python()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        message = f"{'.'.join(location.keys)} must be a string or a list of strings"
        raise config.source.make_error(node.start, message, hint)
    return tuple(items)
