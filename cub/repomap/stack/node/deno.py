"""Deno: deno.json and deno.jsonc with their tasks, imports and workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.around import above, path_of
from cub.repomap.stack.commands.targets import commands_of
from cub.repomap.stack.dependencies import known
from cub.repomap.stack.facts import (
    Command,
    EntryPoint,
    Facts,
    Manifest,
    Package,
    Purpose,
    Reader,
    Technology,
)
from cub.repomap.stack.formats.trees import at, json_tree, table, text_at, texts
from cub.repomap.stack.workspaces import members

_IMPORT = re.compile(r"(?:npm|jsr):/?(@?[^@\s]+)(?:@([^/\s]*))?")
_BUILT_IN: tuple[tuple[Purpose, str], ...] = (
    ("test", "deno test"),
    ("lint", "deno lint"),
    ("format", "deno fmt"),
)


def _read(manifest: Manifest) -> Facts:
    tree = json_tree(manifest.text)
    return Facts(
        (
            Technology("Deno", "runtime", "", manifest.path),
            *known("npm", _imports(tree), manifest.path),
        ),
        tuple(_commands(tree, manifest)),
        tuple(_entry_points(tree, manifest)),
        tuple(_packages(tree, manifest)),
    )


def _imports(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for target in table(tree.get("imports")).values():
        found = _IMPORT.match(target[:200]) if isinstance(target, str) else None
        if found:
            yield found[1], found[2] or ""


def _commands(tree: dict[str, Any], manifest: Manifest) -> Iterator[Command]:
    """The tasks; and what Deno brings along, for what no task is for."""
    tasks = {name: _line(task) for name, task in table(tree.get("tasks")).items()}
    targets = commands_of(manifest, tasks, lambda name: f"deno task {name}")
    yield from targets
    done = {one.purpose for one in targets}
    for purpose, line in _BUILT_IN:
        if purpose not in done and not above(manifest, "deno.json", "deno.jsonc"):
            yield Command(purpose, line, manifest.path, manifest.folder)


def _line(task: object) -> str:
    return task if isinstance(task, str) else text_at(task, "command")


def _entry_points(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    name, face = text_at(tree, "name"), tree.get("exports")
    target = face if isinstance(face, str) else text_at(face, ".")
    if name and target and path_of(manifest, target) in manifest.paths:
        yield EntryPoint(name, path_of(manifest, target), manifest.path)


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[Package]:
    yield Package(
        manifest.folder, text_at(tree, "name"), text_at(tree, "description"), manifest.path
    )
    listed = tree.get("workspace")
    globs = texts(listed) or texts(at(listed, "members"))
    for folder in members(manifest, globs, "deno.json", "deno.jsonc"):
        yield Package(folder, "", "", manifest.path)


READERS = (Reader(("deno.json", "deno.jsonc"), _read),)
