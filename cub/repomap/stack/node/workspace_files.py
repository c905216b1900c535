"""The files of monorepos of JavaScript: pnpm-workspace.yaml, lerna.json, nx.json and turbo.json."""

from __future__ import annotations

from collections.abc import Sequence

from cub.repomap.stack.around import beside
from cub.repomap.stack.commands.targets import commands_of
from cub.repomap.stack.facts import Facts, Manifest, Package, Reader, Technology
from cub.repomap.stack.formats.trees import json_tree, table, texts
from cub.repomap.stack.formats.yaml_lines import below, entries
from cub.repomap.stack.node.manager import manager_of
from cub.repomap.stack.workspaces import members


def _pnpm(manifest: Manifest) -> Facts:
    globs = [one.value for one in below(entries(manifest.text), "packages")]
    return Facts(
        (Technology("pnpm", "manager", "", manifest.path),), packages=_members(manifest, globs)
    )


def _lerna(manifest: Manifest) -> Facts:
    globs = texts(json_tree(manifest.text).get("packages"))
    return Facts(
        (Technology("Lerna", "build", "", manifest.path),), packages=_members(manifest, globs)
    )


def _members(manifest: Manifest, globs: Sequence[str]) -> tuple[Package, ...]:
    folders = members(manifest, globs, "package.json")
    return tuple(Package(folder, "", "", manifest.path) for folder in folders)


def _nx(manifest: Manifest) -> Facts:
    """Its targets are those that all packages share; they count where no script calls them."""
    targets = table(json_tree(manifest.text).get("targetDefaults"))
    named = {name: "" for name in targets if name.isidentifier()}
    typed = manager_of(manifest).execute
    commands = commands_of(manifest, named, lambda name: f"{typed} nx run-many -t {name}")
    return Facts(
        (Technology("Nx", "build", "", manifest.path),),
        tuple(command._replace(origin="tool") for command in commands),
    )


def _turbo(manifest: Manifest) -> Facts:
    tree = json_tree(manifest.text)
    tasks = table(tree.get("tasks")) or table(tree.get("pipeline"))
    named = {name: "" for name in tasks if name.isidentifier()}
    typed = manager_of(manifest).execute
    commands = commands_of(manifest, named, lambda name: f"{typed} turbo run {name}")
    root = () if beside(manifest, "package.json") and manifest.folder else commands
    return Facts(
        (Technology("Turborepo", "build", "", manifest.path),),
        tuple(command._replace(origin="tool") for command in root),
    )


READERS = (
    Reader(("pnpm-workspace.yaml", "pnpm-workspace.yml"), _pnpm),
    Reader(("lerna.json",), _lerna),
    Reader(("nx.json",), _nx),
    Reader(("turbo.json",), _turbo),
)
