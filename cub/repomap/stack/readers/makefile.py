"""Read Makefiles: the targets that people call, and what they run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import (
    build_target_commands,
    detect_command_purpose,
    detect_target_purpose,
)
from cub.repomap.stack.facts import Fact, ProjectCommand
from cub.repomap.stack.manifest import Manifest

# Names of files and patterns have dots, slashes or percent signs, variables a dollar.
_RULE = re.compile(r"([A-Za-z0-9_][\w -]*?)[ \t]*::?(?![:=])([^=]*)$")
_MAX_RECIPE_LINES = 20
_MAX_TARGETS = 8  # of one rule
_MAX_LINE_CHARS = 1000


def read_makefile(manifest: Manifest) -> Iterator[Fact]:
    """Read the targets of a Makefile."""
    rules = _parse_rules(manifest.text)
    safe = {name: line for name, line in rules.items() if _is_safe(name, line)}
    commands = build_target_commands(manifest, safe, lambda name: f"make {name}")
    yield manifest.make_technology("Make", "build")
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


def _is_safe(name: str, line: str) -> bool:
    """Tell if a target can be proposed: most `make install` write into the system."""
    installs_packages = name == "install" and detect_command_purpose(line) == "install"
    return name not in ("install", "all") or installs_packages


def _list_default_command(
    manifest: Manifest, rules: dict[str, str], commands: tuple[ProjectCommand, ...]
) -> Iterator[ProjectCommand]:
    """Yield `make` alone, if it builds and no other target does."""
    builds = any(command.purpose == "build" for command in commands)
    lines = rules.get("all", "").split("\n")
    purposes = {detect_target_purpose(line.removeprefix("make ")) for line in lines}
    if "all" in rules and not builds and not {"test", "lint", "format"} & purposes:
        yield manifest.make_command("build", "make", "target")
