"""Growing and shrinking what stands in brackets, JSON's and YAML's, in the style of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cub.layout.layout import Layout, Path, Splice
from cub.layout.nodes import Node


def put(
    here: Layout, node: Node, make: Callable[[str], Sequence[str]], at: int
) -> Iterator[Splice]:
    """New children in front of the one with the number `at`, or behind all of them.

    `make` gets what stands in front of each child on a line of its own, a line end and blanks,
    or "" where all is on one line.
    """
    row, spans = _row(here, node), node.children
    new = make(row)
    if not spans:
        yield _filled(here, node, new, row)
    elif at < len(spans):
        start = spans[at][0]
        yield Splice(start, start, "".join(f"{text},{row or here.gap}" for text in new))
    elif row:
        yield from _rows(here, spans[-1][1], [row + text for text in new])
    else:
        end = spans[-1][1]
        yield Splice(end, end, "".join(_comma(here, spans) + text for text in new))


def taken_out(node: Node, gone: Sequence[int]) -> Iterator[Splice]:
    """Children gone, each with the comma that would be left over; at least one of them stays."""
    spans = node.children
    first = min(set(range(len(spans))) - set(gone), default=0)
    for n in gone:
        start, end = spans[n]
        yield Splice(spans[n - 1][1], end, "") if n > first else Splice(start, spans[n + 1][0], "")


def member(here: Layout, path: Path, value: Any, row: str = "") -> str:
    """`value` under the keys of `path`; new mappings get lines of their own behind `row`, as for
    `put`.
    """
    name = f"{here.written(path[0])}:{here.gap}"
    if len(path) == 1:
        return name + here.written(value)
    inner = row + _unit(here) if row else ""
    return f"{name}{{{inner}{member(here, path[1:], value, inner)}{row}}}"


def whole(here: Layout, path: Path, value: Any) -> str:
    """`value` under the keys of `path`, as all that a file of JSON says."""
    row = f"{here.newline}  "
    return f"{{{row}{member(here, path, value, row)}{here.newline}}}"


def _rows(here: Layout, last: int, rows: list[str]) -> Iterator[Splice]:
    """New lines behind the one of the last child, which ends at `last`, and its comment."""
    behind = here.skip(last, r"\s")
    closed = here.text[behind] == ","
    if not closed:
        yield Splice(last, last, ",")
    place = here.skip(behind + 1 if closed else last, r" \t")
    yield Splice(place, place, ",".join(rows) + ("," if closed else ""))


def _filled(here: Layout, node: Node, new: Sequence[str], row: str) -> Splice:
    """The first children of empty brackets."""
    start = here.text.index(node.style, node.start) + 1
    at = start + len(here.text[start : node.end - 1].rstrip())
    if not row:
        return Splice(at, at, f",{here.gap}".join(new))
    closing = "" if _is_cut(here, at, node.end) else here.newline + here.indent(node.start)
    return Splice(at, at, ",".join(row + text for text in new) + closing)


def _row(here: Layout, node: Node) -> str:
    """What stands in front of each child, if each has a line of its own; else ""."""
    if node.children:
        start, end = node.children[-1]
        indent = here.indent(start)
        alone = len(indent) == here.column(start) and _is_cut(here, end, node.end)
        return here.newline + indent if alone else ""
    outer = here.root.start if here.root else 0
    apart = node is here.root or _is_cut(here, outer, node.start)
    in_rows = here.language.json and node.kind == "mapping" and apart
    if in_rows or _is_cut(here, node.start, node.end):
        return here.newline + here.indent(node.start) + _unit(here)
    return ""


def _unit(here: Layout) -> str:
    """How much further the inside of brackets is indented."""
    if here.root is None or not here.root.children:
        return "  "
    outer, inner = here.indent(here.root.start), here.indent(here.root.children[0][0])
    return inner.removeprefix(outer) or "  "


def _comma(here: Layout, spans: Sequence[tuple[int, int]]) -> str:
    """What separates children on one line, as between the last two."""
    between = here.text[spans[-2][1] : spans[-1][0]] if spans[1:] else ""
    return between if re.fullmatch(r" *, *", between) else f",{here.gap}"


def _is_cut(here: Layout, start: int, end: int) -> bool:
    return bool(re.search(r"[\r\n]", here.text[start:end]))
