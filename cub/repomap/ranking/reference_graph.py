"""Build the graph of which file refers to which definition, and on what evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cub.repomap.listing.file_kinds import FileKind
from cub.repomap.ranking.references import (
    ModulePath,
    ReferenceToken,
    index_tokens,
    list_import_roots,
    parse_module_path,
    resolve_token,
)
from cub.repomap.symbols.file_facts import Definition, FileFacts

# The share of a reference that each of several definitions gets; more than four get nothing.
_SHARES = {1: 1.0, 2: 0.5, 3: 0.25, 4: 0.25}
# How much users of each kind count: tests show what matters, and so do examples.
USER_FACTORS = {FileKind.SOURCE: 1.0, FileKind.TEST: 0.5, FileKind.DOCS: 0.5}


class GraphFile(NamedTuple):
    """Describe a file of the graph."""

    path: str
    kind: FileKind
    facts: FileFacts
    module: ModulePath


class GraphDefinition(NamedTuple):
    """Hold a definition that other files may use, and the number of its file."""

    file: int
    definition: Definition


class Reference(NamedTuple):
    """Say that file `user` (a number) refers to a definition, with what weight and why."""

    user: int
    weight: float
    reason: str


UsesByDefinition = dict[int, tuple[float, str]]  # the number of a definition: weight and reason


@dataclass(frozen=True, slots=True)
class ReferenceGraph:
    """Hold the files of a project, what they define, and how they refer to each other.

    The first `source_count` of the `files` may define something. `uses[user]` is what a file
    refers to, and `file_links[user]` the sums of the weights by file.
    """

    files: list[GraphFile]
    source_count: int
    definitions: list[GraphDefinition]
    uses: list[UsesByDefinition] = field(default_factory=list)
    file_links: list[dict[int, float]] = field(default_factory=list)

    def list_references(self, definition_index: int) -> list[Reference]:
        """List all references to one definition."""
        return [
            Reference(user, *uses[definition_index])
            for user, uses in enumerate(self.uses)
            if definition_index in uses
        ]

    def compute_in_degrees(self) -> list[float]:
        """Return for each definition the sum of the weights of all references to it."""
        sums = [0.0] * len(self.definitions)
        for uses in self.uses:
            for number, (weight, _) in uses.items():
                sums[number] += weight
        return sums


def list_graph_files(facts: Iterable[tuple[str, FileKind, FileFacts]]) -> list[GraphFile]:
    """List the files of the graph in their order: sources first, then by path."""
    files = [
        GraphFile(path, kind, file_facts, parse_module_path(path))
        for path, kind, file_facts in facts
        if not file_facts.skip_reason
    ]
    return sorted(files, key=lambda file: (file.kind is not FileKind.SOURCE, file.path))


def build_reference_graph(files: list[GraphFile], above: str = "") -> ReferenceGraph:
    """Link every file to what it refers to; all of them are in the folder `above`, "a/b/"."""
    source_count = sum(file.kind is FileKind.SOURCE for file in files)
    definitions = [
        GraphDefinition(number, definition)
        for number, file in enumerate(files[:source_count])
        for definition in file.facts.definitions
        if definition.exported
        and len(definition.name) >= 3
        # `package object cats` in cats/package.scala is only the folder.
        and not (definition.kind == "module" and definition.name in file.module.import_names)
    ]
    tokens = index_tokens((number, files[number].module, d) for number, d in definitions)
    graph = ReferenceGraph(files, source_count, definitions)
    linker = _Linker(graph, tokens, above)
    for number in range(len(files)):
        linker.link(number)
    return graph


class _Linker:
    def __init__(
        self, graph: ReferenceGraph, tokens: Mapping[str, ReferenceToken], above: str
    ) -> None:
        self.graph, self.tokens = graph, tokens
        self.files = [entry.file for entry in graph.definitions]
        self.modules = [file.module for file in graph.files]
        self.import_roots = list_import_roots(above + file.path for file in graph.files)
        self.is_package = any(file.path == "__init__.py" for file in graph.files)

    def link(self, number: int) -> None:
        """Add what file `number` refers to."""
        file = self.graph.files[number]
        import_words = frozenset(file.facts.imported_names.split())
        foreign, imported = self._split_imports(import_words)
        folder, factor = file.module.folder, USER_FACTORS[file.kind]
        best: UsesByDefinition = {}
        tokens, modules = self.tokens, self.modules
        for mention in filter(tokens.__contains__, file.facts.names.split()):
            token = tokens[mention]
            if number in token.files or mention in foreign:
                continue  # the file means its own definition, or one of another package
            candidates, weight, reason = resolve_token(
                token, modules, import_words, imported, folder
            )
            share = _SHARES.get(len(candidates))
            if share is None:
                continue
            use = (weight * factor * share, reason)
            for definition in candidates:
                if definition not in best or best[definition] < use:
                    best[definition] = use
        self.graph.uses.append(best)
        self.graph.file_links.append(self._sum_by_file(best))

    def _split_imports(self, import_words: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Return names from packages outside of the project, and names from the project.

        If the language doesn't tell, any word of the imports may be a name from the project.
        """
        rows = [word.partition("=") for word in import_words if "=" in word]
        if not rows:
            return frozenset(), import_words
        own = {
            name
            for package, _, name in rows
            # One of unknown name may be the project's if that is a package.
            if package[:1] in (".", "") or package in self.import_roots or self.is_package
        }
        return frozenset(name for _, _, name in rows if name not in own), frozenset(own)

    def _sum_by_file(self, uses: UsesByDefinition) -> dict[int, float]:
        sums: dict[int, float] = {}
        for definition, (weight, _) in uses.items():
            file = self.files[definition]
            sums[file] = sums.get(file, 0.0) + weight
        return sums


def index_users(graph: ReferenceGraph) -> Callable[[str], Sequence[str]]:
    """Return a function from a path to the sources that refer to it, most weight first."""
    users: dict[int, list[tuple[float, str]]] = {}
    for file, links in zip(graph.files, graph.file_links, strict=False):
        if file.kind is FileKind.SOURCE:
            for target, weight in links.items():
                users.setdefault(target, []).append((-weight, file.path))
    numbers = {file.path: number for number, file in enumerate(graph.files)}
    return lambda path: [user for _, user in sorted(users.get(numbers[path], ()))]
