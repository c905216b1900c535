"""Describe what a command in a place sees."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from cub.processes.command import CommandSpec


class Bind(NamedTuple):
    """Make something of the host visible at a path inside."""

    source: str
    target: str
    is_writable: bool = False
    is_layered: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """Hold what a command sees."""

    tree: Path
    toplevel: Path
    hidden: tuple[Path, ...] = ()
    binds: tuple[Bind, ...] = ()
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class PlaceKind:
    """Name the kind of a place."""

    name: Literal["bound", "aside"]
    means: Literal["bwrap", "launcher", "landlock", "none"]
    reason: str


def confine_command(command: CommandSpec, view: View, kind: PlaceKind) -> CommandSpec:
    """Placeholder until the walls are there."""
    return command
