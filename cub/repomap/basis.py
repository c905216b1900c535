"""What the last map rests on: told from it that an edit changes nothing that the map says.

Most edits name nothing new that is defined elsewhere. Then scanning the changed files again is
enough, and the graph need not be built.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from cub.repomap.listing.listing import File
from cub.repomap.listing.shares import shares
from cub.repomap.sifted import Sifted
from cub.repomap.symbols.facts import FileFacts
from cub.repomap.symbols.scan import scan

if TYPE_CHECKING:
    from cub.repomap.survey import RepoMap

_FEW = 20  # changed files: beyond, all is made anew

Scanned = dict[File, FileFacts]
States = dict[str, tuple[int, int, int, str]]  # size, time, inode, and the print of the facts


@dataclass(frozen=True, slots=True)
class Basis:
    """`files` are the scanned ones, `others` is a digest of the states of the rest; `read` are
    those that more than symbols was taken from; `known` is everything that would be a reference.
    """

    files: States
    others: str
    languages: tuple[tuple[str, int], ...]
    read: frozenset[str]
    known: frozenset[str]

    def dump(self) -> list[Any]:
        """As JSON has it."""
        known = sorted(self.known)
        return [self.files, self.others, self.languages, sorted(self.read), known]

    @classmethod
    def load(cls, row: Any) -> Basis:
        """What `dump` gave; ValueError, TypeError and the like for anything else."""
        files, others, languages, read, known = row
        states = {path: (state[0], state[1], state[2], state[3]) for path, state in files.items()}
        pairs = tuple((name, share) for name, share in languages)
        return cls(states, others, pairs, frozenset(read), frozenset(known))


def basis_of(full: RepoMap) -> Basis:
    """What a map rests on."""
    found, graph = full.files.found, full.graph
    said = {source.path: names for source, names in zip(graph.sources, graph.said, strict=True)}
    prints = {path: _print(facts, said.get(path, "")) for path, facts in full.facts.items()}
    states = {f.path: (*f[1:], prints[f.path]) for f in found.files if f.path in prints}
    others = _digest(file for file in found.files if file.path not in prints)
    return Basis(states, others, full.structure.languages, full.structure.read, graph.known)


def holds(basis: Basis, files: Sifted, scanned: Scanned) -> bool:
    """Whether a map of the files as they are now would say what the last one says.

    What is `scanned` to tell that is added, for who has to make the map.
    """
    found, kinds, jobs = files
    known = basis.files
    if len(jobs) != len(known) or any(file.path not in known for file in jobs):
        return False
    changed = [file for file in jobs if known[file.path][:3] != file[1:]]
    if len(changed) > _FEW or any(file.path in basis.read for file in changed):
        return False
    if basis.others != _digest(file for file in found.files if file not in jobs):
        return False
    if basis.languages != shares(found.files, kinds):
        return False
    scanned.update((file, scan(str(found.root), jobs[file])) for file in changed)
    return all(_is_alike(basis, file.path, scanned[file]) for file in changed)


def _is_alike(basis: Basis, path: str, facts: FileFacts) -> bool:
    said = filter(basis.known.__contains__, facts.names.split())
    return _print(facts, " ".join(said)) == basis.files[path][3]


def _print(facts: FileFacts, said: str) -> str:
    """Of all that a map depends on in a file; on what line it stands is no part of it."""
    return blake2b(f"{facts.shape} {said}".encode("utf-8", "replace"), digest_size=9).hexdigest()


def _digest(files: Iterable[File]) -> str:
    text = "\n".join([f"{path}\0{size}\0{time}\0{inode}" for path, size, time, inode in files])
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
