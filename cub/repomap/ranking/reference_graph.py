"""Which files use which, the main user first.

Who refers to which definition, and on what evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cub.repomap.listing.file_kinds import FileKind
from cub.repomap.ranking.references import (
    ModulePath,
    RankingWeights,
    ReferenceResolver,
    ReferenceToken,
    index_tokens,
    list_import_roots,
    parse_module_path,
)
from cub.repomap.symbols.file_facts import Definition, FileFacts


def index_users(graph: ReferenceGraph) -> Callable[[str], Sequence[str]]:
    """A function from a path to the sources that refer to it, tests left out, most weight first."""
    found: dict[int, list[tuple[float, str]]] = {}
    for number, out in enumerate(graph.file_links):
        source = graph.files[number]
        if source.kind is FileKind.SOURCE:
            for to, weight in out.items():
                found.setdefault(to, []).append((-weight, source.path))
    numbers = {source.path: number for number, source in enumerate(graph.files)}
    return lambda path: [user for _, user in sorted(found.get(numbers[path], ()))]


# What each of several definitions gets of a reference; nobody can tell which of more is meant.
_SHARES = {1: 1.0, 2: 0.5, 3: 0.25, 4: 0.25}


class GraphFile(NamedTuple):
    """A file of the graph."""

    path: str
    kind: FileKind
    facts: FileFacts
    module: ModulePath


class GraphDefinition(NamedTuple):
    """A definition that other files may use, and the number of its file."""

    file: int
    definition: Definition


class Reference(NamedTuple):
    """File `user` (a number) refers to a definition with this weight, for this reason."""

    user: int
    weight: float
    reason: str


UsesByDefinition = dict[
    int, tuple[float, str]
]  # by the number of a definition: the weight, and the reason


@dataclass(frozen=True, slots=True)
class ReferenceGraph:
    """`files` are the files: `source_count` of them may define something, and come first.

    `uses[user]` has what a file refers to, and `links[user]` the sums of the weights by file.
    `vocabulary` is everything that would be a reference, `said[user]` what a file has of it, with
    blanks between.
    """

    files: list[GraphFile]
    source_count: int
    definitions: list[GraphDefinition]
    vocabulary: frozenset[str]
    uses: list[UsesByDefinition] = field(default_factory=list)
    file_links: list[dict[int, float]] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)

    def list_references(self, definition_index: int) -> list[Reference]:
        """Who refers to one definition."""
        found = (
            (user, uses[definition_index])
            for user, uses in enumerate(self.uses)
            if definition_index in uses
        )
        return [Reference(user, *use) for user, use in found]

    def compute_in_degrees(self) -> list[float]:
        """For each definition, the sum of the weights of all references to it."""
        sums = [0.0] * len(self.definitions)
        for uses in self.uses:
            for entry, (weight, _) in uses.items():
                sums[entry] += weight
        return sums


def list_graph_files(facts: Iterable[tuple[str, FileKind, FileFacts]]) -> list[GraphFile]:
    """The files that the graph is made of, in order: those that are sources, then by path."""
    rows = [
        GraphFile(path, kind, found, parse_module_path(path))
        for path, kind, found in facts
        if not found.skip_reason
    ]
    return sorted(rows, key=lambda row: (row.kind is not FileKind.SOURCE, row.path))


def build_reference_graph(
    sources: list[GraphFile], weights: RankingWeights, above: str = ""
) -> ReferenceGraph:
    """Link every file to what it refers to; all of them stand in the folder `above`, "a/b/"."""
    defining = sum(source.kind is FileKind.SOURCE for source in sources)
    entries = [
        GraphDefinition(number, definition)
        for number, source in enumerate(sources[:defining])
        for definition in source.facts.definitions
        if _counts(definition, source.module)
    ]
    modules = ((number, sources[number].module, definition) for number, definition in entries)
    tokens = index_tokens(modules)
    graph = ReferenceGraph(sources, defining, entries, frozenset(tokens))
    linker = _Linker(graph, tokens, weights, above)
    for number in range(len(sources)):
        linker.link(number)
    return graph


def _counts(definition: Definition, module: ModulePath) -> bool:
    if not definition.exported or len(definition.name) < 3:
        return False
    # `package object cats` in cats/package.scala is no more than the folder.
    return definition.kind != "module" or definition.name not in module.import_names


class _Linker:
    """Finds the definitions that one file after the other refers to."""

    def __init__(
        self,
        graph: ReferenceGraph,
        tokens: Mapping[str, ReferenceToken],
        weights: RankingWeights,
        above: str,
    ) -> None:
        self.graph, self.tokens = graph, tokens
        self.files = [entry.file for entry in graph.definitions]
        modules = [source.module for source in graph.files]
        self.judge = ReferenceResolver(weights, modules)
        self.places = list_import_roots(above + source.path for source in graph.files)
        self.is_package = any(source.path == "__init__.py" for source in graph.files)
        self.by_kind = {
            FileKind.SOURCE: 1.0,
            FileKind.TEST: weights.test,
            FileKind.DOCS: weights.docs,
        }

    def link(self, number: int) -> None:
        """Add what file `number` refers to."""
        source = self.graph.files[number]
        imported = frozenset(source.facts.imported_names.split())
        foreign, named = self._origins(imported)
        folder, factor = source.module.folder, self.by_kind[source.kind]
        best: UsesByDefinition = {}
        known = list(filter(self.graph.vocabulary.__contains__, source.facts.names.split()))
        tokens, meant_by = self.tokens, self.judge.resolve
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
        self.graph.mentions.append(" ".join(known))
        self.graph.uses.append(best)
        self.graph.file_links.append(self._links(best))

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

    def _links(self, uses: UsesByDefinition) -> dict[int, float]:
        links: dict[int, float] = {}
        for entry, (weight, _) in uses.items():
            file = self.files[entry]
            links[file] = links.get(file, 0.0) + weight
        return links
