"""Read the files of task runners (just, Task, mise, Procfile), and scripts with known names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import build_target_commands, detect_name_purpose
from cub.repomap.stack.facts import Fact, ProjectCommand
from cub.repomap.stack.formats import as_table, get_value_at, parse_toml
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.readers.pyproject import format_task
from cub.repomap.stack.yaml_reader import read_yaml_scalars, select_below

_RECIPE = re.compile(r"@?([A-Za-z][\w-]*)([^:\n]*):(?!=)(.*)")
_PROCESS = re.compile(r"(web|server|app|dev)[ \t]*:[ \t]*(.+)")
_MAX_RECIPE_LINES = 20
_MAX_NEEDS = 8
_MAX_LINE_CHARS = 500
_MAX_PROCFILE_CHARS = 10_000


def read_script(manifest: Manifest) -> Iterator[Fact]:
    """Read a script such as `scripts/test` or `bin/dev`; a file without `#!` is not one."""
    purpose = detect_name_purpose(manifest.name.removesuffix(".sh"))
    if purpose and manifest.text.startswith("#!"):
        yield ProjectCommand(purpose, manifest.path, manifest.path, origin="target")


def read_justfile(manifest: Manifest) -> Iterator[Fact]:
    """Read the recipes of a justfile that are not private and need no arguments."""
    recipes: dict[str, list[str]] = {}
    recipe: list[str] = []
    is_private = False
    for line in manifest.text.split("\n"):
        if line[:1] in (" ", "\t"):
            if len(recipe) < _MAX_RECIPE_LINES:
                recipe.append(line.strip().lstrip("@-"))
        elif line.startswith("["):
            is_private = "private" in line
        elif header := _RECIPE.match(line[:_MAX_LINE_CHARS]):
            needs = header[3].partition("#")[0].split()[:_MAX_NEEDS]
            recipe = [f"just {need}" for need in needs]
            if not is_private and not _needs_arguments(header[2]):
                recipes[header[1]] = recipe
            is_private = False
    lines = {name: "\n".join(recipe) for name, recipe in recipes.items()}
    yield manifest.make_technology("just", "tool")
    yield from build_target_commands(manifest, lines, lambda name: f"just {name}")


def _needs_arguments(parameters: str) -> bool:
    """Tell if one of a recipe's parameters has no default and may not be left out."""
    return any("=" not in one and not one.startswith("*") for one in parameters.split())


def read_taskfile(manifest: Manifest) -> Iterator[Fact]:
    """Read the tasks of a Taskfile that are not internal."""
    tasks: dict[str, list[str]] = {}
    internal = set()
    for scalar in select_below(read_yaml_scalars(manifest.text), "tasks"):
        if scalar.keys:
            name, key = scalar.keys[0], scalar.keys[1:2]
            lines = tasks.setdefault(name, [])
            if key == ("internal",) and scalar.value == "true":
                internal.add(name)
            if key in ((), ("cmd",), ("cmds",), ("0",)) and len(lines) < _MAX_RECIPE_LINES:
                lines.append(scalar.value)
    public = {name: "\n".join(lines) for name, lines in tasks.items() if name not in internal}
    yield manifest.make_technology("Task", "tool")
    yield from build_target_commands(manifest, public, lambda name: f"task {name}")


def read_mise(manifest: Manifest) -> Iterator[Fact]:
    """Read the tasks of mise."""
    tasks = as_table(parse_toml(manifest.text).get("tasks"))
    lines = {name: format_task(get_value_at(task, "run") or task) for name, task in tasks.items()}
    yield manifest.make_technology("mise", "tool")
    yield from build_target_commands(manifest, lines, lambda name: f"mise run {name}")


def read_procfile(manifest: Manifest) -> Iterator[Fact]:
    """Read the first process that serves; one with variables can't be typed as it is."""
    if process := _PROCESS.search(manifest.text[:_MAX_PROCFILE_CHARS]):
        yield manifest.make_command("run", process[2].strip(), "target")
