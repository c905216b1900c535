"""What a person decides about the map."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_TOKENS = 100  # below, the header alone fills the map


@dataclass(frozen=True, slots=True)
class MapSettings:
    """`tokens`: how long it may be; `exclude`: patterns as in a .gitignore; `symbols`: whether
    source files are parsed.
    """

    tokens: int
    exclude: tuple[str, ...] = ()
    symbols: bool = True
