"""Split a stream into lines; imports little, as a child of cub needs it at its start."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class LineSplitter:
    """Split pieces of a stream into lines, each cut to its first `max_length` bytes."""

    max_length: int = 16_000_000
    _line: bytearray = field(default_factory=bytearray)
    _is_cut: bool = False

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
