"""Read files of task runners (Make, just, Task, mise, Procfile), and scripts with known names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import (
    build_target_commands,
    detect_command_purpose,
    detect_name_purpose,
    detect_target_purpose,
)
from cub.repomap.stack.facts import Fact, ProjectCommand
from cub.repomap.stack.formats import as_table, get_value_at, parse_toml
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.readers.pyproject import format_task
from cub.repomap.stack.yaml_reader import read_yaml_scalars, select_below

# Names of files and patterns have dots, slashes or percent signs, variables a dollar.
_RULE = re.compile(r"([A-Za-z0-9_][\w -]*?)[ \t]*::?(?![:=])([^=]*)$")
_MAX_RECIPE_LINES = 20
_MAX_TARGETS = 8  # of one rule
_MAX_LINE_CHARS = 1000


def read_makefile(manifest: Manifest) -> Iterator[Fact]:
    """Read the targets of a Makefile."""
    rules = _parse_rules(manifest.text)
    # Most `make install` write into the system.
    safe = {
        name: line
        for name, line in rules.items()
        if name != "all" and (name != "install" or detect_command_purpose(line) == "install")
    }
    commands = build_target_commands(manifest, safe, lambda name: f"make {name}")
    yield from commands
    yield from _list_default_command(manifest, rules, commands)


def _parse_rules(text: str) -> dict[str, str]:
    """Return what each target runs; the targets that it needs, if it runs nothing itself."""
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    current: list[str] = []
    for line in _iter_logical_lines(text):
        rule = _RULE.match(line)
        if rule:
            current = rule[1].split()[:_MAX_TARGETS]
            for name in current:
                recipes.setdefault(name, [])
                needs[name] = [f"make {need}" for need in rule[2].split()[:_MAX_TARGETS]]
        elif line.startswith("\t"):
            for recipe in (recipes[name] for name in current):
                if len(recipe) < _MAX_RECIPE_LINES:
                    recipe.append(line.strip().lstrip("@-+"))
        elif line.strip():
            current = []
    return {name: "\n".join(lines or needs[name]) for name, lines in recipes.items()}


def _iter_logical_lines(text: str) -> Iterator[str]:
    """Yield lines with continued ones joined, cut if they are very long."""
    line = ""
    for part in map(str.rstrip, text.split("\n")):
        if len(line) < _MAX_LINE_CHARS:
            line += part.removesuffix("\\")
        if not part.endswith("\\"):
            yield line.partition(" #")[0] if not line.startswith("\t") else line
            line = ""


def _list_default_command(
    manifest: Manifest, rules: dict[str, str], commands: tuple[ProjectCommand, ...]
) -> Iterator[ProjectCommand]:
    """Yield `make` alone, if it builds and no other target does."""
    builds = any(command.purpose == "build" for command in commands)
    lines = rules.get("all", "").split("\n")
    purposes = {detect_target_purpose(line.removeprefix("make ")) for line in lines}
    if "all" in rules and not builds and not {"test", "lint", "format"} & purposes:
        yield manifest.make_command("build", "make", "target")


_RECIPE = re.compile(r"@?([A-Za-z][\w-]*)([^:\n]*):(?!=)(.*)")
_PROCESS = re.compile(r"(web|server|app|dev)[ \t]*:[ \t]*(.+)")
_MAX_NEEDS = 8
_MAX_HEADER_CHARS = 500
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
        elif header := _RECIPE.match(line[:_MAX_HEADER_CHARS]):
            needs = header[3].partition("#")[0].split()[:_MAX_NEEDS]
            recipe = [f"just {need}" for need in needs]
            # A parameter without a default has to be given, unless it takes any number.
            needs_arguments = any("=" not in one and one[0] != "*" for one in header[2].split())
            if not is_private and not needs_arguments:
                recipes[header[1]] = recipe
            is_private = False
    lines = {name: "\n".join(recipe) for name, recipe in recipes.items()}
    yield from build_target_commands(manifest, lines, lambda name: f"just {name}")


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
    yield from build_target_commands(manifest, public, lambda name: f"task {name}")


def read_mise(manifest: Manifest) -> Iterator[Fact]:
    """Read the tasks of mise."""
    tasks = as_table(parse_toml(manifest.text).get("tasks"))
    lines = {name: format_task(get_value_at(task, "run") or task) for name, task in tasks.items()}
    yield from build_target_commands(manifest, lines, lambda name: f"mise run {name}")


def read_procfile(manifest: Manifest) -> Iterator[Fact]:
    """Read the first process that serves; one with variables can't be typed as it is."""
    if process := _PROCESS.search(manifest.text[:_MAX_PROCFILE_CHARS]):
        yield manifest.make_command("run", process[2].strip(), "target")
