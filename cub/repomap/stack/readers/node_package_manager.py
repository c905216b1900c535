"""Detect the package manager of a JavaScript project, and read the files of its monorepos.

Those are pnpm-workspace.yaml, lerna.json, nx.json and turbo.json.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from cub.repomap.data import load_table
from cub.repomap.stack.command_purposes import build_target_commands
from cub.repomap.stack.facts import ManifestFacts, ProjectCommand, ProjectPackage
from cub.repomap.stack.formats import as_table, as_texts, parse_json
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.yaml_reader import read_yaml_scalars, select_below


class NodePackageManager(NamedTuple):
    """Name a manager as it is typed; `is_explicit` says that a file or a field names it."""

    name: str
    version: str = ""
    is_explicit: bool = False

    @property
    def display_name(self) -> str:
        """Return the name as people write it."""
        return str(_load_managers()[self.name]["name"])

    @property
    def exec_prefix(self) -> str:
        """Return what comes before a program that the project has installed."""
        return str(_load_managers()[self.name]["exec"])

    def format_run_command(self, script: str) -> str:
        """Return what to type for a script of package.json."""
        words = load_table("tools")["node"]
        if self.name == "npm":
            is_short = script in words["npm_scripts"]
        else:
            is_short = self.name in ("pnpm", "yarn") and script not in words["own_words"]
        return f"{self.name} {script}" if is_short else f"{self.name} run {script}"


def detect_node_package_manager(manifest: Manifest, field: str = "") -> NodePackageManager:
    """Return it by the field packageManager ("pnpm@9.1.0"), else by the files beside, or above."""
    managers = _load_managers()
    name, _, version = field.partition("@")
    if name in managers:
        return NodePackageManager(name, version.partition("+")[0], is_explicit=True)
    for exists in (manifest.find_beside, manifest.exists_above):
        for manager, row in managers.items():
            if exists(*row["files"]):
                return NodePackageManager(manager, is_explicit=True)
    return NodePackageManager("npm")


def has_manager_file(manifest: Manifest) -> bool:
    """Tell if a lock file or the like is beside: then the package is installed on its own."""
    return any(manifest.find_beside(*row["files"]) for row in _load_managers().values())


def _load_managers() -> dict[str, dict[str, Any]]:
    managers: dict[str, dict[str, Any]] = load_table("tools")["node_managers"]
    return managers


def read_pnpm_workspace(manifest: Manifest) -> ManifestFacts:
    """Read the members of a workspace of pnpm."""
    scalars = select_below(read_yaml_scalars(manifest.text), "packages")
    return ManifestFacts(
        (manifest.make_technology("pnpm", "manager"),),
        packages=_list_members(manifest, [scalar.value for scalar in scalars]),
    )


def read_lerna_json(manifest: Manifest) -> ManifestFacts:
    """Read the members of a workspace of Lerna."""
    globs = as_texts(parse_json(manifest.text).get("packages"))
    return ManifestFacts(
        (manifest.make_technology("Lerna", "build"),), packages=_list_members(manifest, globs)
    )


def _list_members(manifest: Manifest, globs: Sequence[str]) -> tuple[ProjectPackage, ...]:
    folders = manifest.find_members(globs, "package.json")
    return tuple(manifest.make_member(folder) for folder in folders)


def read_nx_json(manifest: Manifest) -> ManifestFacts:
    """Read the targets that all packages share; they count if no script calls them."""
    targets = as_table(parse_json(manifest.text).get("targetDefaults"))
    prefix = detect_node_package_manager(manifest).exec_prefix
    return ManifestFacts(
        (manifest.make_technology("Nx", "build"),),
        _list_task_commands(manifest, targets, lambda name: f"{prefix} nx run-many -t {name}"),
    )


def read_turbo_json(manifest: Manifest) -> ManifestFacts:
    """Read the tasks of Turborepo; those of a package that is a part are for the whole."""
    tree = parse_json(manifest.text)
    tasks = as_table(tree.get("tasks")) or as_table(tree.get("pipeline"))
    prefix = detect_node_package_manager(manifest).exec_prefix
    if manifest.find_beside("package.json") and manifest.folder:
        tasks = {}
    return ManifestFacts(
        (manifest.make_technology("Turborepo", "build"),),
        _list_task_commands(manifest, tasks, lambda name: f"{prefix} turbo run {name}"),
    )


def _list_task_commands(
    manifest: Manifest, names: Iterable[str], format_invocation: Callable[[str], str]
) -> tuple[ProjectCommand, ...]:
    lines = {name: "" for name in names if name.isidentifier()}
    commands = build_target_commands(manifest, lines, format_invocation)
    return tuple(command._replace(origin="tool") for command in commands)
