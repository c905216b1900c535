"""Hold a file's exact bytes as lines, with what a line-based reader needs to know of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from cub.edit.block_boundaries import BlockBoundaries, find_boundaries
from cub.edit.blocks import Block, parse_blocks
from cub.errors import CubError

# CommonMark 2.1: a line ends at \n, \r or \r\n, and nowhere else (not at NEL, U+2028 or \f).
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINE_END = re.compile(rb"\r\n|\n|\r")
BOM = b"\xef\xbb\xbf"
MAX_BYTES = 1024 * 1024  # whatever is in them, so many are edited in seconds
_WIDE_MARKS = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff", b"\xff\xfe", b"\xfe\xff")
_BULLET = re.compile(rb"^([ \t]*)[*+](?=[ \t]|$)")
_FENCE = re.compile(rb"---[ \t]*")
_FENCE_END = re.compile(rb"(?:---|\.\.\.)[ \t]*")
_YAML_KEY = re.compile(
    rb"""(?:(?:[^\s#\-\[\]{},:"'`<>@%&*!|]|-(?=[^\s-]))(?:[^:]|:(?=\S))*|"[^"]*"|'[^']*')"""
    rb"""\s*:(?:[ \t]|$)"""
)
_YAML_OTHER = re.compile(rb"[ \t].*|#.*|-(?:[ \t].*)?|[\]}].*|")


def split_lines(data: bytes) -> tuple[bytes, ...]:
    """Cut after every CommonMark line ending; `b"".join` of the result is `data` again."""
    return tuple(_LINE.findall(data))


def count_lines(data: bytes) -> int:
    """Return how many lines `split_lines` cuts `data` into."""
    ends = count_line_ends(data, 0, len(data))
    return ends + (not data.endswith((b"\r", b"\n")) and data != b"")


def count_line_ends(data: bytes, start: int, end: int) -> int:
    """Count the line endings between two offsets, neither of which splits one."""
    lf, cr, both = (data.count(one, start, end) for one in (b"\n", b"\r", b"\r\n"))
    return lf + cr - both


def get_line_end(line: bytes) -> bytes:
    """Return the line ending of `line`: CRLF, LF, CR, or nothing."""
    return line[len(line.rstrip(b"\r\n")) :]


def normalize_line(line: bytes) -> bytes:
    """Return a line without its line ending and trailing whitespace, with `-` for every bullet."""
    return _BULLET.sub(rb"\1-", line.rstrip(b" \t\r\n"))


def normalize_lines(data: bytes) -> list[bytes]:
    """Return the normalized lines without blank lines around them; they ignore formatting only."""
    lines = [normalize_line(line) for line in split_lines(data)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def decode_with_lf(data: bytes) -> str:
    """Decode `data` with LF line endings; what is not UTF-8 becomes surrogates."""
    ends = (
        line.rstrip(b"\r\n") + get_line_end(line)[:1].replace(b"\r", b"\n")
        for line in split_lines(data)
    )
    return b"".join(ends).decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Document:
    """Hold the bytes of one file; `parse(x).data == x`, always. `path` is only for messages."""

    data: bytes
    path: str = ""

    @classmethod
    def parse(cls, data: bytes, path: str = "") -> Document:
        """Take bytes as they are; refuse too many, and UTF-16 and UTF-32, without ASCII markers."""
        require_size(data, path, "this file")
        if _is_wide(data):
            raise CubError(
                "this file is UTF-16 or UTF-32, which no agent reads reliably",
                where=path,
                hint=f"save {path or 'it'} as UTF-8, then run the command again",
            )
        return cls(data, path)

    @cached_property
    def lines(self) -> tuple[bytes, ...]:
        """Return all lines with their line endings."""
        return split_lines(self.data)

    @cached_property
    def newline(self) -> bytes:
        """Return the most frequent line ending, the first of equally frequent ones, or else LF."""
        both = self.data.count(b"\r\n")
        counts = {end: self.data.count(end) - both for end in (b"\n", b"\r")} | {b"\r\n": both}
        first = _LINE_END.search(self.data)
        ends = (first[0] if first else b"\n", *counts)
        return max(ends, key=lambda end: counts[end])

    @cached_property
    def head_size(self) -> int:
        """Return how many bytes always stay first: a byte order mark and YAML front matter."""
        skip = len(BOM) if self.data.startswith(BOM) else 0
        return skip + len(_find_front_matter(self.data[skip:]))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Return the top-level blocks, numbered by this document's lines (the head is blank)."""
        return parse_blocks(self.text)

    @cached_property
    def boundaries(self) -> BlockBoundaries:
        """Return where top-level blocks begin, to parse a few blocks of a large file."""
        return find_boundaries(self.text)

    @cached_property
    def text(self) -> str:
        """Return the lines for a Markdown parser, with LF endings and a blank head."""
        skip = count_lines(self.data[: self.head_size]) if self.head_size > len(BOM) else 0
        body = self.data[self.head_size :] if skip else self.data.removeprefix(BOM)
        text = b"\n" * skip + body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        whole = text.removesuffix(b"\n").decode("utf-8", "surrogateescape")
        return whole.replace("\0", "\ufffd")

    def get_line(self, number: int) -> bytes:
        """Return one line as Markdown sees it: with its line ending, without a byte order mark."""
        return self.lines[number].removeprefix(BOM if number == 0 else b"")

    def find_lines_with(self, word: bytes) -> Iterator[int]:
        """Yield the numbers of lines that contain `word`, which has no line ending, in order."""
        line, at, offset = 0, 0, self.data.find(word)
        while offset >= 0:
            line += count_line_ends(self.data, at, offset)
            yield line
            # On to the end of this line.
            end = _LINE_END.search(self.data, offset)
            line, at = line + 1, end.end() if end else len(self.data)
            offset = self.data.find(word, at)

    def get_bytes_before(self, line: int) -> bytes:
        """Return the bytes before `line`; a byte order mark is never part of a line."""
        mark = BOM if line == 0 and self.data.startswith(BOM) else b""
        return mark + b"".join(self.lines[:line])

    def get_bytes_from(self, line: int) -> bytes:
        """Return the bytes from `line` on; `line` is not the first."""
        return b"".join(self.lines[line:])

    def format_location(self, line: int) -> str:
        """Return `file:line` for messages; `line` counts from 0."""
        return f"{self.path}:{line + 1}"

    def replace_data(self, data: bytes) -> Document:
        """Return other bytes under this path."""
        return replace(self, data=data)


def require_size(data: bytes, path: str, what: str) -> None:
    """Raise CubError for more bytes than cub edits; `what` has them, as its message says."""
    if len(data) > MAX_BYTES:
        raise CubError(
            f"{what} has {len(data):,} bytes, more than the {MAX_BYTES:,} that cub edits",
            where=path,
            hint="agents read all of it: move parts of it to other files, and refer to these",
        )


def _is_wide(data: bytes) -> bool:
    """Detect UTF-16 and UTF-32: by mark, or by the NULs of mostly ASCII text without a mark."""
    if data.startswith(_WIDE_MARKS):
        return True
    sample = data[:4096]
    places = [sample[i::4] for i in range(4)]
    shares = [place.count(0) / len(place) for place in places if place]
    return len(sample) >= 8 and max(shares) > 0.8 and min(shares) < 0.1


def _find_front_matter(data: bytes) -> bytes:
    """Return the YAML front matter at the start of `data`, closing line included, or b"".

    A leading `---` is also a thematic break: only a block whose every line can be YAML, with at
    least one key, counts, so that Markdown between two breaks is never hidden.
    """
    lines = split_lines(data) if data.startswith(b"---") else ()
    if not lines or not _FENCE.fullmatch(lines[0].rstrip(b"\r\n")):
        return b""
    keys = 0
    for number, line in enumerate(lines[1:], 1):
        bare = line.rstrip(b"\r\n")
        if _FENCE_END.fullmatch(bare):
            return b"".join(lines[: number + 1]) if keys or number == 1 else b""
        if _YAML_KEY.match(bare):
            keys += 1
        elif not _YAML_OTHER.fullmatch(bare):
            return b""
    return b""
