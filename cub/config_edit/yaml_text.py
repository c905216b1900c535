"""Parse YAML into nodes, and format values as YAML on one line.

Nothing is built before its size and depth are known, so that no text costs more than reading
it. What no configuration needs is refused with its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from cub.config_edit.nodes import ConfigNode, MappingEntry, Scalar, parse_scalar
from cub.config_edit.yaml_events import YamlSyntaxError, is_event, iter_yaml_events
from cub.errors import CubError
from cub.source_text import SourceText
from cub.text import truncate_text

MAX_YAML_LEVELS = 32
MAX_YAML_VALUES = 10_000
_HALF = re.compile("[\ud800-\udfff]")


def parse_yaml(source: SourceText) -> ConfigNode | None:
    """Return the one document of a text; None if there is nothing in it."""
    if not source.text.strip(" \t\r\n"):  # no file, or an empty one: the parser is slow to import
        return None
    reading = _Reading(source, iter_yaml_events(source.text))
    try:
        return reading.document()
    except YamlSyntaxError as error:
        at = reading.at if error.offset is None else error.offset
        raise source.make_error(at, error.message, error.hint) from None


@dataclass(slots=True)
class _Reading:
    """Read the events once; `at` is where the last one began, for errors without a place."""

    source: SourceText
    events: Iterator[Any]
    at: int = 0
    values: int = 0
    anchors: dict[str, ConfigNode | None] = field(default_factory=dict)

    def document(self) -> ConfigNode | None:
        self._next()  # the start of the stream
        start = self._next()
        if not is_event(start, "DocumentStart"):
            return None
        if start.version not in (None, (1, 2)):
            self.at = start.end_mark.index - len("---")
            raise self._error("cub reads only YAML 1.2", "delete the line %YAML")
        root = self._node(self._next(), 1)
        self._next()  # the end of the document
        if is_event(self._next(), "DocumentStart"):
            raise self._error("a second document starts here; cub reads only one")
        return root

    def _next(self) -> Any:
        event = next(self.events)
        self.at = event.start_mark.index
        return event

    def _error(self, message: str, hint: str = "") -> CubError:
        return self.source.make_error(self.at, message, hint)

    def _node(self, event: Any, level: int) -> ConfigNode:
        if is_event(event, "Alias"):
            return self._alias(event, level)
        self._count(1, level)
        if event.tag is not None:
            tag = re.search(r"!\S*", self.source.text[self.at :])
            raise self._error(
                f"tags such as {truncate_text(tag[0], 40) if tag else '!'} are not supported"
            )
        if event.anchor is not None:
            self.anchors[event.anchor] = None  # until it ends, no alias can mean it
        if is_event(event, "Scalar"):
            node = self._scalar(event)
        else:
            node = (self._list if is_event(event, "SequenceStart") else self._mapping)(event, level)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _count(self, more: int, level: int) -> None:
        self.values += more
        if level > MAX_YAML_LEVELS:
            raise self._error(f"nested more than {MAX_YAML_LEVELS} levels deep")
        if self.values > MAX_YAML_VALUES:
            raise self._error(
                f"up to this line, the file has more than {MAX_YAML_VALUES:,} values, "
                "aliases counted in full"
            )

    def _alias(self, event: Any, level: int) -> ConfigNode:
        node = self.anchors.get(event.anchor)
        if node is None:
            inside = event.anchor in self.anchors
            why = "is inside the value that it repeats" if inside else "has no anchor before it"
            raise self._error(f"the alias *{truncate_text(event.anchor, 40)} {why}")
        values, levels = _measure(node)
        self._count(values, level - 1 + levels)
        return replace(node, start=event.start_mark.index, end=event.end_mark.index, is_alias=True)

    def _scalar(self, event: Any) -> ConfigNode:
        if _HALF.search(event.value):
            raise self._error("an escape in this string is half a character")
        start, end, style = event.start_mark.index, event.end_mark.index, event.style or ""
        if style in ("|", ">"):
            end = start + len(self.source.text[start:end].rstrip())
        value = event.value if style else parse_scalar(event.value)
        return ConfigNode("scalar", start, end, style, value)

    def _list(self, event: Any, level: int) -> ConfigNode:
        items = []
        while not is_event(inner := self._next(), "SequenceEnd"):
            items.append(self._node(inner, level + 1))
        start, style = event.start_mark.index, "[" if event.flow_style else ""
        end = inner.end_mark.index if style else items[-1].end
        return ConfigNode("list", start, end, style, items=tuple(items))

    def _mapping(self, event: Any, level: int) -> ConfigNode:
        entries: dict[Scalar, MappingEntry] = {}
        while not is_event(inner := self._next(), "MappingEnd"):
            key = self._key(inner, entries)
            value = self._place_empty_value(key, self._node(self._next(), level + 1))
            merged = value.items if value.kind == "list" else (value,)
            if key.is_merge_key and any(part.kind != "mapping" for part in merged):
                raise self.source.make_error(value.start, "only a mapping can be merged with <<")
            entries[key.value] = MappingEntry(key, value)
        pairs = tuple(entries.values())
        start, style = event.start_mark.index, "{" if event.flow_style else ""
        end = inner.end_mark.index if style else pairs[-1].value.end
        return ConfigNode("mapping", start, end, style, entries=pairs)

    def _place_empty_value(self, key: ConfigNode, value: ConfigNode) -> ConfigNode:
        """Move an empty value to its colon; the parser takes it to be somewhere below."""
        if not value.is_empty:
            return value
        at = self.source.text.find(":", key.end, value.start) + 1 or key.end
        return replace(value, start=at, end=at)

    def _key(self, event: Any, entries: dict[Scalar, MappingEntry]) -> ConfigNode:
        if not is_event(event, "Scalar"):
            raise self._error("a key must be a string")
        key = self._node(event, 1)
        if not isinstance(key.value, str):
            key_text = truncate_text(self.source.text[key.start : key.end], 40)
            hint = f'write it as "{key_text}"' if key_text else "write a key before the colon"
            raise self._error(f"the key {key_text!r} is not a string", hint)
        if key.value in entries:
            line = self.source.get_line_number(entries[key.value].key.start)
            raise self._error(f"the key {truncate_text(key.value, 40)!r} is already on line {line}")
        return key


def _measure(node: ConfigNode) -> tuple[int, int]:
    """Return how many values and levels a node has, those of aliases in it too."""
    parts = [_measure(part) for part in (*node.items, *(entry.value for entry in node.entries))]
    values = 1 + len(node.entries) + sum(count for count, _ in parts)
    return values, 1 + max((levels for _, levels in parts), default=0)


_PLAIN = re.compile(r"[\w./](?:[\w./+=@%^~-]| (?=[\w./-]))*")
# Words, numbers and dates in YAML 1.1, which other programs read.
_OLDER = re.compile(r"yes|no|on|off|\.inf|\.nan|0[bx][\da-f_]+|[\d._-]+(e[+-]?\d+)?", re.IGNORECASE)
_INVISIBLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def format_yaml(value: Any, quote: str = "") -> str:
    """Format a scalar, a list or a mapping; `quote` is used for strings where possible."""
    if isinstance(value, dict):
        inner = (f"{format_yaml(str(key))}: {format_yaml(item)}" for key, item in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(format_yaml, value)) + "]"
    if isinstance(value, str):
        return _format_text(value, quote)
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _format_text(text: str, quote: str) -> str:
    if quote == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    plain = _PLAIN.fullmatch(text) and text.isprintable() and parse_scalar(text) == text
    if plain and quote != '"' and not _OLDER.fullmatch(text):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
