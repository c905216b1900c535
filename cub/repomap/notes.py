"""What the map could not read, told to who asks for it."""

from __future__ import annotations

from typing import NamedTuple


class Note(NamedTuple):
    """`path` (relative to the project's root) was left out, wholly or in part, and why."""

    path: str
    message: str
