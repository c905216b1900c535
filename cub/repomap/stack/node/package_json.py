"""package.json: the package, what it needs, its scripts, its programs and its workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.around import above
from cub.repomap.stack.commands.purposes import purpose_of_command
from cub.repomap.stack.commands.targets import commands_of
from cub.repomap.stack.facts import Command, Facts, Manifest, Package, Reader, Technology
from cub.repomap.stack.formats.trees import at, json_tree, table, text_at, texts
from cub.repomap.stack.node.faces import entry_points
from cub.repomap.stack.node.manager import Manager, manager_of
from cub.repomap.stack.node.needs import technologies, versions
from cub.repomap.stack.node.tools import inferred
from cub.repomap.stack.workspaces import members

# Scripts that the manager runs by itself, at moments of its own.
_HOOKS = frozenset({
    "prepare", "prepublish", "prepublishonly", "prepack", "postpack", "preinstall", "install",
    "postinstall", "preversion", "version", "postversion", "dependencies",
})  # fmt: skip


def _read(manifest: Manifest) -> Facts:
    tree = json_tree(manifest.text)
    manager = manager_of(manifest, text_at(tree, "packageManager"))
    return Facts(
        tuple(_technologies(tree, manager, manifest)),
        tuple(_commands(tree, manager, manifest)),
        tuple(entry_points(tree, manifest)),
        tuple(_packages(tree, manifest)),
    )


def _technologies(
    tree: dict[str, Any], manager: Manager, manifest: Manifest
) -> Iterator[Technology]:
    source = manifest.path
    typescript = versions(tree).get("typescript")
    if typescript is not None:
        yield Technology("TypeScript", "language", typescript, source)
    if not text_at(tree, "engines", "vscode"):
        yield Technology("Node.js", "runtime", text_at(tree, "engines", "node"), source)
    else:
        yield Technology(
            "VS Code extension", "framework", text_at(tree, "engines", "vscode"), source
        )
    yield from technologies(tree, source)
    if manager.sure or not above(manifest, "package.json"):
        yield Technology(manager.title, "manager", manager.version, source)


def _commands(tree: dict[str, Any], manager: Manager, manifest: Manifest) -> Iterator[Command]:
    scripts = _scripts(tree)
    targets = commands_of(manifest, scripts, manager.run)
    if not above(manifest, "package.json"):
        typed = f"{manager.name} install"
        yield Command("install", typed, manifest.path, manifest.folder, "target")
    yield from targets
    done = {one.purpose for one in targets}
    for command in inferred(tree, manager, manifest):
        if command.purpose not in done:
            yield command


def _scripts(tree: dict[str, Any]) -> dict[str, str]:
    """The scripts that somebody types: no hooks, and not the placeholder of `npm init`.

    To `check` can mean anything, so what such a script runs has to tell.
    """
    found = {k: v for k, v in table(tree.get("scripts")).items() if isinstance(v, str)}
    if purpose_of_command(found.get("check", "")) is None:
        found.pop("check", None)
    return {name: line for name, line in found.items() if not _is_hook(name, found)}


def _is_hook(name: str, scripts: dict[str, str]) -> bool:
    around = (name.removeprefix(start) for start in ("pre", "post") if name.startswith(start))
    empty = "no test specified" in scripts[name]
    return name.lower() in _HOOKS or empty or any(other in scripts for other in around)


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[Package]:
    yield Package(
        manifest.folder, text_at(tree, "name"), text_at(tree, "description"), manifest.path
    )
    listed = tree.get("workspaces")
    globs = texts(listed) or texts(at(listed, "packages"))
    for folder in members(manifest, globs, "package.json"):
        yield Package(folder, "", "", manifest.path)


READERS = (Reader(("package.json",), _read),)
