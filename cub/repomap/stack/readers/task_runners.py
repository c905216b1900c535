"""Scripts by the names that people know them by: `scripts/test`, `script/setup`, `bin/dev`.

Task runners with a file of their own: just, Task, mise; and Procfile.
"""

from __future__ import annotations

import re

from cub.repomap.stack.command_purposes import build_target_commands, detect_name_purpose
from cub.repomap.stack.facts import (
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    Technology,
)
from cub.repomap.stack.formats import as_table, get_value_at, parse_toml
from cub.repomap.stack.readers.pyproject import format_task as line_of
from cub.repomap.stack.yaml_reader import read_yaml_scalars, select_below

_FOLDERS = ("scripts", "script", "bin")
_NAMES = (
    "setup", "bootstrap", "install", "build", "compile", "test", "tests", "lint", "format", "fmt",
    "typecheck", "dev", "serve", "server", "start",
)  # fmt: skip

# An `install.sh` mostly is what users of a program fetch.
_SCRIPTS = (*_NAMES, *(f"{name}.sh" for name in _NAMES if name != "install"))


def _read(manifest: Manifest) -> ManifestFacts:
    """A file without `#!` is no script."""
    purpose = detect_name_purpose(manifest.path.rpartition("/")[2].removesuffix(".sh"))
    if purpose is None or not manifest.text.startswith("#!"):
        return ManifestFacts()
    return ManifestFacts(
        commands=(ProjectCommand(purpose, manifest.path, manifest.path, origin="target"),)
    )


READERS = (
    ManifestReader(tuple(f"{folder}/{name}" for folder in _FOLDERS for name in _SCRIPTS), _read),
)


_RECIPE = re.compile(r"@?([A-Za-z][\w-]*)([^:\n]*):(?!=)(.*)")
_PROCESS = re.compile(r"(web|server|app|dev)[ \t]*:[ \t]*(.+)")
_MOST_LINES = 20  # of a recipe


def _just(manifest: Manifest) -> ManifestFacts:
    recipes: dict[str, list[str]] = {}
    current: list[str] = []
    private = False
    for line in manifest.text.split("\n"):
        if line[:1] in (" ", "\t"):
            current[len(current) :] = (
                [line.strip().lstrip("@-")] if len(current) < _MOST_LINES else []
            )
        elif line.startswith("["):
            private = "private" in line
        elif found := _RECIPE.match(line[:500]):
            current = [f"just {need}" for need in found[3].partition("#")[0].split()[:8]]
            if not private and not _needs_arguments(found[2]):
                recipes[found[1]] = current
            private = False
    named = {name: "\n".join(lines) for name, lines in recipes.items()}
    return ManifestFacts(
        (Technology("just", "tool", "", manifest.path),),
        build_target_commands(manifest, named, lambda name: f"just {name}"),
    )


def _needs_arguments(parameters: str) -> bool:
    """Whether one of a recipe's parameters has no default and may not be left out."""
    return any("=" not in one and not one.startswith("*") for one in parameters.split())


def _task(manifest: Manifest) -> ManifestFacts:
    tasks: dict[str, list[str]] = {}
    hidden = set()
    for one in select_below(read_yaml_scalars(manifest.text), "tasks"):
        if one.keys:
            lines = tasks.setdefault(one.keys[0], [])
            if one.keys[1:2] == ("internal",) and one.value == "true":
                hidden.add(one.keys[0])
            if one.keys[1:2] in ((), ("cmd",), ("cmds",), ("0",)) and len(lines) < _MOST_LINES:
                lines.append(one.value)
    named = {name: "\n".join(lines) for name, lines in tasks.items() if name not in hidden}
    return ManifestFacts(
        (Technology("Task", "tool", "", manifest.path),),
        build_target_commands(manifest, named, lambda name: f"task {name}"),
    )


def _mise(manifest: Manifest) -> ManifestFacts:
    tasks = as_table(parse_toml(manifest.text).get("tasks"))
    named = {name: line_of(get_value_at(task, "run") or task) for name, task in tasks.items()}
    return ManifestFacts(
        (Technology("mise", "tool", "", manifest.path),),
        build_target_commands(manifest, named, lambda name: f"mise run {name}"),
    )


def _procfile(manifest: Manifest) -> ManifestFacts:
    """The first process that serves; one with variables can't be typed as it stands."""
    found = _PROCESS.search(manifest.text[:10_000])
    if found is None:
        return ManifestFacts()
    run = ProjectCommand("run", found[2].strip(), manifest.path, manifest.folder, "target")
    return ManifestFacts(commands=(run,))


TASK_FILES_READERS = (
    ManifestReader(("justfile", "Justfile", ".justfile", "JUSTFILE"), _just),
    ManifestReader(("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "Taskfile.dist.yml"), _task),
    ManifestReader(("mise.toml", ".mise.toml"), _mise),
    ManifestReader(("Procfile",), _procfile),
)
