"""Split a stream into lines.

Like `cub.harness.acp`, it has no dataclasses: a child of cub imports both in each attempt, and
dataclasses would double what that costs.
"""

from __future__ import annotations


class LineSplitter:
    """Split pieces of a stream into lines, each cut to its first `max_length` bytes."""

    def __init__(self, max_length: int = 16_000_000) -> None:
        self.max_length = max_length
        self._line = bytearray()
        self._is_cut = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that end in this piece, without LF or CRLF."""
        *lines, start = data.split(b"\n")
        if lines:
            self._append(lines[0])
            lines[0] = self._take_line()
            if b"\r" in data or len(data) > self.max_length:  # nothing to do for most
                lines[1:] = map(self._trim, lines[1:])
        self._append(start)
        return lines

    def flush(self) -> list[bytes]:
        """Return the last line if no newline ended it."""
        return [self._take_line()] if self._line or self._is_cut else []

    def _trim(self, line: bytes) -> bytes:
        return line[: self.max_length] if len(line) > self.max_length else line.removesuffix(b"\r")

    def _append(self, piece: bytes) -> None:
        space = self.max_length - len(self._line)
        self._is_cut |= len(piece) > space
        self._line += piece[:space]

    def _take_line(self) -> bytes:
        line, is_cut = bytes(self._line), self._is_cut
        self._line.clear()
        self._is_cut = False
        return line if is_cut else line.removesuffix(b"\r")
