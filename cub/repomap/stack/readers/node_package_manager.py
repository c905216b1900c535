"""Which package manager a JavaScript project uses, and what one types with it.

The files of monorepos of JavaScript: pnpm-workspace.yaml, lerna.json, nx.json and turbo.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cub.repomap.stack.command_purposes import build_target_commands
from cub.repomap.stack.facts import (
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import as_table, as_texts, parse_json
from cub.repomap.stack.manifest_paths import exists_above, find_beside, find_workspace_members
from cub.repomap.stack.yaml_reader import read_yaml_scalars, select_below

# The lock files, and other files that only one manager has.
_FILES = {
    "pnpm": ("pnpm-lock.yaml", "pnpm-workspace.yaml"),
    "yarn": ("yarn.lock", ".yarnrc.yml", ".yarnrc"),
    "bun": ("bun.lock", "bun.lockb"),
    "npm": ("package-lock.json", "npm-shrinkwrap.json"),
}
_NAMES = {"npm": "npm", "pnpm": "pnpm", "yarn": "Yarn", "bun": "Bun"}
_EXECUTES = {"npm": "npx", "pnpm": "pnpm exec", "yarn": "yarn", "bun": "bunx"}
# Scripts that `npm` runs without `run`, and those that `pnpm` and `yarn` take for their own words.
_SHORT = frozenset({"test", "start"})
_OWN_WORDS = frozenset({
    "install", "setup", "link", "pack", "publish", "deploy", "add", "audit", "config", "exec",
    "fetch", "import", "init", "list", "prune", "rebuild", "remove", "root", "store", "up", "why",
})  # fmt: skip


class NodePackageManager(NamedTuple):
    """`name` is what one types; `is_explicit` says that a file or a field names it."""

    name: str
    version: str = ""
    is_explicit: bool = False

    @property
    def display_name(self) -> str:
        """Its name as people write it."""
        return _NAMES[self.name]

    @property
    def exec_prefix(self) -> str:
        """What stands in front of a program that the project has installed."""
        return _EXECUTES[self.name]

    def format_run_command(self, script: str) -> str:
        """What one types for a script of package.json."""
        if self.name == "npm":
            return f"npm {script}" if script in _SHORT else f"npm run {script}"
        plain = self.name in ("pnpm", "yarn") and script not in _OWN_WORDS
        return f"{self.name} {script}" if plain else f"{self.name} run {script}"


def detect_node_package_manager(manifest: Manifest, field: str = "") -> NodePackageManager:
    """By the field packageManager ("pnpm@9.1.0"), then by the files beside, then by those above."""
    name, _, version = field.partition("@")
    if name in _NAMES:
        return NodePackageManager(name, version.partition("+")[0], is_explicit=True)
    for stands in (find_beside, exists_above):
        for manager, files in _FILES.items():
            if stands(manifest, *files):
                return NodePackageManager(manager, is_explicit=True)
    return NodePackageManager("npm")


def _pnpm(manifest: Manifest) -> ManifestFacts:
    globs = [one.value for one in select_below(read_yaml_scalars(manifest.text), "packages")]
    return ManifestFacts(
        (Technology("pnpm", "manager", "", manifest.path),), packages=_members(manifest, globs)
    )


def _lerna(manifest: Manifest) -> ManifestFacts:
    globs = as_texts(parse_json(manifest.text).get("packages"))
    return ManifestFacts(
        (Technology("Lerna", "build", "", manifest.path),), packages=_members(manifest, globs)
    )


def _members(manifest: Manifest, globs: Sequence[str]) -> tuple[ProjectPackage, ...]:
    folders = find_workspace_members(manifest, globs, "package.json")
    return tuple(ProjectPackage(folder, "", "", manifest.path) for folder in folders)


def _nx(manifest: Manifest) -> ManifestFacts:
    """Its targets are those that all packages share; they count where no script calls them."""
    targets = as_table(parse_json(manifest.text).get("targetDefaults"))
    named = {name: "" for name in targets if name.isidentifier()}
    typed = detect_node_package_manager(manifest).exec_prefix
    commands = build_target_commands(manifest, named, lambda name: f"{typed} nx run-many -t {name}")
    return ManifestFacts(
        (Technology("Nx", "build", "", manifest.path),),
        tuple(command._replace(origin="tool") for command in commands),
    )


def _turbo(manifest: Manifest) -> ManifestFacts:
    tree = parse_json(manifest.text)
    tasks = as_table(tree.get("tasks")) or as_table(tree.get("pipeline"))
    named = {name: "" for name in tasks if name.isidentifier()}
    typed = detect_node_package_manager(manifest).exec_prefix
    commands = build_target_commands(manifest, named, lambda name: f"{typed} turbo run {name}")
    root = () if find_beside(manifest, "package.json") and manifest.folder else commands
    return ManifestFacts(
        (Technology("Turborepo", "build", "", manifest.path),),
        tuple(command._replace(origin="tool") for command in root),
    )


READERS = (
    ManifestReader(("pnpm-workspace.yaml", "pnpm-workspace.yml"), _pnpm),
    ManifestReader(("lerna.json",), _lerna),
    ManifestReader(("nx.json",), _nx),
    ManifestReader(("turbo.json",), _turbo),
)
