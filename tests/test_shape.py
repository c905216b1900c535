"""The shape of the package: sizes, names that are defined once, imports without cycles."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_LINES = 370
MIN_LINES_OF_A_LONE_SIBLING = 80
# The modules of each package, with two to spare: whoever needs more looks first for what can be
# joined, and then raises the number.
MAX_MODULES = {
    "cub": 11,
    "cub.actions": 102,
    # Compaction is four ideas: the window, old results, summaries, and what is done when. MCP is
    # four: configuration, transports, connections, and tools.
    "cub.agent": 70,
    "cub.checks": 17,
    # With the session at the terminal: its input, its commands, and what both it and -p show.
    "cub.cli": 75,
    "cub.config_edit": 7,
    "cub.context": 14,
    "cub.edit": 23,
    "cub.files": 14,
    "cub.git": 15,
    "cub.harness": 30,
    "cub.masking": 8,
    # Trees and their repositories, walls, shared files, acceptance: what kept attempts apart from
    # the person's files before were 20 modules of cub.git and cub.actions.run.
    "cub.place": 23,
    # One module an agent, and the table of all of them.
    "cub.agent_profiles": 14,
    "cub.model_server": 4,
    "cub.processes": 8,
    "cub.project": 17,
    "cub.prompt": 4,
    "cub.repomap": 64,
    "cub.store": 24,
}
# Small modules with one importer beside them, and why each stands by itself.
_TOOLS = ("glob_files", "web_fetch", "web_search", "write_file")
LONE_SIBLINGS = {
    **{f"cub.agent.tools.{name}": "each tool is a module" for name in _TOOLS},
    "cub.context.agent_rules": "it is imported for --agent alone",
    "cub.agent.mcp.tool_lists": "it imports the package mcp, after the servers have started",
    "cub.agent.repetition": "the loop is the page that is read first",
}
_IRREGULAR = frozenset(
    ("told", "kept", "held", "made", "found", "sent", "said", "lost", "left", "meant", "built",
     "bound", "seen", "drawn", "shown", "known", "gone", "done")
)  # fmt: skip
_NO_PARTICIPLES = frozenset(
    ("own", "down", "unknown", "seed", "need", "speed", "feed", "embed", "children", "token",
     "open", "often", "then", "when", "hidden", "screen", "listen", "unified", "red", "green",
     "reopen", "shorten")
)  # fmt: skip
_PARTICIPLE = re.compile(r"[a-z]+(ed|[^aeiou]en|wn|tten)")
# First words of a docstring that is a noun clause instead of an instruction.
_NO_VERBS = frozenset(
    ("a", "all", "an", "each", "every", "everything", "how", "one", "see", "some", "such", "that",
     "the", "these", "this", "those", "what", "when", "where", "whether", "which", "who", "whose",
     "why")
)  # fmt: skip


class Module:
    """A module of the package: its dotted name, its syntax and its number of lines."""

    def __init__(self, path: Path) -> None:
        parts = path.relative_to(ROOT).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        self.is_package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.tree = ast.parse(text)
        self.lines = len(text.splitlines())

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]


@cache
def modules() -> dict[str, Module]:
    found = map(Module, sorted((ROOT / "cub").rglob("*.py")))
    return {module.name: module for module in found}


def imports(module: Module) -> Iterator[str]:
    """The modules of the package that a module imports, anywhere in it."""
    for node in ast.walk(module.tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name}:{node.lineno} has a relative import"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in modules() else str(node.module) for name in inner]
        yield from (name for name in names if name in modules() and name != module.name)


def defined_names(module: Module) -> Iterator[str]:
    """The names of the functions, methods and classes of a module."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def test_no_import_closes_a_cycle() -> None:
    graph = {name: set(imports(module)) for name, module in modules().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_module_holds_a_whole_idea_and_no_heap() -> None:
    assert [m.name for m in modules().values() if m.lines > MAX_LINES] == []


def test_a_small_module_with_one_importer_is_joined_to_it() -> None:
    importers = defaultdict(set)
    for name, module in modules().items():
        for other in imports(module):
            importers[other].add(name)
    lone = {
        name
        for name, module in modules().items()
        if 5 < module.lines < MIN_LINES_OF_A_LONE_SIBLING
        and not module.is_package
        and len(importers[name]) == 1
        and modules()[min(importers[name])].package == module.package
    }
    assert lone == set(LONE_SIBLINGS)


def test_packages_do_not_grow_unnoticed() -> None:
    counts = Counter(
        "cub" if module.package == "cub" else ".".join(module.package.split(".")[:2])
        for module in modules().values()
        if module.lines > 5
    )
    assert {name: n for name, n in counts.items() if n > MAX_MODULES.get(name, 0)} == {}


def test_a_public_class_is_defined_once() -> None:
    counts = Counter(
        node.name
        for module in modules().values()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, n in counts.items() if n > 1] == []


def test_a_module_name_is_used_twice_at_most() -> None:
    stems = Counter(m.name.rpartition(".")[2] for m in modules().values() if not m.is_package)
    assert [stem for stem, n in stems.items() if n > 2] == []


def test_no_public_name_is_a_bare_participle() -> None:
    names = {name for module in modules().values() for name in defined_names(module)}
    bare = {name for name in names if "_" not in name} - _NO_PARTICIPLES
    assert {name for name in bare if name in _IRREGULAR or _PARTICIPLE.fullmatch(name)} == set()


def test_docstrings_begin_with_a_verb() -> None:
    bad = [
        f"{module.name}:{getattr(node, 'lineno', 1)} {text.partition(chr(10))[0]}"
        for module in modules().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        and (text := ast.get_docstring(node) or "Return.")
        and text.split()[0].lower() in _NO_VERBS
    ]
    assert bad == []
