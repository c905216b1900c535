"""Values as nodes that know where they stand in a text, and what a word of YAML stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Scalar = str | int | float | bool | None
Kind = Literal["scalar", "list", "mapping"]

# The core schema of YAML 1.2, in which dates, `yes` and `=` are text. Numbers that no computer
# counts with are text, too, so that whoever wants a number can say that this is none.
NULL = re.compile(r"(?:~|null|Null|NULL)?")
BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
INT = re.compile(r"[-+]?[0-9]{1,18}|0o[0-7]{1,20}|0x[0-9a-fA-F]{1,15}")
FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]{1,40}|[0-9]{1,40}\.[0-9]{0,40})(?:[eE][-+]?[0-9]{1,2})?"
    r"|[-+]?[0-9]{1,40}[eE][-+]?[0-9]{1,2}"
)


class Entry(NamedTuple):
    """A key of a mapping and its value."""

    key: Node
    value: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its span in the text, from its anchor or its first character to its end.

    The end of a block collection is the end of its last value. `style` is a quote, `|` or `>`;
    of a collection, its first bracket; or empty. `size` counts the values inside, those of
    aliases too. In JSON a key may be there twice.
    """

    kind: Kind
    start: int
    end: int
    style: str = ""
    value: Scalar = None
    items: tuple[Node, ...] = ()
    entries: tuple[Entry, ...] = ()
    alias: bool = False
    size: int = 1

    @property
    def empty(self) -> bool:
        """Whether nothing is written here."""
        return self.start == self.end

    @property
    def children(self) -> list[tuple[int, int]]:
        """The spans of the items, or of the entries with their keys."""
        entries = [(entry.key.start, entry.value.end) for entry in self.entries]
        return [(item.start, item.end) for item in self.items] or entries

    @property
    def merges(self) -> bool:
        """Whether this is the key `<<`, whose value is merged into the mapping."""
        return self.value == "<<" and not self.style

    def entry(self, key: str) -> Entry | None:
        """The entry of `key` that is written in this very mapping; of two, the last one counts."""
        own = (e for e in reversed(self.entries) if e.key.value == key and not e.key.merges)
        return next(own, None)

    def at(self, keys: Sequence[str]) -> Node | None:
        """The value that `keys` lead to, through what is written in these very mappings."""
        if not keys:
            return self
        found = self.entry(keys[0])
        return found.value.at(keys[1:]) if found else None

    def members(self) -> dict[str, Entry]:
        """The entries of a mapping by key. What is written here wins over what is merged."""
        found = {str(e.key.value): e for e in self.entries if not e.key.merges}
        for entry in self.entries:
            if entry.key.merges:
                for other in entry.value.items or (entry.value,):
                    found = {**other.members(), **found}
        return found

    def plain(self) -> Any:
        """The value as Python has it."""
        if self.kind == "mapping":
            return {key: entry.value.plain() for key, entry in self.members().items()}
        return [item.plain() for item in self.items] if self.kind == "list" else self.value


def scalar(text: str) -> Scalar:
    """What a text without quotes stands for."""
    if NULL.fullmatch(text):
        return None
    if BOOL.fullmatch(text):
        return text.lower() == "true"
    if INT.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if FLOAT.fullmatch(text):
        return float(text)
    return text
