"""Makefiles: the targets that people call, and what they run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.command_purposes import (
    build_target_commands,
    detect_command_purpose,
    detect_target_purpose,
)
from cub.repomap.stack.facts import (
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    Technology,
)

# Names of files and patterns have dots, slashes or percent signs, variables a dollar.
_RULE = re.compile(r"([A-Za-z0-9_][\w -]*?)[ \t]*::?(?![:=])([^=]*)$")
_MOST_LINES = 20  # of a recipe
_MOST_AT_ONCE = 8  # targets of one rule
_LONGEST = 1000


def _read(manifest: Manifest) -> ManifestFacts:
    rules = _rules(manifest.text)
    named = {name: line for name, line in rules.items() if _is_safe(name, line)}
    commands = build_target_commands(manifest, named, lambda name: f"make {name}")
    return ManifestFacts(
        (Technology("Make", "build", "", manifest.path),),
        (*commands, *_plain(manifest, rules, commands)),
    )


def _rules(text: str) -> dict[str, str]:
    """What each target runs; the targets that it needs, where it runs nothing itself."""
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    current: list[str] = []
    for line in _logical_lines(text):
        rule = _RULE.match(line)
        if rule:
            current = rule[1].split()[:_MOST_AT_ONCE]
            for name in current:
                recipes.setdefault(name, [])
                needs[name] = [f"make {need}" for need in rule[2].split()[:_MOST_AT_ONCE]]
        elif line.startswith("\t"):
            for recipe in (recipes[name] for name in current):
                if len(recipe) < _MOST_LINES:
                    recipe.append(line.strip().lstrip("@-+"))
        elif line.strip():
            current = []
    return {name: "\n".join(lines or needs[name]) for name, lines in recipes.items()}


def _logical_lines(text: str) -> Iterator[str]:
    """Lines with those behind a backslash joined, cut where nobody would read on."""
    whole = ""
    for line in text.split("\n"):
        part = line.rstrip()
        if len(whole) < _LONGEST:
            whole += part.removesuffix("\\")
        if not part.endswith("\\"):
            yield whole.partition(" #")[0] if not whole.startswith("\t") else whole
            whole = ""


def _is_safe(name: str, line: str) -> bool:
    """`make install` of most Makefiles writes into the system; those that install packages, not."""
    return name not in ("install", "all") or (name == "install" and _installs(line))


def _installs(line: str) -> bool:
    return detect_command_purpose(line) == "install"


def _plain(
    manifest: Manifest, rules: dict[str, str], commands: tuple[ProjectCommand, ...]
) -> Iterator[ProjectCommand]:
    """`make` alone, where it builds and no other target does."""
    builds = any(command.purpose == "build" for command in commands)
    needs = [
        detect_target_purpose(line.removeprefix("make "))
        for line in rules.get("all", "").split("\n")
    ]
    if "all" in rules and not builds and not {"test", "lint", "format"}.intersection(needs):
        yield ProjectCommand("build", "make", manifest.path, manifest.folder, "target")


READERS = (ManifestReader(("Makefile", "makefile", "GNUmakefile"), _read),)
