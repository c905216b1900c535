"""Set one value in a text, and prove that nothing else changed.

The edits are made at the places of the text's nodes, so every other byte stays. Whatever can't be
made so is seen when the result is read again, and is refused with what to write by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Any

from cub.config_edit.config_text import (
    ConfigText,
    KeyPath,
    TextEdit,
    apply_text_edits,
    parse_config_text,
)
from cub.config_edit.nodes import ConfigNode, MappingEntry
from cub.errors import CubError
from cub.source_text import LINE_END_PATTERN


def set_value(
    config: ConfigText, path: KeyPath, value: Any, *, one_item_per_line: bool = False
) -> bytes:
    """Return the file's bytes with `value` at `path`; missing parents are added.

    `one_item_per_line`: where lines of YAML get a new list, each item has a line of its own. The
    same bytes come back if nothing is to be changed. Raises CubError, with what to write by hand,
    unless the result is proven to say the same with this value, and has all comments.
    """
    before = make_canonical(config.python_value)
    expected = make_canonical(_set(config.python_value, path, value))
    if before == expected:
        return config.text.encode()
    try:
        in_rows = one_item_per_line and isinstance(value, list) and bool(value)
        edits = _make_edits(config, path, value, in_rows)
        data = apply_text_edits(config.text, edits).encode()
        after = parse_config_text(data, config.source.path, config.format)
    except (CubError, ValueError, LookupError):
        after = config
    has_comments = _list_comments(after) == _list_comments(config)
    if has_comments and make_canonical(after.python_value) == expected:
        return after.text.encode()
    raise CubError(
        f"cub can't set `{'.'.join(path)}` here without changing other lines",
        where=config.source.path,
        hint=suggest_manual_edit(config, path, value),
    )


def suggest_manual_edit(config: ConfigText, path: KeyPath, value: Any) -> str:
    """Return a hint with what a user can write into the file, and where."""
    entries = _find_entries(config, path)
    if not entries:
        return f"add it yourself: {_format_member(config, path, value)}"
    found, rest, node = path[: len(entries)], path[len(entries) :], entries[-1].value
    line = config.source.get_line_number(entries[-1].key.start)
    place = f"`{'.'.join(found)}` on line {line}"
    if rest and node.kind == "mapping" and not node.is_alias:
        return f"add to {place}: {_format_member(config, rest, value)}"
    value = _set(node.to_python(), rest, value)
    return f"replace {place} with: {_format_member(config, found[-1:], value)}"


def make_canonical(value: Any) -> str:
    """Return equal strings for equal values of equal types; the order of keys doesn't count."""
    return json.dumps(value, sort_keys=True)


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
        start = config.source.find_next_line(node.start) if node.style in ("|", ">") else node.start
        return [(start, max(start, node.end))]
    inner = [part for entry in node.entries for part in entry]
    return [span for part in (*node.items, *inner) for span in _list_scalar_spans(config, part)]


def _find_entries(config: ConfigText, path: KeyPath) -> list[MappingEntry]:
    """Return the entries of the keys in `path`, as far as they are here and not in an alias."""
    entries = list[MappingEntry]()
    node = config.root
    for key in path:
        entry = node.find_entry(key) if node and not node.is_alias else None
        if entry is None:
            break
        entries.append(entry)
        node = entry.value
    return entries


def _make_edits(config: ConfigText, path: KeyPath, value: Any, in_rows: bool) -> Iterable[TextEdit]:
    entries = _find_entries(config, path)
    root, rest = config.root or ConfigNode("scalar", 0, 0), path[len(entries) :]
    *_, parent, node = (root, root, *(entry.value for entry in entries))
    if node.is_alias:
        raise ValueError("the value is in another place")
    if rest or (in_rows and node.is_empty and not parent.style):
        return _add(config, (parent, node), rest, value, in_rows)
    is_list = isinstance(value, list) and bool(value)
    if is_list and node.kind == "list":
        return _edit_items(config, node, value)
    if not is_list or node.is_empty or repr(node.to_python()) != repr(value[0]):
        return [_replace(config, node, value)]
    others = "".join(f", {config.format_value(item)}" for item in value[1:])
    return [TextEdit(node.start, node.start, "["), TextEdit(node.end, node.end, f"{others}]")]


def _add(
    config: ConfigText,
    place: tuple[ConfigNode, ConfigNode],
    path: KeyPath,
    value: Any,
    in_rows: bool,
) -> Iterable[TextEdit]:
    """Add to a mapping, the second of `place`, or to an empty value in the first one."""
    (parent, node), column, offset = place, 0, len(config.text)
    if node.style == "{":
        member = _format_member(config, path, value)
        return _insert_in_brackets(config, node, [member], len(node.entries))
    if node.kind == "mapping":
        column = config.source.get_column(node.entries[0].key.start)
        offset = offset if node is config.root else node.end
    elif node.kind == "list" or node.value is not None:
        raise ValueError("expected a mapping")
    elif parent.entries and node.is_empty and not parent.style:
        column, offset = config.source.get_column(parent.entries[0].key.start) + 2, node.end
    elif parent.entries:
        return [_replace(config, node, _set({}, path, value))]
    elif config.format.is_json:
        member = _format_member(config, path, value)
        return [config.insert_lines_below(offset, ["{", f"  {member}", "}"])]
    lines = _format_lines(config, path, value, column, in_rows)
    return [config.insert_lines_below(offset, lines)]


def _replace(config: ConfigText, node: ConfigNode, value: Any) -> TextEdit:
    if node.kind == "scalar" or node.style:
        gap = " " if node.is_empty else ""
        return TextEdit(node.start, node.end, gap + config.format_value(value, node.style))
    # After the colon, or in a comment, which the proof then misses.
    start = len(config.text[: node.start].rstrip())
    return TextEdit(start, node.end, " " + config.format_value(value))


def _edit_items(config: ConfigText, node: ConfigNode, values: list[Any]) -> Iterator[TextEdit]:
    """Give a list the `values`, at least one; items that stay keep their text and comments."""
    old, new = [repr(item.to_python()) for item in node.items], list(map(repr, values))
    for what, first, last, start, end in SequenceMatcher(None, old, new, False).get_opcodes():
        if what == "equal":
            continue
        at = first + min(last - first, end - start)
        for item, value in zip(node.items[first:at], values[start:end], strict=False):
            yield _replace(config, item, value)
        texts = [config.format_value(value) for value in values[start + at - first : end]]
        if texts and node.style:
            yield from _insert_in_brackets(config, node, texts, at)
        elif texts:
            dash = " " * config.source.get_column(node.start) + "- "
            above = node.items[at - 1].end if at else config.source.find_line_start(node.start) - 1
            yield config.insert_lines_below(above, [dash + text for text in texts])
        elif at < last:
            yield from _remove_items(config, node, at, last)


def _remove_items(config: ConfigText, node: ConfigNode, at: int, end: int) -> Iterator[TextEdit]:
    """Remove items with the commas that would be left over, or with their lines."""
    items, source = node.items, config.source
    if node.style and at:
        yield TextEdit(items[at - 1].end, items[end - 1].end, "")
    elif node.style:
        yield TextEdit(items[0].start, items[end].start, "")
    for item in () if node.style else items[at:end]:
        start, next_line = source.find_line_start(item.start), source.find_next_line(item.end)
        tail = re.compile(rf"[ \t]*({config.format.comment})").match(config.text, item.end)
        if tail:  # the comment stays, and gets the line
            start, next_line = start + len(source.get_indent(item.start)), tail.start(1)
        yield TextEdit(start, next_line, "")


def _insert_in_brackets(
    config: ConfigText, node: ConfigNode, texts: list[str], at: int
) -> Iterator[TextEdit]:
    """Insert children before the one numbered `at`, or after all of them."""
    row, spans = _detect_row(config, node), node.child_spans
    gap = f",{row or ' '}"
    if not spans:
        start = config.text.index(node.style, node.start) + 1
        inner = config.text[start : node.end - 1]
        end = "" if not row or LINE_END_PATTERN.search(inner) else row.removesuffix("  ")
        start += len(inner.rstrip())
        yield TextEdit(start, start, row + gap.join(texts) + end)
    elif at < len(spans):
        start = spans[at][0]
        yield TextEdit(start, start, "".join(text + gap for text in texts))
    else:
        yield from _insert_last(config, spans[-1][1], texts, gap)


def _insert_last(config: ConfigText, last: int, texts: list[str], gap: str) -> Iterator[TextEdit]:
    """Insert children after the one that ends at `last`; lines, after its comma and comment."""
    comment = config.format.comment
    tail = re.compile(rf"(?:(?:\s|{comment})*(,))?(?:[ \t]|{comment})*").match(config.text, last)
    if gap == ", " or not tail:
        yield TextEdit(last, last, "".join(gap + text for text in texts))
        return
    if not tail[1]:
        yield TextEdit(last, last, ",")
    lines = gap.join(texts) + (tail[1] or "")
    yield TextEdit(tail.end(), tail.end(), gap.removeprefix(",") + lines)


def _detect_row(config: ConfigText, node: ConfigNode) -> str:
    """Return the line ending and indent of children with a line of their own; else ""."""
    if node.child_spans:
        start, end = node.child_spans[-1]
        indent = config.source.get_indent(start)
        is_alone = len(indent) == config.source.get_column(start)
        has_row = is_alone and LINE_END_PATTERN.search(config.text, end, node.end)
        return config.newline + indent if has_row else ""
    is_whole = config.format.is_json and node is config.root
    if is_whole or LINE_END_PATTERN.search(config.text, node.start, node.end):
        return config.newline + config.source.get_indent(node.start) + "  "
    return ""


def _format_member(config: ConfigText, path: KeyPath, value: Any) -> str:
    """Return `value` under the keys of `path`, on one line."""
    return config.format_value(_set({}, path, value))[1:-1]


def _format_lines(
    config: ConfigText, path: KeyPath, value: Any, column: int, in_rows: bool
) -> list[str]:
    """Return a line for each key, with the value after the last one, or its items below it."""
    keys = [f"{' ' * (column + 2 * n)}{config.format_value(key)}:" for n, key in enumerate(path)]
    if not in_rows:
        return [*keys[:-1], f"{keys[-1]} {config.format_value(value)}"]
    dash = " " * (column + 2 * len(path)) + "- "
    return [*keys, *(dash + config.format_value(item) for item in value)]


def _set(tree: Any, path: KeyPath, value: Any) -> Any:
    """Return a copy of the tree with one more value; what is no mapping gives way to one."""
    if not path:
        return value
    tree = tree if isinstance(tree, dict) else {}
    return {**tree, path[0]: _set(tree.get(path[0]), path[1:], value)}
