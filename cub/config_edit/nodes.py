"""Hold values as nodes with their position in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Scalar = str | int | float | bool | None

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
    collection, its first bracket; or empty. In JSON a key may occur twice.
    """

    kind: Literal["scalar", "list", "mapping"]
    start: int
    end: int
    style: str = ""
    value: Scalar = None
    items: tuple[ConfigNode, ...] = ()
    entries: tuple[MappingEntry, ...] = ()
    is_alias: bool = False

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
