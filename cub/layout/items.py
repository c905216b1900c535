"""A list in a text made into another one: items that stay keep their text and comments."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from cub.layout import brackets, lines
from cub.layout.layout import Layout, Splice
from cub.layout.nodes import Node


class _Change(NamedTuple):
    """The `items` that stand behind the first `at` ones are to become `values`."""

    at: int
    items: tuple[Node, ...]
    values: list[Any]


def list_splices(here: Layout, node: Node, values: list[Any]) -> Iterator[Splice]:
    """What to do to the list `node`, so that it has `values`, at least one.

    ValueError for items that stand elsewhere or over several lines.
    """
    gone: list[int] = []
    there = {repr(item.plain()): here.text[item.start : item.end] for item in node.items}
    for at, items, wanted in _changes(node, values):
        both = min(len(items), len(wanted))
        for item, value in zip(items, wanted, strict=False):
            if item.alias or item.empty or not (item.style or item.kind == "scalar"):
                raise ValueError("this item can't be replaced where it stands")
            yield Splice(item.start, item.end, _word(here, there, value, item.style))
        gone += range(at + both, at + len(items))
        if words := [_word(here, there, value) for value in wanted[both:]]:
            yield from _put(here, node, words, at + both)
    yield from (brackets.taken_out(node, gone) if node.style else lines.taken_out(here, node, gone))


def _changes(node: Node, values: list[Any]) -> Iterator[_Change]:
    old, new = [repr(item.plain()) for item in node.items], list(map(repr, values))
    for what, first, last, start, end in SequenceMatcher(None, old, new, False).get_opcodes():
        if what != "equal":
            yield _Change(first, node.items[first:last], values[start:end])


def _word(here: Layout, there: dict[str, str], value: Any, quote: str = "") -> str:
    """A value as it stands in the list already, if on one line, or in these quotes."""
    word = there.get(repr(value), "")
    return word if word and word.isprintable() else here.written(value, quote)


def _put(here: Layout, node: Node, words: list[str], at: int) -> Iterator[Splice]:
    """New items behind the first `at` ones."""
    if node.style:
        return brackets.put(here, node, lambda _: words, at)
    return iter([lines.put(here, node, words, at)])
