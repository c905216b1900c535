"""How far the drawing of a map is, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable

# What is done and what there is to do, in any unit, and which step it is. A step is over when all
# is done; one that can't tell how far it is says so once, when it begins.
Progress = Callable[[int, int, str], None]

LISTING, READING, DRAWING = "Listing files", "Reading files", "Drawing the map"


def no_progress(_done: int, _total: int, _step: str) -> None:
    """Tell nobody."""
