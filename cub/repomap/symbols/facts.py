"""What one source file tells, as it is kept from one run to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cub.repomap.symbols.definition import Definition


@dataclass(frozen=True, slots=True)
class FileFacts:
    """`names` and `imported` are identifiers with blanks between them; `left_out` says why a file
    has no part in the graph; `unparsed`, why its definitions are not known.
    """

    names: str = ""
    imported: str = ""
    definitions: tuple[Definition, ...] = ()
    left_out: str = ""
    unparsed: str = ""

    def dump(self) -> list[Any]:
        """As JSON has it."""
        rows = [[*definition] for definition in self.definitions]
        return [self.names, self.imported, rows, self.left_out, self.unparsed]

    @classmethod
    def load(cls, row: Sequence[Any]) -> FileFacts:
        """What `dump` gave; ValueError, TypeError and the like for anything else."""
        names, imported, rows, left_out, unparsed = row
        return cls(
            str(names),
            str(imported),
            tuple(Definition(*_checked(row)) for row in rows),
            str(left_out),
            str(unparsed),
        )


def _checked(row: Sequence[Any]) -> Sequence[Any]:
    if [type(value) for value in row] != [str, str, int, str, str, bool]:
        raise ValueError("this is no definition")
    return row
