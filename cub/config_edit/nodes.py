"""Hold values as nodes with their position in the text, and decode files that may be parsed.

What is too big, is not UTF-8, or has control characters or conflict markers is refused here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from cub.errors import CubError

Scalar = str | int | float | bool | None
NodeKind = Literal["scalar", "list", "mapping"]

# The core schema of YAML 1.2, in which dates, `yes` and `=` are text. Numbers that no computer
# counts with are text, too, so a setting that needs a number can refuse them.
NULL_PATTERN = re.compile(r"(?:~|null|Null|NULL)?")
BOOL_PATTERN = re.compile(r"true|True|TRUE|false|False|FALSE")
INT_PATTERN = re.compile(r"[-+]?[0-9]{1,18}|0o[0-7]{1,20}|0x[0-9a-fA-F]{1,15}")
FLOAT_PATTERN = re.compile(
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

    def find_node(self, keys: Sequence[str]) -> ConfigNode | None:
        """Return the value at `keys` in these very mappings; None if there is none."""
        if not keys:
            return self
        entry = self.find_entry(keys[0])
        return entry.value.find_node(keys[1:]) if entry else None

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
    if BOOL_PATTERN.fullmatch(text):
        return text.lower() == "true"
    if INT_PATTERN.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if FLOAT_PATTERN.fullmatch(text):
        return float(text)
    return text


MAX_CONFIG_BYTES = 64 * 1024  # a thousand lines; the parser needs less than a second for them
LINE_END_PATTERN = re.compile(r"\r\n|\r|\n")
# The complement of YAML 1.2's c-printable: a far smaller set, which compiles ten times as fast.
_CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# At column 0 these are no YAML, as a sign of "more than one key" or in any other way.
_CONFLICT = re.compile(r"^(?:[<>|]{7}(?: .*)?|={7})$", re.MULTILINE)
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


@dataclass(frozen=True)
class SourceText:
    """Hold a text and its file; offsets count characters, including a byte order mark."""

    text: str
    path: str

    @cached_property
    def line_starts(self) -> list[int]:
        """Return where each line starts, as editors split lines."""
        mark = int(self.text.startswith("\ufeff"))
        return [mark, *(found.end() for found in LINE_END_PATTERN.finditer(self.text))]

    def get_line_number(self, offset: int) -> int:
        """Return the line at `offset`, counted from 1."""
        return max(bisect_right(self.line_starts, offset), 1)

    def format_location(self, offset: int) -> str:
        """Return `file:line:column` of `offset`."""
        line = self.get_line_number(offset)
        return f"{self.path}:{line}:{max(offset - self.line_starts[line - 1], 0) + 1}"

    def make_error(self, offset: int, message: str, hint: str = "") -> CubError:
        """Make an error that names its place."""
        return CubError(message, where=self.format_location(offset), hint=hint)


def decode_source(data: bytes, path: str, max_bytes: int = MAX_CONFIG_BYTES) -> SourceText:
    """Return the text of a file, if a parser may see it."""
    if len(data) > max_bytes:
        raise CubError(
            f"this file has {len(data):,} bytes; cub reads at most {max_bytes:,}",
            where=f"{path}:1:1",
        )
    if data.startswith(_WIDE):
        raise CubError("this file is UTF-16 or UTF-32", where=f"{path}:1:1")
    try:
        source = SourceText(data.decode(), path)
    except UnicodeDecodeError as error:
        before = SourceText(data[: error.start].decode(), path)
        raise before.make_error(
            error.start, f"byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8"
        ) from None
    if control := _CONTROL.search(source.text):
        message = f"U+{ord(control[0]):04X} is not allowed in a text file"
        raise source.make_error(control.start(), message)
    _refuse_conflict_markers(source)
    return source


def _refuse_conflict_markers(source: SourceText) -> None:
    lined = SourceText(LINE_END_PATTERN.sub("\n", source.text), source.path)
    offsets = [match.start() for match in _CONFLICT.finditer(lined.text)]
    if offsets:
        lines = ", ".join(str(lined.get_line_number(offset)) for offset in offsets[1:])
        others = f" (others: line {lines})" if lines else ""
        raise lined.make_error(
            offsets[0],
            f"this line is a git conflict marker{others}",
            "resolve the conflict: keep one side, and delete the marker lines",
        )
