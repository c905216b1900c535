"""Who refers to which definition, and on what evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from cub.repomap.listing.kinds import Kind
from cub.repomap.ranking.evidence import Judge
from cub.repomap.ranking.modules import Module, module_of, places_of
from cub.repomap.ranking.tokens import Token, tokens_of
from cub.repomap.ranking.weights import Weights
from cub.repomap.symbols.definition import Definition
from cub.repomap.symbols.facts import FileFacts

# What each of several definitions gets of a reference; nobody can tell which of more is meant.
_SHARES = {1: 1.0, 2: 0.5, 3: 0.25, 4: 0.25}


class Source(NamedTuple):
    """A file of the graph."""

    path: str
    kind: Kind
    facts: FileFacts
    module: Module


class Entry(NamedTuple):
    """A definition that other files may use, and the number of its file."""

    file: int
    definition: Definition


class Reference(NamedTuple):
    """File `user` (a number) refers to a definition with this weight, for this reason."""

    user: int
    weight: float
    reason: str


Uses = dict[int, tuple[float, str]]  # by the number of a definition: the weight, and the reason


@dataclass(frozen=True, slots=True)
class Graph:
    """`sources` are the files: `defining` of them may define something, and come first.

    `uses[user]` has what a file refers to, and `links[user]` the sums of the weights by file.
    `known` is everything that would be a reference, `said[user]` what a file has of it, with
    blanks between.
    """

    sources: list[Source]
    defining: int
    entries: list[Entry]
    known: frozenset[str]
    uses: list[Uses] = field(default_factory=list)
    links: list[dict[int, float]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def references(self, entry: int) -> list[Reference]:
        """Who refers to one definition."""
        found = ((user, uses[entry]) for user, uses in enumerate(self.uses) if entry in uses)
        return [Reference(user, *use) for user, use in found]

    def in_degrees(self) -> list[float]:
        """For each definition, the sum of the weights of all references to it."""
        sums = [0.0] * len(self.entries)
        for uses in self.uses:
            for entry, (weight, _) in uses.items():
                sums[entry] += weight
        return sums


def sources_of(facts: Iterable[tuple[str, Kind, FileFacts]]) -> list[Source]:
    """The files that the graph is made of, in order: those that are sources, then by path."""
    rows = [
        Source(path, kind, found, module_of(path))
        for path, kind, found in facts
        if not found.left_out
    ]
    return sorted(rows, key=lambda row: (row.kind is not Kind.SOURCE, row.path))


def graph_of(sources: list[Source], weights: Weights, above: str = "") -> Graph:
    """Link every file to what it refers to; all of them stand in the folder `above`, "a/b/"."""
    defining = sum(source.kind is Kind.SOURCE for source in sources)
    entries = [
        Entry(number, definition)
        for number, source in enumerate(sources[:defining])
        for definition in source.facts.definitions
        if _counts(definition, source.module)
    ]
    modules = ((number, sources[number].module, definition) for number, definition in entries)
    tokens = tokens_of(modules)
    graph = Graph(sources, defining, entries, frozenset(tokens))
    linker = _Linker(graph, tokens, weights, above)
    for number in range(len(sources)):
        linker.link(number)
    return graph


def _counts(definition: Definition, module: Module) -> bool:
    if not definition.exported or len(definition.name) < 3:
        return False
    # `package object cats` in cats/package.scala is no more than the folder.
    return definition.kind != "module" or definition.name not in module.words


class _Linker:
    """Finds the definitions that one file after the other refers to."""

    def __init__(
        self, graph: Graph, tokens: Mapping[str, Token], weights: Weights, above: str
    ) -> None:
        self.graph, self.tokens = graph, tokens
        self.files = [entry.file for entry in graph.entries]
        modules = [source.module for source in graph.sources]
        self.judge = Judge(weights, modules)
        self.places = places_of(above + source.path for source in graph.sources)
        self.is_package = any(source.path == "__init__.py" for source in graph.sources)
        self.by_kind = {Kind.SOURCE: 1.0, Kind.TEST: weights.test, Kind.DOCS: weights.docs}

    def link(self, number: int) -> None:
        """Add what file `number` refers to."""
        source = self.graph.sources[number]
        imported = frozenset(source.facts.imported.split())
        foreign, named = self._origins(imported)
        folder, factor = source.module.folder, self.by_kind[source.kind]
        best: Uses = {}
        known = list(filter(self.graph.known.__contains__, source.facts.names.split()))
        tokens, meant_by = self.tokens, self.judge.meant
        for said in known:
            token = tokens[said]
            if number in token.files or said in foreign:
                continue  # it means its own, or somebody else's
            meant, weight, reason = meant_by(token, imported, named, folder)
            share = _SHARES.get(len(meant))
            if share is None:
                continue
            found = (weight * factor * share, reason)
            for entry in meant:
                if entry not in best or best[entry] < found:
                    best[entry] = found
        self.graph.said.append(" ".join(known))
        self.graph.uses.append(best)
        self.graph.links.append(self._links(best))

    def _origins(self, imported: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Names from packages that the project has no folder or file of, and those from its own.

        Where the language doesn't tell, any word of the imports may be such a name.
        """
        rows = [token.partition("=") for token in imported if "=" in token]
        if not rows:
            return frozenset(), imported
        own = {name for package, _, name in rows if self._is_own(package)}
        return frozenset(name for _, _, name in rows if name not in own), frozenset(own)

    def _is_own(self, package: str) -> bool:
        """A project that is a package as a whole is imported under a name that nobody knows."""
        return package[:1] in (".", "") or package in self.places or self.is_package

    def _links(self, uses: Uses) -> dict[int, float]:
        links: dict[int, float] = {}
        for entry, (weight, _) in uses.items():
            file = self.files[entry]
            links[file] = links.get(file, 0.0) + weight
        return links
