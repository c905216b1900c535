"""Growing and shrinking what stands in brackets, JSON's and YAML's, in the style of the text.

A list in a text made into another one: items that stay keep their text and comments.

YAML in lines: a key, or an item behind a dash, in each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from cub.config_edit.config_text import ConfigText, KeyPath, TextEdit
from cub.config_edit.nodes import ConfigNode


def insert_in_brackets(
    config: ConfigText, node: ConfigNode, make: Callable[[str], Sequence[str]], at: int
) -> Iterator[TextEdit]:
    """Yield edits that insert children before the one numbered `at`, or after all of them.

    `make` gets the text before each child on a line of its own, a line ending and whitespace, or ""
    if all children are on one line.
    """
    row, spans = _row(config, node), node.child_spans
    new = make(row)
    if not spans:
        yield _filled(config, node, new, row)
    elif at < len(spans):
        start = spans[at][0]
        yield TextEdit(
            start, start, "".join(f"{text},{row or config.separator_space}" for text in new)
        )
    elif row:
        yield from _rows(config, spans[-1][1], [row + text for text in new])
    else:
        end = spans[-1][1]
        yield TextEdit(end, end, "".join(_comma(config, spans) + text for text in new))


def remove_from_brackets(node: ConfigNode, indexes: Sequence[int]) -> Iterator[TextEdit]:
    """Children gone, each with the comma that would be left over; at least one of them stays."""
    spans = node.child_spans
    first = min(set(range(len(spans))) - set(indexes), default=0)
    for n in indexes:
        start, end = spans[n]
        yield (
            TextEdit(spans[n - 1][1], end, "")
            if n > first
            else TextEdit(start, spans[n + 1][0], "")
        )


def format_member(config: ConfigText, path: KeyPath, value: Any, row: str = "") -> str:
    """Return `value` under the keys of `path`; new mappings get lines of their own after `row`."""
    name = f"{config.format_value(path[0])}:{config.separator_space}"
    if len(path) == 1:
        return name + config.format_value(value)
    inner = row + _unit(config) if row else ""
    return f"{name}{{{inner}{format_member(config, path[1:], value, inner)}{row}}}"


def format_object(config: ConfigText, path: KeyPath, value: Any) -> str:
    """Return `value` under the keys of `path` as a whole JSON file."""
    row = f"{config.newline}  "
    return f"{{{row}{format_member(config, path, value, row)}{config.newline}}}"


def _rows(config: ConfigText, last: int, rows: list[str]) -> Iterator[TextEdit]:
    """Yield new lines after that of the last child, which ends at `last`, and its comment."""
    behind = config.skip_blanks(last, r"\s")
    closed = config.text[behind] == ","
    if not closed:
        yield TextEdit(last, last, ",")
    place = config.skip_blanks(behind + 1 if closed else last, r" \t")
    yield TextEdit(place, place, ",".join(rows) + ("," if closed else ""))


def _filled(config: ConfigText, node: ConfigNode, new: Sequence[str], row: str) -> TextEdit:
    """Return the first children of empty brackets."""
    start = config.text.index(node.style, node.start) + 1
    at = start + len(config.text[start : node.end - 1].rstrip())
    if not row:
        return TextEdit(at, at, f",{config.separator_space}".join(new))
    closing = (
        "" if _is_cut(config, at, node.end) else config.newline + config.get_indent(node.start)
    )
    return TextEdit(at, at, ",".join(row + text for text in new) + closing)


def _row(config: ConfigText, node: ConfigNode) -> str:
    """Return the text before each child, if each has a line of its own; else ""."""
    if node.child_spans:
        start, end = node.child_spans[-1]
        indent = config.get_indent(start)
        alone = len(indent) == config.get_column(start) and _is_cut(config, end, node.end)
        return config.newline + indent if alone else ""
    outer = config.root.start if config.root else 0
    apart = node is config.root or _is_cut(config, outer, node.start)
    in_rows = config.format.is_json and node.kind == "mapping" and apart
    if in_rows or _is_cut(config, node.start, node.end):
        return config.newline + config.get_indent(node.start) + _unit(config)
    return ""


def _unit(config: ConfigText) -> str:
    """Return how much further the inside of brackets is indented."""
    if config.root is None or not config.root.child_spans:
        return "  "
    outer, inner = (
        config.get_indent(config.root.start),
        config.get_indent(config.root.child_spans[0][0]),
    )
    return inner.removeprefix(outer) or "  "


def _comma(config: ConfigText, spans: Sequence[tuple[int, int]]) -> str:
    """Return what separates children on one line, as between the last two."""
    between = config.text[spans[-2][1] : spans[-1][0]] if spans[1:] else ""
    return between if re.fullmatch(r" *, *", between) else f",{config.separator_space}"


def _is_cut(config: ConfigText, start: int, end: int) -> bool:
    return bool(re.search(r"[\r\n]", config.text[start:end]))


class _Change(NamedTuple):
    """Replace the `items` after the first `at` ones with `values`."""

    at: int
    items: tuple[ConfigNode, ...]
    values: list[Any]


def make_list_edits(config: ConfigText, node: ConfigNode, values: list[Any]) -> Iterator[TextEdit]:
    """Yield the edits that give the list `node` the `values`, at least one.

    ValueError for items that are elsewhere or span several lines.
    """
    gone: list[int] = []
    there = {repr(item.to_python()): config.text[item.start : item.end] for item in node.items}
    for at, items, wanted in _changes(node, values):
        both = min(len(items), len(wanted))
        for item, value in zip(items, wanted, strict=False):
            if item.is_alias or item.is_empty or not (item.style or item.kind == "scalar"):
                raise ValueError("this item can't be replaced where it stands")
            yield TextEdit(item.start, item.end, _word(config, there, value, item.style))
        gone += range(at + both, at + len(items))
        if words := [_word(config, there, value) for value in wanted[both:]]:
            yield from _put(config, node, words, at + both)
    yield from (
        remove_from_brackets(node, gone) if node.style else remove_item_lines(config, node, gone)
    )


def _changes(node: ConfigNode, values: list[Any]) -> Iterator[_Change]:
    old, new = [repr(item.to_python()) for item in node.items], list(map(repr, values))
    for what, first, last, start, end in SequenceMatcher(None, old, new, False).get_opcodes():
        if what != "equal":
            yield _Change(first, node.items[first:last], values[start:end])


def _word(config: ConfigText, there: dict[str, str], value: Any, quote: str = "") -> str:
    """Return a value as the list already spells it, if on one line, or in these quotes."""
    word = there.get(repr(value), "")
    return word if word and word.isprintable() else config.format_value(value, quote)


def _put(config: ConfigText, node: ConfigNode, words: list[str], at: int) -> Iterator[TextEdit]:
    """Yield the edits that add new items after the first `at` ones."""
    if node.style:
        return insert_in_brackets(config, node, lambda _: words, at)
    return iter([insert_item_lines(config, node, words, at)])


class YamlIndents(NamedTuple):
    """Hold how far mappings and lists are indented: a list's dashes, and the items after them."""

    mapping: int = 2
    dash: int = 2
    item: int = 4


def detect_indents(config: ConfigText) -> YamlIndents:
    """Return the first indents that a file has below its top level."""
    found = YamlIndents()
    for key, node in reversed(config.root.entries if config.root else ()):
        if node.is_alias or node.style or node.kind == "scalar":
            continue
        left = config.get_column(key.start)
        deep = config.get_column(node.start) - left
        if node.kind == "mapping":
            found = found._replace(mapping=max(deep, 1))
        else:
            item = config.get_column(node.items[0].start) - left
            found = found._replace(dash=max(deep, 0), item=max(item, deep + 2))
    return found


def format_key_lines(
    config: ConfigText, path: KeyPath, value: Any, column: int, *, one_item_per_line: bool
) -> list[str]:
    """Return a line for each key, with the value after the last one.

    If `one_item_per_line`, a list's items follow below it.
    """
    step = detect_indents(config).mapping
    heads = [
        f"{' ' * (column + n * step)}{config.format_value(key)}:" for n, key in enumerate(path)
    ]
    if one_item_per_line and isinstance(value, list) and value:
        return [*heads, *format_item_lines(config, value, column + (len(path) - 1) * step)]
    return [*heads[:-1], f"{heads[-1]} {config.format_value(value)}"]


def format_item_lines(config: ConfigText, values: list[Any], column: int) -> list[str]:
    """Return a list's items below a key in column `column`."""
    dash = " " * (column + detect_indents(config).dash) + "- "
    return [dash + config.format_value(value) for value in values]


def insert_item_lines(config: ConfigText, node: ConfigNode, texts: list[str], at: int) -> TextEdit:
    """Return the edit that adds items after the first `at` ones, with dashes in their column."""
    if config.text[node.start] != "-":
        raise ValueError("the list has an anchor")
    dash = " " * config.get_column(node.start) + "- "
    lines = [dash + word for word in texts]
    if at:
        return config.insert_lines_below(node.items[at - 1].end, lines)
    start = config.find_line_start(node.start)
    return TextEdit(start, start, config.newline.join([*lines, ""]))


def remove_item_lines(
    config: ConfigText, node: ConfigNode, indexes: Sequence[int]
) -> Iterator[TextEdit]:
    """Items gone, with their lines."""
    for item in (node.items[n] for n in indexes):
        yield TextEdit(config.find_line_start(item.start), config.find_next_line(item.end), "")
