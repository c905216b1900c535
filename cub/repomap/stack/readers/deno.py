"""Read deno.json and deno.jsonc: tasks, imports and the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.command_purposes import build_target_commands
from cub.repomap.stack.facts import (
    CommandPurpose,
    EntryPoint,
    ManifestFacts,
    ProjectCommand,
    ProjectPackage,
)
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, get_value_at, parse_json
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest import Manifest

_IMPORT = re.compile(r"(?:npm|jsr):/?(@?[^@\s]+)(?:@([^/\s]*))?")
_BUILT_IN: tuple[tuple[CommandPurpose, str], ...] = (
    ("test", "deno test"),
    ("lint", "deno lint"),
    ("format", "deno fmt"),
)


def read_deno_json(manifest: Manifest) -> ManifestFacts:
    """Read Deno's configuration."""
    tree = parse_json(manifest.text)
    return ManifestFacts(
        (
            manifest.make_technology("Deno", "runtime"),
            *find_known_technologies("npm", _iter_imports(tree), manifest.path),
        ),
        tuple(_list_commands(tree, manifest)),
        tuple(_list_entry_points(tree, manifest)),
        tuple(_list_packages(tree, manifest)),
    )


def _iter_imports(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for target in as_table(tree.get("imports")).values():
        if match := _IMPORT.match(target[:200]) if isinstance(target, str) else None:
            yield match[1], match[2] or ""


def _list_commands(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectCommand]:
    """Yield the tasks; and Deno's own commands for purposes that no task has."""
    tasks = {
        name: task if isinstance(task, str) else get_text_at(task, "command")
        for name, task in as_table(tree.get("tasks")).items()
    }
    targets = build_target_commands(manifest, tasks, lambda name: f"deno task {name}")
    yield from targets
    purposes = {target.purpose for target in targets}
    for purpose, line in _BUILT_IN:
        if purpose not in purposes and not manifest.exists_above("deno.json", "deno.jsonc"):
            yield manifest.make_command(purpose, line)


def _list_entry_points(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    name, exports = get_text_at(tree, "name"), tree.get("exports")
    target = exports if isinstance(exports, str) else get_text_at(exports, ".")
    path = manifest.resolve_path(target)
    if name and path in manifest.paths:
        yield manifest.make_entry_point(name, path)


def _list_packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectPackage]:
    yield manifest.make_package(get_text_at(tree, "name"), get_text_at(tree, "description"))
    workspace = tree.get("workspace")
    globs = as_texts(workspace) or as_texts(get_value_at(workspace, "members"))
    for folder in manifest.find_members(globs, "deno.json", "deno.jsonc"):
        yield manifest.make_member(folder)
