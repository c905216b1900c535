"""Deno: deno.json and deno.jsonc with their tasks, imports and workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.command_purposes import build_target_commands
from cub.repomap.stack.facts import (
    CommandPurpose,
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, get_value_at, parse_json
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest_paths import (
    exists_above,
    find_workspace_members,
    resolve_manifest_path,
)

_IMPORT = re.compile(r"(?:npm|jsr):/?(@?[^@\s]+)(?:@([^/\s]*))?")
_BUILT_IN: tuple[tuple[CommandPurpose, str], ...] = (
    ("test", "deno test"),
    ("lint", "deno lint"),
    ("format", "deno fmt"),
)


def _read(manifest: Manifest) -> ManifestFacts:
    tree = parse_json(manifest.text)
    return ManifestFacts(
        (
            Technology("Deno", "runtime", "", manifest.path),
            *find_known_technologies("npm", _imports(tree), manifest.path),
        ),
        tuple(_commands(tree, manifest)),
        tuple(_entry_points(tree, manifest)),
        tuple(_packages(tree, manifest)),
    )


def _imports(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for target in as_table(tree.get("imports")).values():
        found = _IMPORT.match(target[:200]) if isinstance(target, str) else None
        if found:
            yield found[1], found[2] or ""


def _commands(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectCommand]:
    """The tasks; and what Deno brings along, for what no task is for."""
    tasks = {name: _line(task) for name, task in as_table(tree.get("tasks")).items()}
    targets = build_target_commands(manifest, tasks, lambda name: f"deno task {name}")
    yield from targets
    done = {one.purpose for one in targets}
    for purpose, line in _BUILT_IN:
        if purpose not in done and not exists_above(manifest, "deno.json", "deno.jsonc"):
            yield ProjectCommand(purpose, line, manifest.path, manifest.folder)


def _line(task: object) -> str:
    return task if isinstance(task, str) else get_text_at(task, "command")


def _entry_points(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    name, face = get_text_at(tree, "name"), tree.get("exports")
    target = face if isinstance(face, str) else get_text_at(face, ".")
    if name and target and resolve_manifest_path(manifest, target) in manifest.paths:
        yield EntryPoint(name, resolve_manifest_path(manifest, target), manifest.path)


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectPackage]:
    yield ProjectPackage(
        manifest.folder, get_text_at(tree, "name"), get_text_at(tree, "description"), manifest.path
    )
    listed = tree.get("workspace")
    globs = as_texts(listed) or as_texts(get_value_at(listed, "members"))
    for folder in find_workspace_members(manifest, globs, "deno.json", "deno.jsonc"):
        yield ProjectPackage(folder, "", "", manifest.path)


READERS = (ManifestReader(("deno.json", "deno.jsonc"), _read),)
