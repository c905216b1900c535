"""Which of all commands a newcomer would type.

1. What stands in the root counts first. The commands of a nested folder count for a purpose that
   the root has nothing for, and only if the folder is a member of a workspace, or the root has no
   commands of its own at all.
2. For one purpose and folder, the project's own targets come first, then what one types for the
   tools that it has configured. Steps of the CI count only where there is neither.
3. The first one stays the first. Of the others, those that the CI runs go ahead, then those of
   tools: they take arguments, while further targets are mostly variants of the first.
4. Of two that run the same, the first one stays: `pytest` and `python -m pytest -q`.

From the facts of many manifests to one stack.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from cub.repomap.stack.command_lines import make_command_key
from cub.repomap.stack.facts import (
    CommandPurpose,
    EntryPoint,
    ManifestFacts,
    ProjectCommand,
    ProjectPackage,
    ProjectStack,
    Technology,
)

MAX_COMMANDS = 3
_ORDER: tuple[CommandPurpose, ...] = (
    "install",
    "build",
    "test",
    "lint",
    "format",
    "typecheck",
    "run",
)
_TRUST = {"target": 0, "tool": 1, "ci": 2}


def choose_commands(
    commands: Sequence[ProjectCommand], members: frozenset[str]
) -> tuple[ProjectCommand, ...]:
    """At most `MAX_COMMANDS` for each purpose, those of the root first, the best one first."""
    seen = frozenset(make_command_key(one.text) for one in commands if one.origin == "ci")
    own = any(one.folder == "" and one.origin != "ci" for one in commands)
    chosen: list[ProjectCommand] = []
    for purpose in _ORDER:
        found = [one for one in commands if one.purpose == purpose]
        best = _best([one for one in found if one.folder == ""], seen)
        nested = [one for one in found if one.folder in members or (one.folder and not own)]
        chosen += best or _best_nested(nested, seen)
    return tuple(chosen)


def _best(found: Sequence[ProjectCommand], seen: frozenset[str]) -> list[ProjectCommand]:
    """The best of one folder and purpose."""
    ranked = sorted(_once(found), key=lambda one: _TRUST[one.origin])  # else in order
    trusted = [one for one in ranked if one.origin != "ci"] or ranked[:1]
    rest = sorted(
        trusted[1:], key=lambda one: (make_command_key(one.text) not in seen, one.origin != "tool")
    )
    return [*trusted[:1], *rest][:MAX_COMMANDS]


def _best_nested(found: Sequence[ProjectCommand], seen: frozenset[str]) -> list[ProjectCommand]:
    """The best command of each of the first folders."""
    folders = sorted({one.folder for one in found}, key=lambda name: (name.count("/"), name))
    return [
        _best([one for one in found if one.folder == folder], seen)[0]
        for folder in folders[:MAX_COMMANDS]
    ]


def _once(found: Iterable[ProjectCommand]) -> list[ProjectCommand]:
    """The most trusted of those that run the same."""
    kept: dict[str, ProjectCommand] = {}
    for one in sorted(found, key=lambda one: _TRUST[one.origin]):
        kept.setdefault(make_command_key(one.text), one)
    return list(kept.values())


_ROLES = ("language", "runtime", "framework", "library", "manager", "build", "tool")
_Fact = TypeVar("_Fact")


def merge_facts(facts: Sequence[ManifestFacts]) -> ProjectStack:
    """One stack of all facts, which come in order of their manifests, shallow ones first.

    A technology is named once, by its shallowest manifest, with the first version that any
    manifest gives. A package is one folder; where several manifests stand in it, the first that
    has a name speaks for it. Commands: see `choosing`.
    """
    packages = _packages(one for each in facts for one in each.packages)
    return ProjectStack(
        _technologies(one for each in facts for one in each.technologies),
        choose_commands([one for each in facts for one in each.commands], _members(facts)),
        _entry_points(one for each in facts for one in each.entry_points),
        packages,
        tuple(sorted({note for each in facts for note in each.omissions})),
    )


def _technologies(found: Iterable[Technology]) -> tuple[Technology, ...]:
    merged: dict[str, Technology] = {}
    for one in found:
        first = merged.setdefault(one.name.casefold(), one)
        if not first.version and one.version:
            merged[one.name.casefold()] = first._replace(version=one.version)
    return tuple(sorted(merged.values(), key=lambda one: _ROLES.index(one.role)))


def _entry_points(found: Iterable[EntryPoint]) -> tuple[EntryPoint, ...]:
    return _merging_once(found, lambda one: (one.name, one.target))


def _packages(found: Iterable[ProjectPackage]) -> tuple[ProjectPackage, ...]:
    """One for each folder that has a name, in order of depth and path."""
    named = [one for one in found if one.name]
    once = _merging_once(named, lambda one: one.folder)
    return tuple(sorted(once, key=lambda one: (_depth(one.folder), one.folder)))


def _members(facts: Sequence[ManifestFacts]) -> frozenset[str]:
    """The folders that manifests of other folders, their workspaces, name as packages."""
    return frozenset(
        one.folder
        for each in facts
        for one in each.packages
        if one.folder != one.source.rpartition("/")[0]
    )


def _merging_once(found: Iterable[_Fact], key: Callable[[_Fact], Hashable]) -> tuple[_Fact, ...]:
    merged: dict[Hashable, _Fact] = {}
    for one in found:
        merged.setdefault(key(one), one)
    return tuple(merged.values())


def _depth(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0
