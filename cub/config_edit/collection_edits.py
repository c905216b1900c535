"""Grow and shrink lists and mappings in a text, in brackets or in lines, in its own style."""

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
    row, spans = _detect_row(config, node), node.child_spans
    texts = make(row)
    if not spans:
        yield _fill_brackets(config, node, texts, row)
    elif at < len(spans):
        start = spans[at][0]
        gap = row or config.separator_space
        yield TextEdit(start, start, "".join(f"{text},{gap}" for text in texts))
    elif row:
        yield from _insert_rows(config, spans[-1][1], [row + text for text in texts])
    else:
        end = spans[-1][1]
        yield TextEdit(end, end, "".join(_detect_comma(config, spans) + text for text in texts))


def remove_from_brackets(node: ConfigNode, indexes: Sequence[int]) -> Iterator[TextEdit]:
    """Remove children, each with the comma that would be left over; at least one of them stays."""
    spans = node.child_spans
    first = min(set(range(len(spans))) - set(indexes), default=0)
    for n in indexes:
        start, end = spans[n]
        before = n > first
        yield TextEdit(spans[n - 1][1] if before else start, end if before else spans[n + 1][0], "")


def format_member(config: ConfigText, path: KeyPath, value: Any, row: str = "") -> str:
    """Return `value` under the keys of `path`; new mappings get lines of their own after `row`."""
    name = f"{config.format_value(path[0])}:{config.separator_space}"
    if len(path) == 1:
        return name + config.format_value(value)
    inner = row + _detect_indent(config) if row else ""
    return f"{name}{{{inner}{format_member(config, path[1:], value, inner)}{row}}}"


def format_object(config: ConfigText, path: KeyPath, value: Any) -> str:
    """Return `value` under the keys of `path` as a whole JSON file."""
    row = f"{config.newline}  "
    return f"{{{row}{format_member(config, path, value, row)}{config.newline}}}"


def _insert_rows(config: ConfigText, last: int, rows: list[str]) -> Iterator[TextEdit]:
    """Insert lines after the one of the last child, which ends at `last`, and its comment."""
    end = config.skip_blanks(last, r"\s")
    has_comma = config.text[end] == ","
    if not has_comma:
        yield TextEdit(last, last, ",")
    offset = config.skip_blanks(end + 1 if has_comma else last, r" \t")
    yield TextEdit(offset, offset, ",".join(rows) + ("," if has_comma else ""))


def _fill_brackets(
    config: ConfigText, node: ConfigNode, texts: Sequence[str], row: str
) -> TextEdit:
    """Insert the first children of empty brackets."""
    start = config.text.index(node.style, node.start) + 1
    offset = start + len(config.text[start : node.end - 1].rstrip())
    if not row:
        return TextEdit(offset, offset, f",{config.separator_space}".join(texts))
    is_closed = _has_line_break(config, offset, node.end)
    closing = "" if is_closed else config.newline + config.get_indent(node.start)
    return TextEdit(offset, offset, ",".join(row + text for text in texts) + closing)


def _detect_row(config: ConfigText, node: ConfigNode) -> str:
    """Return what is before each child if each has a line of its own; else ""."""
    if node.child_spans:
        start, end = node.child_spans[-1]
        indent = config.get_indent(start)
        is_alone = len(indent) == config.get_column(start)
        is_alone = is_alone and _has_line_break(config, end, node.end)
        return config.newline + indent if is_alone else ""
    outer = config.root.start if config.root else 0
    is_apart = node is config.root or _has_line_break(config, outer, node.start)
    in_rows = config.format.is_json and node.kind == "mapping" and is_apart
    if in_rows or _has_line_break(config, node.start, node.end):
        return config.newline + config.get_indent(node.start) + _detect_indent(config)
    return ""


def _detect_indent(config: ConfigText) -> str:
    """Return how much further the inside of brackets is indented."""
    if config.root is None or not config.root.child_spans:
        return "  "
    inner = config.get_indent(config.root.child_spans[0][0])
    return inner.removeprefix(config.get_indent(config.root.start)) or "  "


def _detect_comma(config: ConfigText, spans: Sequence[tuple[int, int]]) -> str:
    """Return what separates children on one line, as between the last two."""
    between = config.text[spans[-2][1] : spans[-1][0]] if spans[1:] else ""
    return between if re.fullmatch(r" *, *", between) else f",{config.separator_space}"


def _has_line_break(config: ConfigText, start: int, end: int) -> bool:
    return bool(re.search(r"[\r\n]", config.text[start:end]))


def make_list_edits(config: ConfigText, node: ConfigNode, values: list[Any]) -> Iterator[TextEdit]:
    """Yield the edits that give the list `node` the `values`, at least one.

    Items that stay keep their text and comments. ValueError for items that are elsewhere or span
    several lines.
    """
    removed: list[int] = []
    words = {repr(item.to_python()): config.text[item.start : item.end] for item in node.items}
    old, new = [repr(item.to_python()) for item in node.items], list(map(repr, values))
    for what, first, last, start, end in SequenceMatcher(None, old, new, False).get_opcodes():
        if what == "equal":
            continue
        common = min(last - first, end - start)
        for item, value in zip(node.items[first:last], values[start:end], strict=False):
            if item.is_alias or item.is_empty or not (item.style or item.kind == "scalar"):
                raise ValueError("cannot replace this item in place")
            yield TextEdit(item.start, item.end, _format_item(config, words, value, item.style))
        removed += range(first + common, last)
        texts = [_format_item(config, words, value) for value in values[start + common : end]]
        if texts and node.style:
            yield from insert_in_brackets(config, node, lambda _: texts, first + common)  # noqa: B023
        elif texts:
            yield insert_item_lines(config, node, texts, first + common)
    if node.style:
        yield from remove_from_brackets(node, removed)
    else:
        yield from remove_item_lines(config, node, removed)


def _format_item(config: ConfigText, words: dict[str, str], value: Any, quote: str = "") -> str:
    """Return a value as the list already spells it, if on one line, or in these quotes."""
    word = words.get(repr(value), "")
    return word if word and word.isprintable() else config.format_value(value, quote)


class YamlIndents(NamedTuple):
    """Hold how far mappings and lists are indented: a list's dashes, and the items after them."""

    mapping: int = 2
    dash: int = 2
    item: int = 4


def detect_indents(config: ConfigText) -> YamlIndents:
    """Return the first indents that a file has below its top level."""
    indents = YamlIndents()
    for key, node in reversed(config.root.entries if config.root else ()):
        if node.is_alias or node.style or node.kind == "scalar":
            continue
        column = config.get_column(key.start)
        indent = config.get_column(node.start) - column
        if node.kind == "mapping":
            indents = indents._replace(mapping=max(indent, 1))
        else:
            item = config.get_column(node.items[0].start) - column
            indents = indents._replace(dash=max(indent, 0), item=max(item, indent + 2))
    return indents


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
    """Remove items, with their lines."""
    for item in (node.items[n] for n in indexes):
        yield TextEdit(config.find_line_start(item.start), config.find_next_line(item.end), "")
