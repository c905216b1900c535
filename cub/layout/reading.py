"""From a YAML text to nodes; what no configuration needs is refused by its place.

ruamel.yaml cuts the text into events. Nothing is built before its size and depth are known, so
that no text costs more than reading it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from cub.errors import CubError
from cub.layout.nodes import Entry, Node, Scalar, scalar
from cub.layout.source import Source

MOST_LEVELS = 32
MOST_VALUES = 10_000
_HINTS = {
    "mapping values are not allowed": 'put a text that has ": " in it in quotes',
    "cannot start any token": "put the text in quotes",
}
_HALF = re.compile("[\ud800-\udfff]")


def parse(source: Source) -> Node | None:
    """The one document of a text; None if there is nothing in it."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reading = _Reading(source, YAML(typ="safe", pure=True).parse(source.text))
    try:
        return reading.document()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise source.error(mark.index if mark else reading.at, *_syntax(error)) from None
    except (YAMLError, ValueError, OverflowError):  # escapes that are no characters
        raise source.error(reading.at, "what follows this is not YAML") from None


@dataclass(slots=True)
class _Reading:
    """One pass over the events; `at` is where the last one began, for errors without a place."""

    source: Source
    events: Iterator[Any]
    at: int = 0
    values: int = 0
    anchors: dict[str, Node | None] = field(default_factory=dict)

    def document(self) -> Node | None:
        self._next()  # the start of the stream
        start = self._next()
        if not _is(start, "DocumentStart"):
            return None
        if start.version not in (None, (1, 2)):
            raise self._error("only YAML 1.2 is read", "delete the line %YAML")
        root = self._node(self._next(), 1)
        self._next()  # the end of the document
        if _is(self._next(), "DocumentStart"):
            raise self._error("a second document begins here, and only one is read")
        return root

    def _next(self) -> Any:
        event = next(self.events)
        self.at = event.start_mark.index
        return event

    def _error(self, message: str, hint: str = "") -> CubError:
        return self.source.error(self.at, message, hint)

    def _node(self, event: Any, level: int) -> Node:
        if _is(event, "Alias"):
            return self._alias(event)
        self._count(1)
        if event.tag is not None:
            tag = re.search(r"!\S*", self.source.text[self.at :])
            raise self._error(f"tags such as {_clip(tag[0] if tag else '!')} are not read")
        if level > MOST_LEVELS:
            raise self._error(f"this is nested more than {MOST_LEVELS} levels deep")
        if event.anchor is not None:
            self.anchors[event.anchor] = None  # until it ends, no alias can mean it
        node = self._value(event, level)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _value(self, event: Any, level: int) -> Node:
        if _is(event, "Scalar"):
            return self._scalar(event)
        return (self._list if _is(event, "SequenceStart") else self._mapping)(event, level)

    def _count(self, more: int) -> None:
        self.values += more
        if self.values > MOST_VALUES:
            raise self._error(
                f"up to here there are more than {MOST_VALUES:,} values, aliases counted in full"
            )

    def _alias(self, event: Any) -> Node:
        node = self.anchors.get(event.anchor)
        if node is None:
            inside = event.anchor in self.anchors
            why = "stands inside what it repeats" if inside else "has no anchor in front of it"
            raise self._error(f"the alias *{_clip(event.anchor)} {why}")
        self._count(node.size)
        return replace(node, start=event.start_mark.index, end=event.end_mark.index, alias=True)

    def _scalar(self, event: Any) -> Node:
        if _HALF.search(event.value):
            raise self._error("an escape in this text is half a character")
        start, end, style = event.start_mark.index, event.end_mark.index, event.style or ""
        if style in ("|", ">"):
            end = start + len(self.source.text[start:end].rstrip())
        return Node("scalar", start, end, style, event.value if style else scalar(event.value))

    def _list(self, event: Any, level: int) -> Node:
        items = []
        while not _is(inner := self._next(), "SequenceEnd"):
            items.append(self._node(inner, level + 1))
        start, flow = event.start_mark.index, bool(event.flow_style)
        end = inner.end_mark.index if flow else items[-1].end
        size = 1 + sum(item.size for item in items)
        return Node("list", start, end, "[" if flow else "", items=tuple(items), size=size)

    def _mapping(self, event: Any, level: int) -> Node:
        found: dict[Scalar, Entry] = {}
        while not _is(inner := self._next(), "MappingEnd"):
            key = self._key(inner, found)
            value = self._settled(key, self._node(self._next(), level + 1))
            if key.merges and not _can_merge(value):
                raise self.source.error(value.start, "only a mapping can be merged with <<")
            found[key.value] = Entry(key, value)
        start, flow, entries = event.start_mark.index, bool(event.flow_style), tuple(found.values())
        end = inner.end_mark.index if flow else entries[-1].value.end
        size = 1 + sum(1 + entry.value.size for entry in entries)
        return Node("mapping", start, end, "{" if flow else "", entries=entries, size=size)

    def _settled(self, key: Node, value: Node) -> Node:
        """An empty value stands behind the colon; the parser takes it to be somewhere below."""
        if not value.empty:
            return value
        at = self.source.text.find(":", key.end, value.start) + 1 or key.end
        return replace(value, start=at, end=at)

    def _key(self, event: Any, found: dict[Scalar, Entry]) -> Node:
        if not _is(event, "Scalar"):
            raise self._error("a key must be a text")
        key = self._node(event, 1)
        if not isinstance(key.value, str):
            shown = _clip(self.source.text[key.start : key.end])
            hint = f'write it as "{shown}"' if shown else "write a key in front of the colon"
            raise self._error(f"the key {shown!r} is not a text", hint)
        if key.value in found:
            line = self.source.line(found[key.value].key.start)
            raise self._error(f"the key {_clip(key.value)!r} is already in line {line}")
        return key


def _is(event: Any, kind: str) -> bool:
    """By its name: ruamel.yaml is imported only when something is parsed."""
    return type(event).__name__ == f"{kind}Event"


def _can_merge(value: Node) -> bool:
    parts = value.items if value.kind == "list" else (value,)
    return all(part.kind == "mapping" for part in parts)


def _syntax(error: Any) -> tuple[str, str]:
    """A parser's complaint in one line, and a hint."""
    words = " ".join(str(error.problem or error.context).split())
    if "'\\t'" in words:
        return "a tab can't stand here", "use spaces"
    return words, next((hint for part, hint in _HINTS.items() if part in words), "")


def _clip(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
