"""YAML in lines: a key, or an item behind a dash, in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cub.layout.layout import Layout, Path, Splice
from cub.layout.nodes import Node


class Indents(NamedTuple):
    """How far mappings and lists stand in: of a list, its dashes, and the items behind them."""

    mapping: int = 2
    dash: int = 2
    item: int = 4


def indents(here: Layout) -> Indents:
    """The first indents that a file shows below its top level."""
    found = Indents()
    for key, node in reversed(here.root.entries if here.root else ()):
        if node.alias or node.style or node.kind == "scalar":
            continue
        left = here.column(key.start)
        deep = here.column(node.start) - left
        if node.kind == "mapping":
            found = found._replace(mapping=max(deep, 1))
        else:
            item = here.column(node.items[0].start) - left
            found = found._replace(dash=max(deep, 0), item=max(item, deep + 2))
    return found


def key_lines(here: Layout, path: Path, value: Any, left: int, *, tall: bool) -> list[str]:
    """A key for each line, the value behind the last one; if `tall`, a list's items below it."""
    step = indents(here).mapping
    heads = [f"{' ' * (left + n * step)}{here.written(key)}:" for n, key in enumerate(path)]
    if tall and isinstance(value, list) and value:
        return [*heads, *item_lines(here, value, left + (len(path) - 1) * step)]
    return [*heads[:-1], f"{heads[-1]} {here.written(value)}"]


def item_lines(here: Layout, values: list[Any], left: int) -> list[str]:
    """A list's items below a key that stands in column `left`."""
    dash = " " * (left + indents(here).dash) + "- "
    return [dash + here.written(value) for value in values]


def put(here: Layout, node: Node, words: list[str], at: int) -> Splice:
    """New items behind the first `at` ones, with dashes where the others have them."""
    if here.text[node.start] != "-":
        raise ValueError("the list has an anchor")
    dash = " " * here.column(node.start) + "- "
    lines = [dash + word for word in words]
    if at:
        return here.below(node.items[at - 1].end, lines)
    start = here.line_start(node.start)
    return Splice(start, start, here.newline.join([*lines, ""]))


def taken_out(here: Layout, node: Node, gone: Sequence[int]) -> Iterator[Splice]:
    """Items gone, with their lines."""
    for item in (node.items[n] for n in gone):
        yield Splice(here.line_start(item.start), here.next_line(item.end), "")
