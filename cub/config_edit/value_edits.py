"""Set one value in a configuration text, and prove that nothing else has changed.

What can't be done at one place is a ValueError. The result is parsed again: it must have the value
and every comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from cub.config_edit import collection_edits
from cub.config_edit.collection_edits import (
    detect_indents,
    format_item_lines,
    format_key_lines,
    format_member,
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


def verify_edit(config: ConfigText, edited_data: bytes, expected: Any) -> bool:
    """Return whether `edited_data` has the value `expected` and every comment of `config`."""
    try:
        after = parse_config_text(edited_data, config.source.path, config.format)
    except CubError:
        return False
    return make_canonical(after.python_value) == make_canonical(expected) and _comments(
        after
    ) == _comments(config)


def make_canonical(value: Any) -> str:
    """Return a text that is equal for equal values of equal types, whatever the order of keys."""
    if isinstance(value, dict):
        members = sorted((str(key), make_canonical(item)) for key, item in value.items())
        return repr(members)
    if isinstance(value, list):
        return repr([make_canonical(item) for item in value])
    kind = next((k for k in (bool, int, float, str) if isinstance(value, k)), type(None))
    return f"{kind.__name__} {value!r}"


def _comments(config: ConfigText) -> list[str]:
    """Return all comments in order: those outside of every scalar."""
    spans = _spans(config, config.root)
    hidden = apply_text_edits(config.text, (TextEdit(s, e, "x" * (e - s)) for s, e in spans))
    return re.findall(config.format.comment, hidden)


def _spans(config: ConfigText, node: ConfigNode | None) -> list[tuple[int, int]]:
    """Return the spans of scalars; of a block scalar, its own lines."""
    if node is None or node.is_alias:
        return []
    if node.kind == "scalar":
        start = config.find_line_end(node.start) if node.style in ("|", ">") else node.start
        return [(start, max(start, node.end))]
    inner = [part for entry in node.entries for part in entry]
    return [span for part in (*node.items, *inner) for span in _spans(config, part)]


def set_value_in_text(
    config: ConfigText, path: KeyPath, value: Any, *, one_item_per_line: bool = False
) -> str:
    """Return the text with `value` at `path`; missing parents are added.

    `one_item_per_line`: each item of a new block list has a line of its own.
    """
    return apply_text_edits(config.text, _splices(config, path, value, tall=one_item_per_line))


def _splices(config: ConfigText, path: KeyPath, value: Any, *, tall: bool) -> Iterable[TextEdit]:
    node = config.root
    if node is None or (node.kind == "scalar" and node.value is None):
        return [_at_end(config, path, value, tall=tall)]
    parent = node
    for depth, key in enumerate(path):
        entry = node.find_entry(key)
        if entry is None:
            return _added(config, parent, node, path[depth:], value, tall=tall)
        parent, node = node, entry.value
        if node.is_alias and depth < len(path) - 1:
            raise ValueError("the mapping stands elsewhere")
    if isinstance(value, list) and value and not node.is_alias:
        return _listed(config, parent, node, value, tall=tall)
    return [_replaced(config, node, value)]


def _at_end(config: ConfigText, path: KeyPath, value: Any, *, tall: bool) -> TextEdit:
    if config.format.is_json:
        lines = [collection_edits.format_object(config, path, value)]
    else:
        lines = format_key_lines(config, path, value, 0, one_item_per_line=tall)
    return config.insert_lines_below(len(config.text), lines)


def _added(
    config: ConfigText,
    parent: ConfigNode,
    node: ConfigNode,
    path: KeyPath,
    value: Any,
    *,
    tall: bool,
) -> Iterable[TextEdit]:
    """Yield the edits that add a key to the mapping `node`, which may be an empty value of
    `parent`.
    """
    if node.kind == "mapping" and node.style:
        return collection_edits.insert_in_brackets(
            config,
            node,
            lambda row: [collection_edits.format_member(config, path, value, row)],
            len(node.entries),
        )
    if node.kind == "mapping":
        left = config.get_column(node.entries[0].key.start)
        closed = re.search(r"^\.\.\.", config.text[node.end :], re.MULTILINE)
        place = len(config.text) if node is config.root and not closed else node.end
        return [
            config.insert_lines_below(
                place, format_key_lines(config, path, value, left, one_item_per_line=tall)
            )
        ]
    if node.kind != "scalar" or node.value is not None:
        raise ValueError("this is no mapping")
    if parent.style or not node.is_empty:
        return [_replaced(config, node, _wrapped(path, value))]
    left = config.get_column(parent.entries[0].key.start) + detect_indents(config).mapping
    return [
        config.insert_lines_below(
            node.end, format_key_lines(config, path, value, left, one_item_per_line=tall)
        )
    ]


def _listed(
    config: ConfigText, parent: ConfigNode, node: ConfigNode, values: list[Any], *, tall: bool
) -> Iterable[TextEdit]:
    """Yield the edits that put a list in place of `node`, a list already or its first item."""
    if node.kind == "list":
        return make_list_edits(config, node, values)
    if node.is_empty and tall and not parent.style:
        left = config.get_column(parent.entries[0].key.start)
        return [config.insert_lines_below(node.end, format_item_lines(config, values, left))]
    words = config.text[node.start : node.end]
    whole = node.style in ("'", '"') or not (node.style or set(words) & set(",[]{}\r\n"))
    if node.is_empty or not whole or repr(node.to_python()) != repr(values[0]):
        return [_replaced(config, node, values)]
    others = "".join(
        f",{config.separator_space}{config.format_value(value)}" for value in values[1:]
    )
    return [TextEdit(node.start, node.start, "["), TextEdit(node.end, node.end, f"{others}]")]


def _replaced(config: ConfigText, node: ConfigNode, value: Any) -> TextEdit:
    if node.kind == "scalar" or node.style or node.is_alias:
        gap = " " if node.is_empty else ""
        return TextEdit(node.start, node.end, gap + config.format_value(value, node.style))
    start = len(config.text[: node.start].rstrip())  # behind the colon, or a comment: see above
    return TextEdit(start, node.end, " " + config.format_value(value))


def _wrapped(path: KeyPath, value: Any) -> Any:
    """Return the value inside mappings of one key each."""
    for key in reversed(path):
        value = {key: value}
    return value


EditMethod = Callable[[ConfigText, KeyPath, Any], str]


def set_value(config: ConfigText, path: KeyPath, value: Any, *ways: EditMethod) -> bytes:
    """Return the file's bytes with `value` at `path`; missing parents are added.

    The same bytes are returned if nothing changes. Raises CubError, with what to write by hand,
    unless the result is proven to have this value and all comments.
    """
    before = config.python_value
    wanted = _set(before if isinstance(before, dict) else {}, path, value)
    if make_canonical(before) == make_canonical(wanted):
        return config.text.encode()
    for way in ways or (set_value_in_text,):
        try:
            done = way(config, path, value).encode()
        except (CubError, ValueError, LookupError):
            continue
        if verify_edit(config, done, wanted):
            return done
    raise CubError(
        f"cub can't set `{'.'.join(path)}` here without touching the rest of the file",
        where=config.source.path,
        hint=suggest_manual_edit(config, path, value),
    )


def suggest_manual_edit(config: ConfigText, path: KeyPath, value: Any) -> str:
    """Return a hint with what a user can write into the file."""
    return f"write it by hand: {format_member(config, path, value)}"


def _set(tree: dict[str, Any], path: KeyPath, value: Any) -> dict[str, Any]:
    """Return a copy of the tree with one more value."""
    inner = tree.get(path[0])
    inner = inner if isinstance(inner, dict) else {}
    return {**tree, path[0]: _set(inner, path[1:], value) if path[1:] else value}
