"""A file that a newcomer opens first."""

from __future__ import annotations

from typing import NamedTuple


class KeyFile(NamedTuple):
    """A file, or a folder whose path ends with `/`, and what it is in a few words."""

    path: str
    what: str
