"""Lines out of the pieces that a pipe gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Lines:
    """Cuts pieces of bytes into lines, of which each keeps its first `most` bytes."""

    most: int = 1_000_000
    _kept: bytearray = field(default_factory=bytearray)
    _cut: bool = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that end in this piece, without LF or CRLF."""
        *ended, last = data.split(b"\n")
        for piece in ended:
            self._keep(piece)
            yield self._line()
        self._keep(last)

    def rest(self) -> Iterator[bytes]:
        """The last line, where nothing ended it."""
        if self._kept or self._cut:
            yield self._line()

    def _keep(self, piece: bytes) -> None:
        room = self.most - len(self._kept)
        self._cut |= len(piece) > room
        self._kept += piece[:room]

    def _line(self) -> bytes:
        line = bytes(self._kept)
        whole, self._cut = not self._cut, False
        self._kept.clear()
        return line.removesuffix(b"\r") if whole else line
