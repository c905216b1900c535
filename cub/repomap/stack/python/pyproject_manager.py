"""Which manager a Python project uses, and what one types to install and to build."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from cub.repomap.stack.around import above
from cub.repomap.stack.facts import Command, Manifest
from cub.repomap.stack.formats.trees import at, table
from cub.repomap.stack.python.pyproject_needs import extras
from cub.repomap.stack.python.tools import runner

_FOR_DEVELOPERS = ("dev", "develop", "development", "test", "tests", "testing", "all")


class Manager(NamedTuple):
    """Its name, "" for plain pip; and what one types in front of a tool, "" for nothing."""

    name: str
    typed: str


_MANAGERS = (
    Manager("uv", "uv run "),
    Manager("Poetry", "poetry run "),
    Manager("PDM", "pdm run "),
    Manager("pixi", "pixi run "),
    Manager("Rye", "rye run "),
    Manager("Pipenv", "pipenv run "),
)
_INSTALL = {
    "uv": "uv sync", "Poetry": "poetry install", "PDM": "pdm install", "pixi": "pixi install",
    "Rye": "rye sync",
}  # fmt: skip
_BUILD = {"uv": "uv build", "Poetry": "poetry build", "PDM": "pdm build", "Hatch": "hatch build"}


def manager_of(manifest: Manifest, tree: dict[str, Any]) -> Manager:
    """The manager whose lock file is there, else one whose table is in the file."""
    typed = runner(manifest)
    locked = next((one for one in _MANAGERS if one.typed == typed), None)
    if locked:
        return locked
    tool = table(tree.get("tool"))
    named = next((one for one in _MANAGERS if one.name.lower() in tool), None)
    return named or Manager("Hatch" if at(tool, "hatch", "envs") else "", "")


def install_and_build(
    manifest: Manifest, tree: dict[str, Any], manager: Manager
) -> Iterator[Command]:
    """What one types in a fresh checkout, and for a distribution."""
    source, folder = manifest.path, manifest.folder
    install = _INSTALL.get(manager.name, "") if _is_project(tree) else ""
    if not install and "project" in tree and "build-system" in tree:
        install = _pip_install(tree)
    if install and not (manager.name == "uv" and above(manifest, "uv.lock")):
        yield Command("install", install, source, folder)
    if "build-system" in tree and at(tree, "tool", "poetry", "package-mode") is not False:
        build = _BUILD.get(manager.name, "python -m build")
        yield Command("build", build, source, folder)


def _is_project(tree: dict[str, Any]) -> bool:
    """Whether a manager has anything to install for this file."""
    tool = table(tree.get("tool"))
    return "project" in tree or "poetry" in tool or at(tool, "uv", "workspace") is not None


def _pip_install(tree: dict[str, Any]) -> str:
    """With the extras and groups that developers need."""
    named = extras(tree)
    chosen = next((name for name in _FOR_DEVELOPERS if name in named), "")
    place = f'-e ".[{chosen}]"' if chosen else "-e ."
    grouped = "dev" in table(tree.get("dependency-groups"))
    return f"pip install {place}{' --group dev' if grouped else ''}"
