"""A file's bytes as text, with the place of every offset.

What is too big, is no UTF-8, has control characters or conflict markers is refused here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from cub.errors import CubError

MOST_BYTES = 64 * 1024  # a thousand lines; the parser needs less than a second for them
LINE_END = re.compile(r"\r\n|\r|\n")
# The complement of YAML 1.2's c-printable: a far smaller set, which compiles ten times as fast.
_CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# At column 0 these are no YAML, as a sign of "more than one key" or in any other way.
_CONFLICT = re.compile(r"^(?:[<>|]{7}(?: .*)?|={7})$", re.MULTILINE)
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


@dataclass(frozen=True)
class Source:
    """A text and the file it stands in; offsets count characters, a byte order mark too."""

    text: str
    path: str

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins, as editors cut lines."""
        mark = int(self.text.startswith("\ufeff"))
        return [mark, *(found.end() for found in LINE_END.finditer(self.text))]

    def line(self, offset: int) -> int:
        """The line at `offset`, counted from 1."""
        return max(bisect_right(self.starts, offset), 1)

    def where(self, offset: int) -> str:
        """`file:line:column` of `offset`."""
        line = self.line(offset)
        return f"{self.path}:{line}:{max(offset - self.starts[line - 1], 0) + 1}"

    def error(self, offset: int, message: str, hint: str = "") -> CubError:
        """An error that names its place."""
        return CubError(message, where=self.where(offset), hint=hint)


def read(data: bytes, path: str, most: int = MOST_BYTES) -> Source:
    """The text of a file, if a parser may see it."""
    if len(data) > most:
        raise CubError(
            f"this file has {len(data):,} bytes, and cub reads no more than {most:,}",
            where=f"{path}:1:1",
        )
    if data.startswith(_WIDE):
        raise CubError("this is UTF-16 or UTF-32: save it as UTF-8", where=f"{path}:1:1")
    try:
        source = Source(data.decode(), path)
    except UnicodeDecodeError as error:
        before = Source(data[: error.start].decode(), path)
        raise before.error(
            error.start, f"byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8"
        ) from None
    if found := _CONTROL.search(source.text):
        raise source.error(found.start(), f"U+{ord(found[0]):04X} is no character of a text")
    _refuse_conflict(source)
    return source


def _refuse_conflict(source: Source) -> None:
    lined = Source(LINE_END.sub("\n", source.text), source.path)
    places = [found.start() for found in _CONFLICT.finditer(lined.text)]
    if places:
        lines = ", ".join(str(lined.line(place)) for place in places[1:])
        others = f" (others: line {lines})" if lines else ""
        raise lined.error(
            places[0],
            f"this line is a conflict marker of git's{others}",
            "resolve the conflict: keep one side, and delete the marker lines",
        )
