"""How far the reading of files is, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]  # bytes done, bytes to do


def no_progress(_done: int, _total: int) -> None:
    """Tell nobody."""
