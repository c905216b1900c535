"""Made-up projects as texts by path, and what is read out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cub.repomap.stack.facts import ProjectStack
from cub.repomap.stack.manifest import ManifestReader
from cub.repomap.stack.read_stack import read_manifests

Files: TypeAlias = Mapping[str, str | bytes]


def stack_of(files: Files, readers: Sequence[ManifestReader] | None = None) -> ProjectStack:
    """The stack of a project with these files."""

    def read(path: str) -> bytes:
        data = files[path]
        return data if isinstance(data, bytes) else data.encode()

    return read_manifests(list(files), read, readers)


def commands(stack: ProjectStack) -> dict[str, list[str]]:
    """What to type, by purpose; `folder: line` below the root."""
    found: dict[str, list[str]] = {}
    for one in stack.commands:
        text = f"{one.folder}: {one.text}" if one.folder else one.text
        found.setdefault(one.purpose, []).append(text)
    return found


def names(stack: ProjectStack, *roles: str) -> list[str]:
    """The technologies in these roles (in any, if none is given), with their versions."""
    found = [one for one in stack.technologies if not roles or one.role in roles]
    return [f"{one.name} {one.version}".strip() for one in found]
