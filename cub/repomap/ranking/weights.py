"""The numbers that decide what ranks where; docs/explanation/map.md tells how they were chosen."""

from __future__ import annotations

from dataclasses import dataclass

from cub.repomap.symbols.definition import Definition

_VALUES = ("variable", "constant")


@dataclass(frozen=True, slots=True)
class Weights:
    """A reference counts `imported` where the file imports the name or its module, `near` from
    the same folder, `distinctive` for a name that reads like no word, `plain` for one that does;
    `test` and `docs` are what users of these kinds count for. What stands behind a dot may belong
    to anything, and counts `dotted` of that. All of these are powers of two: their sums are exact,
    and so the same in any order.
    """

    imported: float = 1.0
    near: float = 0.5
    distinctive: float = 0.25
    plain: float = 0.0625
    dotted: float = 0.5
    dotted_plain: float = 0.125
    test: float = 0.5
    docs: float = 0.5
    rank_power: float = 0.1
    face: float = 2.0
    inner_face: float = 1.4
    variable: float = 0.5
    member: float = 0.3

    def of(self, definition: Definition) -> float:
        """What a definition counts for by its kind: members and variables less."""
        factor = self.member if definition.member_of else 1.0
        return factor * (self.variable if definition.kind in _VALUES else 1.0)


DEFAULT = Weights()
