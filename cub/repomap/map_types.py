"""What the map could not read, told to who asks for it.

A file that a newcomer opens first.

How far the drawing of a map is, for whoever shows it.

What a person decides about the map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class MapOmission(NamedTuple):
    """`path` (relative to the project's root) was left out, wholly or in part, and why."""

    path: str
    message: str


class KeyFile(NamedTuple):
    """A file, or a folder whose path ends with `/`, and what it is in a few words."""

    path: str
    what: str


# What is done and what there is to do, in any unit, and which step it is. A step is over when all
# is done; one that can't tell how far it is says so once, when it begins.
ProgressCallback = Callable[[int, int, str], None]

STEP_LISTING, STEP_READING, STEP_RENDERING = "Listing files", "Reading files", "Drawing the map"


def ignore_progress(_done: int, _total: int, _step: str) -> None:
    """Tell nobody."""


MIN_MAP_TOKENS = 100  # below, the header alone fills the map


@dataclass(frozen=True, slots=True)
class MapSettings:
    """`tokens`: how long it may be; `exclude`: patterns as in a .gitignore; `symbols`: whether
    source files are parsed.
    """

    tokens: int
    exclude: tuple[str, ...] = ()
    symbols: bool = True
