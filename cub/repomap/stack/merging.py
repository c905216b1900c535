"""From the facts of many manifests to one stack."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from cub.repomap.stack.commands.choosing import choose
from cub.repomap.stack.facts import EntryPoint, Facts, Package, Technology
from cub.repomap.stack.stack import Stack

_ROLES = ("language", "runtime", "framework", "library", "manager", "build", "tool")
_Fact = TypeVar("_Fact")


def merge(facts: Sequence[Facts]) -> Stack:
    """One stack of all facts, which come in order of their manifests, shallow ones first.

    A technology is named once, by its shallowest manifest, with the first version that any
    manifest gives. A package is one folder; where several manifests stand in it, the first that
    has a name speaks for it. Commands: see `choosing`.
    """
    packages = _packages(one for each in facts for one in each.packages)
    return Stack(
        _technologies(one for each in facts for one in each.technologies),
        choose([one for each in facts for one in each.commands], _members(facts)),
        _entry_points(one for each in facts for one in each.entry_points),
        packages,
        tuple(sorted({note for each in facts for note in each.notes})),
    )


def joined(*facts: Facts) -> Facts:
    """What several readers make of one manifest, as one."""
    return Facts(
        tuple(one for each in facts for one in each.technologies),
        tuple(one for each in facts for one in each.commands),
        tuple(one for each in facts for one in each.entry_points),
        tuple(one for each in facts for one in each.packages),
        tuple(one for each in facts for one in each.notes),
    )


def _technologies(found: Iterable[Technology]) -> tuple[Technology, ...]:
    merged: dict[str, Technology] = {}
    for one in found:
        first = merged.setdefault(one.name.casefold(), one)
        if not first.version and one.version:
            merged[one.name.casefold()] = first._replace(version=one.version)
    return tuple(sorted(merged.values(), key=lambda one: _ROLES.index(one.role)))


def _entry_points(found: Iterable[EntryPoint]) -> tuple[EntryPoint, ...]:
    return _once(found, lambda one: (one.name, one.target))


def _packages(found: Iterable[Package]) -> tuple[Package, ...]:
    """One for each folder that has a name, in order of depth and path."""
    named = [one for one in found if one.name]
    once = _once(named, lambda one: one.folder)
    return tuple(sorted(once, key=lambda one: (_depth(one.folder), one.folder)))


def _members(facts: Sequence[Facts]) -> frozenset[str]:
    """The folders that manifests of other folders, their workspaces, name as packages."""
    return frozenset(
        one.folder
        for each in facts
        for one in each.packages
        if one.folder != one.source.rpartition("/")[0]
    )


def _once(found: Iterable[_Fact], key: Callable[[_Fact], Hashable]) -> tuple[_Fact, ...]:
    merged: dict[Hashable, _Fact] = {}
    for one in found:
        merged.setdefault(key(one), one)
    return tuple(merged.values())


def _depth(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0
