"""Setting one value in a text at the places of its nodes: every other byte stays.

What can't be done at one place is a ValueError. Callers prove the result by reading it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from cub.layout import brackets
from cub.layout.items import list_splices
from cub.layout.layout import Layout, Path, Splice, spliced
from cub.layout.lines import indents, item_lines, key_lines
from cub.layout.nodes import Node


def placed(here: Layout, path: Path, value: Any, *, tall: bool = False) -> str:
    """The text with `value` at `path`; parents that are missing are added.

    `tall`: where lines of YAML get a new list, each item has a line of its own.
    """
    return spliced(here.text, _splices(here, path, value, tall=tall))


def _splices(here: Layout, path: Path, value: Any, *, tall: bool) -> Iterable[Splice]:
    node = here.root
    if node is None or (node.kind == "scalar" and node.value is None):
        return [_at_end(here, path, value, tall=tall)]
    parent = node
    for depth, key in enumerate(path):
        entry = node.entry(key)
        if entry is None:
            return _added(here, parent, node, path[depth:], value, tall=tall)
        parent, node = node, entry.value
        if node.alias and depth < len(path) - 1:
            raise ValueError("the mapping stands elsewhere")
    if isinstance(value, list) and value and not node.alias:
        return _listed(here, parent, node, value, tall=tall)
    return [_replaced(here, node, value)]


def _at_end(here: Layout, path: Path, value: Any, *, tall: bool) -> Splice:
    if here.language.json:
        lines = [brackets.whole(here, path, value)]
    else:
        lines = key_lines(here, path, value, 0, tall=tall)
    return here.below(len(here.text), lines)


def _added(
    here: Layout, parent: Node, node: Node, path: Path, value: Any, *, tall: bool
) -> Iterable[Splice]:
    """A new key in the mapping `node`, which may still be an empty value of `parent`'s."""
    if node.kind == "mapping" and node.style:
        return brackets.put(
            here, node, lambda row: [brackets.member(here, path, value, row)], len(node.entries)
        )
    if node.kind == "mapping":
        left = here.column(node.entries[0].key.start)
        closed = re.search(r"^\.\.\.", here.text[node.end :], re.MULTILINE)
        place = len(here.text) if node is here.root and not closed else node.end
        return [here.below(place, key_lines(here, path, value, left, tall=tall))]
    if node.kind != "scalar" or node.value is not None:
        raise ValueError("this is no mapping")
    if parent.style or not node.empty:
        return [_replaced(here, node, _wrapped(path, value))]
    left = here.column(parent.entries[0].key.start) + indents(here).mapping
    return [here.below(node.end, key_lines(here, path, value, left, tall=tall))]


def _listed(
    here: Layout, parent: Node, node: Node, values: list[Any], *, tall: bool
) -> Iterable[Splice]:
    """A list in place of `node`, which may be a list already, or its first item."""
    if node.kind == "list":
        return list_splices(here, node, values)
    if node.empty and tall and not parent.style:
        left = here.column(parent.entries[0].key.start)
        return [here.below(node.end, item_lines(here, values, left))]
    words = here.text[node.start : node.end]
    whole = node.style in ("'", '"') or not (node.style or set(words) & set(",[]{}\r\n"))
    if node.empty or not whole or repr(node.plain()) != repr(values[0]):
        return [_replaced(here, node, values)]
    others = "".join(f",{here.gap}{here.written(value)}" for value in values[1:])
    return [Splice(node.start, node.start, "["), Splice(node.end, node.end, f"{others}]")]


def _replaced(here: Layout, node: Node, value: Any) -> Splice:
    if node.kind == "scalar" or node.style or node.alias:
        gap = " " if node.empty else ""
        return Splice(node.start, node.end, gap + here.written(value, node.style))
    start = len(here.text[: node.start].rstrip())  # behind the colon, or a comment: see above
    return Splice(start, node.end, " " + here.written(value))


def _wrapped(path: Path, value: Any) -> Any:
    """The value inside mappings of one key each."""
    for key in reversed(path):
        value = {key: value}
    return value
