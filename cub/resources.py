"""Where the data that ships with cub lives: templates/ and migrations/."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def data_dir(name: str) -> Path:
    """The folder `name`: inside the package when installed, beside it in a checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
