"""Task runners with a file of their own: just, Task, mise; and Procfile."""

from __future__ import annotations

import re

from cub.repomap.stack.commands.targets import commands_of
from cub.repomap.stack.facts import Command, Facts, Manifest, Reader, Technology
from cub.repomap.stack.formats.trees import at, table, toml_tree
from cub.repomap.stack.formats.yaml_lines import below, entries
from cub.repomap.stack.python.pyproject_targets import line as line_of

_RECIPE = re.compile(r"@?([A-Za-z][\w-]*)([^:\n]*):(?!=)(.*)")
_PROCESS = re.compile(r"(web|server|app|dev)[ \t]*:[ \t]*(.+)")
_MOST_LINES = 20  # of a recipe


def _just(manifest: Manifest) -> Facts:
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
    return Facts(
        (Technology("just", "tool", "", manifest.path),),
        commands_of(manifest, named, lambda name: f"just {name}"),
    )


def _needs_arguments(parameters: str) -> bool:
    """Whether one of a recipe's parameters has no default and may not be left out."""
    return any("=" not in one and not one.startswith("*") for one in parameters.split())


def _task(manifest: Manifest) -> Facts:
    tasks: dict[str, list[str]] = {}
    hidden = set()
    for one in below(entries(manifest.text), "tasks"):
        if one.keys:
            lines = tasks.setdefault(one.keys[0], [])
            if one.keys[1:2] == ("internal",) and one.value == "true":
                hidden.add(one.keys[0])
            if one.keys[1:2] in ((), ("cmd",), ("cmds",), ("0",)) and len(lines) < _MOST_LINES:
                lines.append(one.value)
    named = {name: "\n".join(lines) for name, lines in tasks.items() if name not in hidden}
    return Facts(
        (Technology("Task", "tool", "", manifest.path),),
        commands_of(manifest, named, lambda name: f"task {name}"),
    )


def _mise(manifest: Manifest) -> Facts:
    tasks = table(toml_tree(manifest.text).get("tasks"))
    named = {name: line_of(at(task, "run") or task) for name, task in tasks.items()}
    return Facts(
        (Technology("mise", "tool", "", manifest.path),),
        commands_of(manifest, named, lambda name: f"mise run {name}"),
    )


def _procfile(manifest: Manifest) -> Facts:
    """The first process that serves; one with variables can't be typed as it stands."""
    found = _PROCESS.search(manifest.text[:10_000])
    if found is None:
        return Facts()
    run = Command("run", found[2].strip(), manifest.path, manifest.folder, "target")
    return Facts(commands=(run,))


READERS = (
    Reader(("justfile", "Justfile", ".justfile", "JUSTFILE"), _just),
    Reader(("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "Taskfile.dist.yml"), _task),
    Reader(("mise.toml", ".mise.toml"), _mise),
    Reader(("Procfile",), _procfile),
)
