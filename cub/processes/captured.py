"""A command run to its end, with what it said; of very much only the beginning and the end."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, NamedTuple

from cub.processes.command import Command, Ended, Limits
from cub.processes.running import Running
from cub.processes.stop import Stop

_NO_LIMITS = Limits()


class Captured(NamedTuple):
    """How it ended, what is kept of stdout and stderr in the order they came, and their size."""

    ended: Ended
    output: bytes
    total: int


class _Ends:
    """The first and the last bytes of a stream, at most `most` together."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.total = 0
        self.first = bytearray()
        self.last = bytearray()

    def add(self, data: bytes) -> bytes:
        """Take more; what of it is among the first, and so is kept for sure."""
        self.total += len(data)
        kept = data[: max(0, self.most // 2 - len(self.first))]
        self.first += kept
        self.last += data[len(kept) :]
        if len(self.last) > 2 * self.most:  # not at each piece: it copies
            del self.last[: -self.most]
        return kept

    def rest(self) -> bytes:
        """What is kept after the first, with a line that tells what is left out."""
        out = self.total - self.most
        if out <= 0:
            return bytes(self.last)
        kept = self.last[len(self.last) - (self.most - len(self.first)) :]
        return f"\n… {out:,} bytes left out …\n".encode() + kept


def captured(
    command: Command,
    limits: Limits = _NO_LIMITS,
    stop: Stop | None = None,
    most: int = 2_000_000,
    into: BinaryIO | None = None,
    last: Path | None = None,
) -> Captured:
    """Run a command to its end and keep `most` bytes of what it says, half of them the last.

    What is kept also goes `into` a file: the first half as it comes, the rest in the end. `last`
    is the file that tells when all had ended (see Running).
    Raises CubError if there is nothing to run, or on Windows.
    """
    ends = _Ends(most)
    try:
        with Running(command, limits, stop, last, merged=True) as running:
            for piece in running.pieces():
                kept = ends.add(piece.data)
                if into and kept:
                    into.write(kept)
    finally:
        rest = ends.rest()
        if into and rest:
            into.write(rest)
    return Captured(running.ended, bytes(ends.first) + rest, ends.total)
