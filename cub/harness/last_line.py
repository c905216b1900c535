"""The last line that a client said, out of the pieces in which its words come."""

from __future__ import annotations

from dataclasses import dataclass

from cub.checks.plain import plain
from cub.masking import masked

MOST = 160  # characters
_READ = 2_000  # of a line; beyond, nothing is looked at


@dataclass(slots=True)
class LastLine:
    """`text` is what a terminal would show of the last line with a letter or a digit, cut."""

    text: str = ""
    _open: str = ""

    def add(self, piece: str) -> None:
        """Go on by a piece; a line end in it ends the line."""
        first, *others = piece.split("\n")
        lines = [(self._open + first)[:_READ], *others]
        self._open = lines[-1][:_READ]
        for line in reversed(lines):
            shown = " ".join(plain(line[:_READ]).split())
            if shown != line:  # what was left out may have stood within a secret
                shown = masked(shown)
            if any(map(str.isalnum, shown)):
                self.text = shown if len(shown) <= MOST else f"{shown[: MOST - 1]}…"
                return
