"""Take checked values out of the YAML of a script; what is not valid is an error with its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from cub.config_edit.nodes import ConfigNode, MappingEntry
from cub.config_edit.yaml_text import parse_yaml
from cub.errors import CubError
from cub.source_text import SourceText, decode_source
from cub.text import suggest_known

_MAX_SCRIPT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class NodeReader:
    """Take values out of the nodes of a file; each method raises CubError for another value."""

    source: SourceText

    @classmethod
    def parse(cls, data: bytes, path: str, key: str) -> tuple[Self, ConfigNode]:
        """Return the reader of a script, and the value of the one key that it has.

        Raises CubError, with the position, if it is not valid.
        """
        source, hint = decode_source(data, path, _MAX_SCRIPT_BYTES), f"start it with `{key}:`"
        root = parse_yaml(source)
        if root is None:
            raise CubError("this script is empty", where=path, hint=hint)
        entry = cls(source).take_members(root, (key,)).get(key)
        if entry is None:
            raise source.make_error(root.start, f"this script has no {key}", hint)
        return cls(source), entry.value

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
                raise self.make_error(entry.key, f"unknown key {key!r}", suggest_known(key, known))
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
            raise self.make_error(node, message, suggest_known(str(node.value), words))
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
