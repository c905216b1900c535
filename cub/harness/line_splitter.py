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

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that end in this piece, without LF or CRLF."""
        *lines, rest = data.split(b"\n")
        if lines:
            self._append(lines[0])
            lines[0] = bytes(self._line)
            self._line.clear()
        self._append(rest)
        return [line[: self.max_length].removesuffix(b"\r") for line in lines]

    def flush(self) -> list[bytes]:
        """Return the last line if no newline ended it."""
        lines = [bytes(self._line).removesuffix(b"\r")] if self._line else []
        self._line.clear()
        return lines

    def _append(self, piece: bytes) -> None:
        self._line += piece[: self.max_length - len(self._line)]
