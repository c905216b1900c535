"""Define the light types that other packages and processes exchange with the map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class MapOmission(NamedTuple):
    """Say why `path`, relative to the project's root, was left out, wholly or in part."""

    path: str
    message: str


class KeyFile(NamedTuple):
    """Hold a file, or a folder whose path ends with `/`, and what it is in a few words."""

    path: str
    what: str


# Called with what is finished, the total in the same unit, and the step. A step is over when both
# are equal; one that can't tell its progress says so once, when it starts.
ProgressCallback = Callable[[int, int, str], None]

STEP_LISTING, STEP_READING, STEP_RENDERING = "Listing files", "Reading files", "Drawing the map"


def ignore_progress(_finished: int, _total: int, _step: str) -> None:
    """Report nothing."""


MIN_MAP_TOKENS = 100  # below, the header alone fills the map


@dataclass(frozen=True, slots=True)
class MapSettings:
    """Hold the user's settings: the maximum of `tokens`, patterns in `.gitignore` syntax to
    `exclude`, and whether source files are parsed for `symbols`.
    """

    tokens: int
    exclude: tuple[str, ...] = ()
    symbols: bool = True
