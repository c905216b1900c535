"""Find the data that ships with cub: templates, migrations and JSON Schemas."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent
# In a checkout, data that is documentation, too, stands there; pyproject.toml says the same.
_IN_DOCS = {"schemas": "docs/reference/schemas"}


def find_data_dir(name: str) -> Path:
    """Return the folder `name`: inside the package when installed, beside it in a checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / _IN_DOCS.get(name, name)
