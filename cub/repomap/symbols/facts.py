"""What one source file tells, as it is kept from one run to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Self

from cub.repomap.symbols.definition import Definition

_TYPES = (str, str, int, str, str, bool)  # of a definition's parts


@dataclass(frozen=True, slots=True)
class FileFacts:
    """`names` and `imported` are identifiers with blanks between them; `left_out` says why a file
    has no part in the graph; `unparsed`, why its definitions are not known.

    `shape` is a digest of all that a map depends on in a file by itself: neither its lines nor the
    names that it says.
    """

    names: str = ""
    imported: str = ""
    definitions: tuple[Definition, ...] = ()
    left_out: str = ""
    unparsed: str = ""
    shape: str = ""

    def shaped(self) -> Self:
        """These facts with their `shape`."""
        definitions = [definition._replace(line=0) for definition in self.definitions]
        parts = (definitions, self.imported, self.left_out, self.unparsed)
        data = repr(parts).encode("utf-8", "replace")
        return replace(self, shape=blake2b(data, digest_size=9).hexdigest())

    def dump(self) -> list[Any]:
        """As JSON has it."""
        rows = [[*definition] for definition in self.definitions]
        return [self.names, self.imported, rows, self.left_out, self.unparsed, self.shape]

    @classmethod
    def load(cls, row: Sequence[Any]) -> FileFacts:
        """What `dump` gave; ValueError, TypeError and the like for anything else."""
        names, imported, rows, left_out, unparsed, shape = row
        return cls(
            str(names),
            str(imported),
            tuple(Definition(*_checked(row)) for row in rows),
            str(left_out),
            str(unparsed),
            str(shape),
        )


def _checked(row: Sequence[Any]) -> Sequence[Any]:
    if tuple(map(type, row)) != _TYPES:
        raise ValueError("this is no definition")
    return row
