"""Hold values as nodes with their position in the text, and take checked values out of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from cub.errors import CubError
from cub.source_text import SourceText
from cub.text import suggest_similar

Scalar = str | int | float | bool | None
NodeKind = Literal["scalar", "list", "mapping"]

# The core schema of YAML 1.2, in which dates, `yes` and `=` are text. Numbers that no computer
# counts with are text, too, so a setting that needs a number can refuse them.
NULL_PATTERN = re.compile(r"(?:~|null|Null|NULL)?")
_BOOL_PATTERN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT_PATTERN = re.compile(r"[-+]?[0-9]{1,18}|0o[0-7]{1,20}|0x[0-9a-fA-F]{1,15}")
_FLOAT_PATTERN = re.compile(
    r"[-+]?(?:\.[0-9]{1,40}|[0-9]{1,40}\.[0-9]{0,40})(?:[eE][-+]?[0-9]{1,2})?"
    r"|[-+]?[0-9]{1,40}[eE][-+]?[0-9]{1,2}"
)


class MappingEntry(NamedTuple):
    """Hold a key of a mapping and its value."""

    key: ConfigNode
    value: ConfigNode


@dataclass(frozen=True, slots=True)
class ConfigNode:
    """Hold a value and its span in the text, from its anchor or first character to its end.

    The end of a block collection is the end of its last value. `style` is a quote, `|` or `>`; of a
    collection, its first bracket; or empty. `value_count` counts the values inside, those of
    aliases too. In JSON a key may occur twice.
    """

    kind: NodeKind
    start: int
    end: int
    style: str = ""
    value: Scalar = None
    items: tuple[ConfigNode, ...] = ()
    entries: tuple[MappingEntry, ...] = ()
    is_alias: bool = False
    value_count: int = 1

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is written here."""
        return self.start == self.end

    @property
    def child_spans(self) -> list[tuple[int, int]]:
        """Return the spans of the items, or of the entries with their keys."""
        entries = [(entry.key.start, entry.value.end) for entry in self.entries]
        return [(item.start, item.end) for item in self.items] or entries

    @property
    def is_merge_key(self) -> bool:
        """Return whether this is the key `<<`, whose value is merged into the mapping."""
        return self.value == "<<" and not self.style

    def find_entry(self, key: str) -> MappingEntry | None:
        """Return the entry of `key` in this very mapping; of two, the last one counts."""
        own = (e for e in reversed(self.entries) if e.key.value == key and not e.key.is_merge_key)
        return next(own, None)

    def collect_entries(self) -> dict[str, MappingEntry]:
        """Return the entries of a mapping by key; those written here override merged ones."""
        entries = {str(e.key.value): e for e in self.entries if not e.key.is_merge_key}
        for entry in self.entries:
            if entry.key.is_merge_key:
                for other in entry.value.items or (entry.value,):
                    entries = {**other.collect_entries(), **entries}
        return entries

    def to_python(self) -> Any:
        """Return the value as Python objects."""
        if self.kind == "mapping":
            return {key: entry.value.to_python() for key, entry in self.collect_entries().items()}
        return [item.to_python() for item in self.items] if self.kind == "list" else self.value


def parse_scalar(text: str) -> Scalar:
    """Return the value of a text without quotes."""
    if NULL_PATTERN.fullmatch(text):
        return None
    if _BOOL_PATTERN.fullmatch(text):
        return text.lower() == "true"
    if _INT_PATTERN.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT_PATTERN.fullmatch(text):
        return float(text)
    return text


@dataclass(frozen=True, slots=True)
class NodeReader:
    """Take values out of the nodes of a file; each method raises CubError for another value."""

    source: SourceText

    def make_error(self, node: ConfigNode, message: str, hint: str = "") -> CubError:
        """Return an error with the place of a node."""
        return self.source.make_error(node.start, message, hint)

    def take_members(self, node: ConfigNode, known: Iterable[str] = ()) -> dict[str, MappingEntry]:
        """Return the entries of a mapping by key; with `known`, no other key is allowed."""
        if node.kind != "mapping":
            raise self.make_error(node, "expected a mapping", "write it like `key: value`")
        entries = node.collect_entries()
        for key, entry in entries.items() if known else ():
            if key not in known:
                raise self.make_error(entry.key, f"unknown key {key!r}", _suggest_key(key, known))
        return entries

    def take_items(self, node: ConfigNode) -> Sequence[ConfigNode]:
        """Return the items of a list."""
        if node.kind != "list":
            raise self.make_error(node, "expected a list", "start each item with `- `")
        return node.items

    def take_text(self, node: ConfigNode) -> str:
        """Return a string."""
        if node.kind != "scalar" or not isinstance(node.value, str):
            raise self.make_error(node, "expected a string", "put it in quotes")
        return node.value

    def take_word(self, node: ConfigNode, words: Sequence[str]) -> str:
        """Return one of several words."""
        if node.value not in words:
            message = f"{node.value!r} is not one of {', '.join(words)}"
            raise self.make_error(node, message, _suggest_key(str(node.value), words))
        return str(node.value)

    def take_count(self, node: ConfigNode) -> int:
        """Return an integer of 0 or more."""
        if type(node.value) is not int or node.value < 0:
            raise self.make_error(node, "expected an integer of at least 0")
        return node.value

    def take_counts(self, node: ConfigNode, names: Sequence[str]) -> dict[str, int]:
        """Return integers by their names."""
        entries = self.take_members(node, names)
        return {name: self.take_count(entry.value) for name, entry in entries.items()}


def _suggest_key(key: str, known: Iterable[str]) -> str:
    """Return a hint with a known word that is similar, or with all of them."""
    similar = suggest_similar(key, known)
    return f"did you mean {similar}?" if similar else f"choose from {', '.join(known)}"
