"""Set one value in a text, and prove that nothing else changed.

The edit happens at the places of the text's nodes, so every other byte stays. What can't be done at
one place is a ValueError; the result is proven by reading it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from cub.config_edit.collection_edits import (
    detect_indents,
    format_item_lines,
    format_key_lines,
    format_member,
    format_object,
    insert_in_brackets,
    make_list_edits,
)
from cub.config_edit.config_text import (
    ConfigText,
    KeyPath,
    TextEdit,
    apply_text_edits,
    parse_config_text,
)
from cub.config_edit.nodes import ConfigNode
from cub.errors import CubError

EditMethod = Callable[[ConfigText, KeyPath, Any], str]


def set_value_in_text(
    config: ConfigText, path: KeyPath, value: Any, *, one_item_per_line: bool = False
) -> str:
    """Return the text with `value` at `path`; parents that are missing are added.

    `one_item_per_line`: where lines of YAML get a new list, each item has a line of its own.
    """
    return apply_text_edits(config.text, _make_edits(config, path, value, tall=one_item_per_line))


def set_value(
    config: ConfigText, path: KeyPath, value: Any, edit: EditMethod = set_value_in_text
) -> bytes:
    """Return the file's bytes with `value` at `path`; missing parents are added.

    The same bytes come back if nothing is to be changed. Raises CubError, with what to write by
    hand, unless the result is proven to say the same with this value, and has all comments.
    """
    before = config.python_value
    after = _set(before if isinstance(before, dict) else {}, path, value)
    if make_canonical(before) == make_canonical(after):
        return config.text.encode()
    try:
        edited_data = edit(config, path, value).encode()
        if verify_edit(config, edited_data, after):
            return edited_data
    except (CubError, ValueError, LookupError):
        pass
    raise CubError(
        f"cub can't set `{'.'.join(path)}` here without changing other lines",
        where=config.source.path,
        hint=suggest_manual_edit(config, path, value),
    )


def suggest_manual_edit(config: ConfigText, path: KeyPath, value: Any) -> str:
    """Return a hint with what a user can write into the file, and where."""
    node, found, line = config.root, 0, 0
    for key in path:
        entry = node.find_entry(key) if node and not node.is_alias else None
        if not entry:
            break
        node, found = entry.value, found + 1
        line = config.source.get_line_number(entry.key.start)
    if not node or not found:
        return f"add it yourself: {format_member(config, path, value)}"
    place = f"`{'.'.join(path[:found])}` on line {line}"
    rest = path[found:]
    if rest and node.kind == "mapping" and not node.is_alias:
        return f"add to {place}: {format_member(config, rest, value)}"
    if rest:
        there = node.to_python()
        value = _set(there if isinstance(there, dict) else {}, rest, value)
    return f"replace {place} with: {format_member(config, path[found - 1 : found], value)}"


def verify_edit(config: ConfigText, edited_data: bytes, expected: Any) -> bool:
    """Return whether the bytes have the `expected` values, and every comment that is there now."""
    try:
        after = parse_config_text(edited_data, config.source.path, config.format)
    except CubError:
        return False
    same = make_canonical(after.python_value) == make_canonical(expected)
    return same and _list_comments(after) == _list_comments(config)


def make_canonical(value: Any) -> str:
    """Return equal strings for equal values of equal types; the order of keys doesn't count."""
    if isinstance(value, dict):
        members = sorted((str(key), make_canonical(item)) for key, item in value.items())
        return repr(members)
    if isinstance(value, list):
        return repr([make_canonical(item) for item in value])
    return f"{type(value).__name__} {value!r}"


def _list_comments(config: ConfigText) -> list[str]:
    """Return all comments in their order: those outside of every scalar."""
    spans = _list_scalar_spans(config, config.root)
    hidden = apply_text_edits(config.text, (TextEdit(s, e, "x" * (e - s)) for s, e in spans))
    return re.findall(config.format.comment, hidden)


def _list_scalar_spans(config: ConfigText, node: ConfigNode | None) -> list[tuple[int, int]]:
    """Return where scalars are; of a block scalar, its own lines."""
    if node is None or node.is_alias:
        return []
    if node.kind == "scalar":
        start = config.find_line_end(node.start) if node.style in ("|", ">") else node.start
        return [(start, max(start, node.end))]
    inner = [part for entry in node.entries for part in entry]
    return [span for part in (*node.items, *inner) for span in _list_scalar_spans(config, part)]


def _make_edits(config: ConfigText, path: KeyPath, value: Any, *, tall: bool) -> Iterable[TextEdit]:
    node = config.root
    if node is None or (node.kind == "scalar" and node.value is None):
        return [_append(config, path, value, tall=tall)]
    parent = node
    for depth, key in enumerate(path):
        entry = node.find_entry(key)
        if entry is None:
            return _add_key(config, parent, node, path[depth:], value, tall=tall)
        parent, node = node, entry.value
        if node.is_alias and depth < len(path) - 1:
            raise ValueError("the mapping is in another place")
    if isinstance(value, list) and value and not node.is_alias:
        return _put_list(config, parent, node, value, tall=tall)
    return [_replace(config, node, value)]


def _append(config: ConfigText, path: KeyPath, value: Any, *, tall: bool) -> TextEdit:
    if config.format.is_json:
        lines = [format_object(config, path, value)]
    else:
        lines = format_key_lines(config, path, value, 0, one_item_per_line=tall)
    return config.insert_lines_below(len(config.text), lines)


def _add_key(
    config: ConfigText,
    parent: ConfigNode,
    node: ConfigNode,
    path: KeyPath,
    value: Any,
    *,
    tall: bool,
) -> Iterable[TextEdit]:
    """Add a key to the mapping `node`, which may still be an empty value in `parent`."""
    if node.kind == "mapping" and node.style:
        return insert_in_brackets(
            config, node, lambda row: [format_member(config, path, value, row)], len(node.entries)
        )
    if node.kind == "mapping":
        column = config.get_column(node.entries[0].key.start)
        closed = re.search(r"^\.\.\.", config.text[node.end :], re.MULTILINE)
        offset = len(config.text) if node is config.root and not closed else node.end
    elif node.kind != "scalar" or node.value is not None:
        raise ValueError("expected a mapping")
    elif parent.style or not node.is_empty:
        for key in reversed(path):
            value = {key: value}
        return [_replace(config, node, value)]
    else:
        column = config.get_column(parent.entries[0].key.start) + detect_indents(config).mapping
        offset = node.end
    lines = format_key_lines(config, path, value, column, one_item_per_line=tall)
    return [config.insert_lines_below(offset, lines)]


def _put_list(
    config: ConfigText, parent: ConfigNode, node: ConfigNode, values: list[Any], *, tall: bool
) -> Iterable[TextEdit]:
    """Put a list in place of `node`, which may be a list already, or its first item."""
    if node.kind == "list":
        return make_list_edits(config, node, values)
    if node.is_empty and tall and not parent.style:
        column = config.get_column(parent.entries[0].key.start)
        return [config.insert_lines_below(node.end, format_item_lines(config, values, column))]
    text = config.text[node.start : node.end]
    is_whole = node.style in ("'", '"') or not (node.style or set(text) & set(",[]{}\r\n"))
    if node.is_empty or not is_whole or repr(node.to_python()) != repr(values[0]):
        return [_replace(config, node, values)]
    others = "".join(
        f",{config.separator_space}{config.format_value(value)}" for value in values[1:]
    )
    return [TextEdit(node.start, node.start, "["), TextEdit(node.end, node.end, f"{others}]")]


def _replace(config: ConfigText, node: ConfigNode, value: Any) -> TextEdit:
    if node.kind == "scalar" or node.style or node.is_alias:
        gap = " " if node.is_empty else ""
        return TextEdit(node.start, node.end, gap + config.format_value(value, node.style))
    # After the colon, or in a comment, which the proof then misses.
    start = len(config.text[: node.start].rstrip())
    return TextEdit(start, node.end, " " + config.format_value(value))


def _set(tree: dict[str, Any], path: KeyPath, value: Any) -> dict[str, Any]:
    """Return a copy of the tree with one more value."""
    inner = tree.get(path[0])
    inner = inner if isinstance(inner, dict) else {}
    return {**tree, path[0]: _set(inner, path[1:], value) if path[1:] else value}
