"""Read deno.json and deno.jsonc: tasks, imports and the workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.command_purposes import build_target_commands
from cub.repomap.stack.facts import Fact, ProjectCommand
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, get_value_at, parse_json
from cub.repomap.stack.manifest import Manifest

_IMPORT = re.compile(r"(?:npm|jsr):/?(@?[^@\s]+)(?:@([^/\s]*))?")


def read_deno_json(manifest: Manifest) -> Iterator[Fact]:
    """Read Deno's configuration."""
    tree = parse_json(manifest.text)
    yield manifest.make_technology("Deno", "runtime")
    targets = as_texts(list(as_table(tree.get("imports")).values()))
    imports = filter(None, (_IMPORT.match(target[:200]) for target in targets))
    yield from manifest.find_known("npm", [(match[1], match[2] or "") for match in imports])
    yield from _list_commands(tree, manifest)
    name, exports = get_text_at(tree, "name"), tree.get("exports")
    path = manifest.resolve_path(exports if isinstance(exports, str) else get_text_at(exports, "."))
    if path in manifest.paths:
        yield manifest.make_entry_point(name, path)
    yield manifest.make_package(name, get_text_at(tree, "description"))
    workspace = tree.get("workspace")
    globs = as_texts(workspace) or as_texts(get_value_at(workspace, "members"))
    yield from manifest.make_members(globs, "deno.json", "deno.jsonc")


def _list_commands(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectCommand]:
    """Yield the tasks; and Deno's own commands for purposes that no task has."""
    tasks = {
        name: task if isinstance(task, str) else get_text_at(task, "command")
        for name, task in as_table(tree.get("tasks")).items()
    }
    targets = build_target_commands(manifest, tasks, lambda name: f"deno task {name}")
    yield from targets
    purposes = {target.purpose for target in targets}
    if not manifest.exists_above("deno.json", "deno.jsonc"):
        built_in = manifest.make_commands(test="deno test", lint="deno lint", format="deno fmt")
        yield from (command for command in built_in if command.purpose not in purposes)
