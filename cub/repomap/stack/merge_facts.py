"""Merge the facts of many manifests into one stack, with the commands a newcomer would type.

1. The commands of the root count first. Those of a nested folder count for a purpose that the root
   has nothing for, and only if it is a project: a member of a workspace; if neither the root nor
   a member names tests, a folder that does; any folder if the root has no commands of its own.
2. What installs the root installs no such project: each is installed by its own command.
3. For one purpose and folder, the project's own targets come first, then the commands of the tools
   that it has configured. Steps of the CI count only if there is neither.
4. The first one stays the first. Of the others, those that the CI runs come next, then those of
   tools: they take arguments, while further targets are mostly variants of the first.
5. Of two that run the same, the first one stays: `pytest` and `python -m pytest -q`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar, get_args

from cub.repomap.map_types import MapOmission
from cub.repomap.stack.command_lines import make_command_key
from cub.repomap.stack.facts import (
    COMMAND_PURPOSES,
    EntryPoint,
    Fact,
    ProjectCommand,
    ProjectPackage,
    ProjectStack,
    Technology,
    TechnologyRole,
)

MAX_COMMANDS = 3
_TRUST = {"target": 0, "tool": 1, "ci": 2}
_ROLES = get_args(TechnologyRole)
_Fact = TypeVar("_Fact")


def merge_facts(facts: Iterable[Fact], omissions: Iterable[MapOmission]) -> ProjectStack:
    """Return one stack of all facts, which come in order of their manifests, shallow ones first.

    A technology is named once, by its shallowest manifest, with the first version that any
    manifest gives. A package is one folder; if it has several manifests, the first that has a
    name counts.
    """
    by_type: dict[type[Fact], list[Any]] = {kind: [] for kind in get_args(Fact)}
    for fact in facts:
        by_type[type(fact)].append(fact)
    packages: list[ProjectPackage] = by_type[ProjectPackage]
    # What manifests of other folders, their workspaces, name as packages.
    members = (one.folder for one in packages if one.folder != one.source.rpartition("/")[0])
    named = _drop_repeated((one for one in packages if one.name), lambda one: one.folder)
    return ProjectStack(
        _merge_technologies(by_type[Technology]),
        choose_commands(by_type[ProjectCommand], frozenset(members)),
        _drop_repeated(by_type[EntryPoint], lambda entry_point: entry_point[:2]),
        tuple(sorted(named, key=lambda one: (one.folder.count("/"), one.folder))),
        tuple(sorted(set(omissions))),
    )


def choose_commands(
    commands: Sequence[ProjectCommand], members: frozenset[str]
) -> tuple[ProjectCommand, ...]:
    """Return the commands for each purpose, those of the root first, the best first.

    They are at most `MAX_COMMANDS`, and to install as many again below the root.
    """
    ci_keys = frozenset(make_command_key(one.text) for one in commands if one.origin == "ci")
    projects = _find_projects(commands, members)
    chosen: list[ProjectCommand] = []
    for purpose in reversed(COMMAND_PURPOSES):  # what installs depends on the others' folders
        candidates = [one for one in commands if one.purpose == purpose and one.folder in projects]
        of_root = _choose_best([one for one in candidates if not one.folder], ci_keys)
        nested = [one for one in candidates if one.folder]
        if of_root:
            folders = {one.folder for one in chosen} if purpose == "install" else set()
            nested = [one for one in nested if one.folder in folders]
        chosen[:0] = [*of_root, *_choose_best_nested(nested, ci_keys)]
    return tuple(chosen)


def _find_projects(commands: Sequence[ProjectCommand], members: frozenset[str]) -> frozenset[str]:
    """Return the folders whose commands count, with the root."""
    named = [one for one in commands if one.origin != "ci"]
    if not any(one.folder == "" for one in named):
        return frozenset(one.folder for one in commands)
    tested = frozenset(one.folder for one in named if one.purpose == "test")
    projects = members | {""}
    return projects | tested if tested.isdisjoint(projects) else projects


def _choose_best(
    commands: Sequence[ProjectCommand], ci_keys: frozenset[str]
) -> list[ProjectCommand]:
    """Return the best of one folder and purpose."""
    by_trust = sorted(commands, key=lambda one: _TRUST[one.origin])
    ranked = _drop_repeated(by_trust, lambda one: make_command_key(one.text))
    trusted = [one for one in ranked if one.origin != "ci"] or ranked[:1]
    rest = sorted(
        trusted[1:],
        key=lambda one: (make_command_key(one.text) not in ci_keys, one.origin != "tool"),
    )
    return [*trusted[:1], *rest][:MAX_COMMANDS]


def _choose_best_nested(
    commands: Sequence[ProjectCommand], ci_keys: frozenset[str]
) -> list[ProjectCommand]:
    """Return the best command of each of the first folders."""
    folders = sorted({one.folder for one in commands}, key=lambda name: (name.count("/"), name))
    return [
        _choose_best([one for one in commands if one.folder == folder], ci_keys)[0]
        for folder in folders[:MAX_COMMANDS]
    ]


def _merge_technologies(technologies: Iterable[Technology]) -> tuple[Technology, ...]:
    merged: dict[str, Technology] = {}
    for technology in technologies:
        first = merged.setdefault(technology.name.casefold(), technology)
        if not first.version and technology.version:
            merged[technology.name.casefold()] = first._replace(version=technology.version)
    return tuple(sorted(merged.values(), key=lambda technology: _ROLES.index(technology.role)))


def _drop_repeated(
    facts: Iterable[_Fact], make_key: Callable[[_Fact], Hashable]
) -> tuple[_Fact, ...]:
    first_by_key: dict[Hashable, _Fact] = {}
    for fact in facts:
        first_by_key.setdefault(make_key(fact), fact)
    return tuple(first_by_key.values())
