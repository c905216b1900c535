"""pyproject.toml: the project, what it needs, its programs and the tools that it configures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.facts import EntryPoint, Facts, Manifest, Package, Reader, Technology
from cub.repomap.stack.formats.trees import at, table, text_at, texts, toml_tree
from cub.repomap.stack.merging import joined
from cub.repomap.stack.python import requirements
from cub.repomap.stack.python.pyproject_manager import Manager, install_and_build, manager_of
from cub.repomap.stack.python.pyproject_needs import needed, needed_by_developers
from cub.repomap.stack.python.pyproject_targets import targets
from cub.repomap.stack.python.tools import tools
from cub.repomap.stack.workspaces import members

_BACKENDS = {
    "hatchling": "Hatchling", "setuptools": "setuptools", "flit_core": "Flit", "flit": "Flit",
    "poetry": "Poetry", "pdm": "PDM", "uv_build": "uv", "maturin": "maturin",
    "mesonpy": "meson-python", "scikit_build_core": "scikit-build-core",
}  # fmt: skip
_MOST_PROGRAMS = 12


def _read(manifest: Manifest) -> Facts:
    tree = toml_tree(manifest.text)
    manager = manager_of(manifest, tree)
    own = Facts(
        tuple(_technologies(tree, manager, manifest.path)),
        (*targets(manifest, tree, manager), *install_and_build(manifest, tree, manager)),
        tuple(_programs(tree, manifest.path)),
        tuple(_packages(tree, manifest)),
    )
    return joined(own, _tools(manifest, tree, manager))


def _technologies(tree: dict[str, Any], manager: Manager, source: str) -> Iterator[Technology]:
    version = text_at(tree, "project", "requires-python")
    version = version or text_at(tree, "tool", "poetry", "dependencies", "python")
    if version or "project" in tree or at(tree, "tool", "poetry"):
        yield Technology("Python", "language", version, source)
    yield from requirements.technologies(needed(tree), source)
    if manager.name:
        yield Technology(manager.name, "manager", "", source)
    backend = text_at(tree, "build-system", "build-backend").partition(".")[0]
    if backend in _BACKENDS:
        yield Technology(_BACKENDS[backend], "build", "", source)


def _programs(tree: dict[str, Any], source: str) -> Iterator[EntryPoint]:
    tables = (
        at(tree, "project", "scripts"),
        at(tree, "project", "gui-scripts"),
        at(tree, "tool", "poetry", "scripts"),
    )
    found = [pair for each in tables for pair in table(each).items()]
    for name, target in found[:_MOST_PROGRAMS]:
        start = target if isinstance(target, str) else text_at(target, "reference")
        start = start or text_at(target, "callable")
        yield EntryPoint(name, start.partition("[")[0].strip(), source)


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[Package]:
    own = table(tree.get("project")) or table(at(tree, "tool", "poetry"))
    yield Package(manifest.folder, text_at(own, "name"), text_at(own, "description"), manifest.path)
    globs = texts(at(tree, "tool", "uv", "workspace", "members"))
    for folder in members(manifest, globs, "pyproject.toml"):
        yield Package(folder, "", "", manifest.path)


def _tools(manifest: Manifest, tree: dict[str, Any], manager: Manager) -> Facts:
    """Those with a table of their own, and those that developers are to install."""
    configured = [name for name in table(tree.get("tool")) if name != "pytest" or _runs(tree)]
    if at(tree, "tool", "ruff", "format") is not None:
        configured.append("ruff-format")
    installed = {name for name, _ in needed_by_developers(tree)}
    place = {"mypy": "mypy" if _has_place(tree) else f"mypy {_place(tree, manifest)}"}
    return joined(
        tools(manifest, configured, typed=manager.typed, instead=place),
        tools(manifest, ["pytest"] if "pytest" in installed else [], typed=manager.typed),
        tools(manifest, sorted(installed), quiet=True),
    )


def _runs(tree: dict[str, Any]) -> bool:
    """Whether `tool.pytest` configures pytest, and not only one of its plugins."""
    return any(key in table(at(tree, "tool", "pytest")) for key in ("ini_options", "testpaths"))


def _has_place(tree: dict[str, Any]) -> bool:
    mypy = table(at(tree, "tool", "mypy"))
    return any(key in mypy for key in ("files", "packages", "modules"))


def _place(tree: dict[str, Any], manifest: Manifest) -> str:
    """The folder with the project's code, as a tool's argument."""
    name = text_at(tree, "project", "name") or text_at(tree, "tool", "poetry", "name")
    module = requirements.normal(name).replace("-", "_")
    start = f"{manifest.folder}/" if manifest.folder else ""
    for place, folder in (("src", f"src/{module}"), (module, module)):
        if module and f"{start}{folder}/__init__.py" in manifest.paths:
            return place
    return "."


READERS = (Reader(("pyproject.toml",), _read),)
