"""Editing config.yaml as text: every other byte of the file stays as it is, wherever possible.

`targets` has a way of its own here: its items are compared as paths, and keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cub.layout import values
from cub.layout.layout import YAML, layout_of
from cub.layout.lists import ListPlace, edited, texts_at
from cub.layout.round_trip import rewritten
from cub.layout.splices import placed
from cub.project.config import CONFIG
from cub.project.targets import normal

_TARGETS = ListPlace(CONFIG, ("targets",), YAML)


def with_value(data: bytes | None, key: str, value: object, *, path: str = CONFIG) -> bytes:
    """The file's bytes with `value` at the dotted `key`; missing parents are added.

    A value that is there is replaced in the text, in its style of quotes, and every other byte
    stays. Where that is not possible, the file goes through ruamel.yaml with its own indents.
    The same bytes come back if nothing is to be changed.

    Raises CubError for a file that can't be read, and as `values.with_value` does.
    """
    here = layout_of(data or b"", path)
    return values.with_value(here, tuple(key.split(".")), _plain(value), placed, rewritten)


def renamed(data: bytes, old: str, new: str, *, path: str = CONFIG) -> bytes:
    """The file's bytes with a dotted key renamed, as `values.renamed` does it."""
    return values.renamed(layout_of(data, path), tuple(old.split(".")), tuple(new.split(".")))


def with_targets(data: bytes | None, targets: Sequence[str]) -> bytes:
    """The file's bytes with `targets` set; a list that is there keeps its order.

    Raises CubError, and names what to write by hand, where an edit of the text does not give
    exactly the same configuration with these targets.
    """
    data = data or b""
    dropped = [path for path in texts_at(data, _TARGETS) or () if normal(path) not in targets]
    return edited(data, _TARGETS, targets, dropped=dropped)


def _plain(value: Any) -> Any:
    """Tuples as lists, all the way down."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
