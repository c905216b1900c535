"""The proof that an edited text says what it should, and has kept every comment."""

from __future__ import annotations

import re
from typing import Any

from cub.errors import CubError
from cub.layout.layout import Layout, Splice, layout_of, spliced
from cub.layout.nodes import Node


def proves(here: Layout, done: bytes, wanted: Any) -> bool:
    """Whether the bytes `done` say what is `wanted`, with every comment that is there now."""
    try:
        after = layout_of(done, here.source.path, here.language)
    except CubError:
        return False
    return canonical(after.plain) == canonical(wanted) and _comments(after) == _comments(here)


def canonical(value: Any) -> str:
    """Equal for equal values of equal types. The order of keys has no say."""
    if isinstance(value, dict):
        members = sorted((str(key), canonical(item)) for key, item in value.items())
        return repr(members)
    if isinstance(value, list):
        return repr([canonical(item) for item in value])
    kind = next((k for k in (bool, int, float, str) if isinstance(value, k)), type(None))
    return f"{kind.__name__} {value!r}"


def _comments(here: Layout) -> list[str]:
    """All comments in their order: those outside of every scalar."""
    spans = _spans(here, here.root)
    hidden = spliced(here.text, (Splice(s, e, "x" * (e - s)) for s, e in spans))
    return re.findall(here.language.comment, hidden)


def _spans(here: Layout, node: Node | None) -> list[tuple[int, int]]:
    """Where scalars stand; of a block scalar, the lines of its own."""
    if node is None or node.alias:
        return []
    if node.kind == "scalar":
        start = here.line_end(node.start) if node.style in ("|", ">") else node.start
        return [(start, max(start, node.end))]
    inner = [part for entry in node.entries for part in entry]
    return [span for part in (*node.items, *inner) for span in _spans(here, part)]
