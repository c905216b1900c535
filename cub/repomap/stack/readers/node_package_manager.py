"""Detect the package manager of a JavaScript project, and read the files beside package.json.

Those are the files of monorepos (nx.json, turbo.json), and deno.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cub.repomap.data import load_table
from cub.repomap.stack.command_purposes import build_target_commands
from cub.repomap.stack.facts import Fact, ProjectCommand
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, get_value_at, parse_json
from cub.repomap.stack.manifest import Manifest


class NodePackageManager(NamedTuple):
    """Name a manager as it is typed, and hold its row of the table.

    `is_explicit` says that a file or a field names it.
    """

    name: str
    row: Mapping[str, Any]
    version: str = ""
    is_explicit: bool = False

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
        return NodePackageManager(name, managers[name], version.partition("+")[0], is_explicit=True)
    for exists in (manifest.find_beside, manifest.exists_above):
        for manager, row in managers.items():
            if exists(*row["files"]):
                return NodePackageManager(manager, row, is_explicit=True)
    return NodePackageManager("npm", managers["npm"])


def has_manager_file(manifest: Manifest) -> bool:
    """Tell if a lock file or the like is beside: then the package is installed on its own."""
    return any(manifest.find_beside(*row["files"]) for row in _load_managers().values())


def _load_managers() -> dict[str, dict[str, Any]]:
    managers: dict[str, dict[str, Any]] = load_table("tools")["node_managers"]
    return managers


def read_nx_json(manifest: Manifest) -> Iterator[Fact]:
    """Read the targets that all packages share; they count if no script calls them."""
    targets = as_table(parse_json(manifest.text).get("targetDefaults"))
    yield from _list_task_commands(manifest, targets, "nx run-many -t")


def read_turbo_json(manifest: Manifest) -> Iterator[Fact]:
    """Read the tasks of Turborepo; those of a package that is a part are for the whole."""
    tree = parse_json(manifest.text)
    tasks = as_table(tree.get("tasks")) or as_table(tree.get("pipeline"))
    if not (manifest.find_beside("package.json") and manifest.folder):
        yield from _list_task_commands(manifest, tasks, "turbo run")


def _list_task_commands(
    manifest: Manifest, names: Iterable[str], runner: str
) -> Iterator[ProjectCommand]:
    prefix = detect_node_package_manager(manifest).row["exec"]
    lines = {name: "" for name in names if name.isidentifier()}
    for command in build_target_commands(manifest, lines, lambda name: f"{prefix} {runner} {name}"):
        yield command._replace(origin="tool")


_IMPORT = re.compile(r"(?:npm|jsr):/?(@?[^@\s]+)(?:@([^/\s]*))?")


def read_deno_json(manifest: Manifest) -> Iterator[Fact]:
    """Read Deno's configuration."""
    tree = parse_json(manifest.text)
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
