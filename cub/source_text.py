"""Decode files that a parser may see, and find lines, columns and places of errors in their text.

What is too big, is not UTF-8, or has control characters or conflict markers is refused here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from cub.errors import CubError

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

    def find_line_start(self, offset: int) -> int:
        """Return where the line of `offset` starts, after a byte order mark."""
        return self.line_starts[self.get_line_number(offset) - 1]

    def find_next_line(self, offset: int) -> int:
        """Return where the line of `offset` ends, after its line ending."""
        starts = self.line_starts
        return [*starts, len(self.text)][self.get_line_number(offset)]

    def get_column(self, offset: int) -> int:
        """Return how many characters are before `offset` in its line."""
        return offset - self.find_line_start(offset)

    def get_indent(self, offset: int) -> str:
        """Return the whitespace at the start of the line of `offset`."""
        line = self.text[self.find_line_start(offset) : offset]
        return line[: -len(line.lstrip(" \t")) or None]

    def format_location(self, offset: int) -> str:
        """Return `file:line:column` of `offset`."""
        column = max(self.get_column(offset), 0) + 1
        return f"{self.path}:{self.get_line_number(offset)}:{column}"

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
