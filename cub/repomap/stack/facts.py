"""The facts that manifests give, each with the file that it comes from.

The stack of a project: the facts of all its manifests, merged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Literal, NamedTuple

from cub.repomap.map_types import MapOmission
from cub.repomap.safe_text import to_one_line

CommandPurpose = Literal["install", "build", "test", "lint", "format", "typecheck", "run"]
TechnologyRole = Literal["language", "runtime", "framework", "library", "manager", "build", "tool"]
ReadFile = Callable[[str], bytes]  # raises OSError; the path is relative to the project's root


class Technology(NamedTuple):
    """A language, runtime, framework, library or tool: `role` tells which.

    `version` is what the manifest asks for (">=3.11", "^18.2"), "" if it does not say.
    """

    name: str
    role: TechnologyRole
    version: str
    source: str


class ProjectCommand(NamedTuple):
    """What to type in the folder `folder` ("" is the root) for `purpose`.

    `origin` says how far to trust it: a target that the project itself names (of a Makefile, a
    script of package.json, an environment of tox), what one types for a tool that it has
    configured, or a step of its CI.
    """

    purpose: CommandPurpose
    text: str
    source: str
    folder: str = ""
    origin: Literal["target", "tool", "ci"] = "tool"

    @property
    def shell_line(self) -> str:
        """What to type at the project's root; "" for a folder whose name nobody could type."""
        where = f"cd {quote(self.folder)} && " if self.folder else ""
        return f"{where}{to_one_line(self.text)}" if self.folder.isprintable() else ""


class EntryPoint(NamedTuple):
    """A program or a library's face: its name, and the path or object that it starts at."""

    name: str
    target: str
    source: str


class ProjectPackage(NamedTuple):
    """A part of the project with a manifest of its own; `folder` is "" for the root."""

    folder: str
    name: str
    description: str
    source: str


@dataclass(frozen=True, slots=True)
class ManifestFacts:
    """What one manifest says. Order counts: what matters most comes first."""

    technologies: tuple[Technology, ...] = ()
    commands: tuple[ProjectCommand, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()
    packages: tuple[ProjectPackage, ...] = ()
    omissions: tuple[MapOmission, ...] = ()


class Manifest(NamedTuple):
    """One file for a reader: its path, its text, and every path of the project to look around."""

    path: str
    text: str
    paths: frozenset[str]

    @property
    def folder(self) -> str:
        """The folder that it stands in, "" for the root."""
        return self.path.rpartition("/")[0]


class ManifestReader(NamedTuple):
    """Which files (by glob of the base name, or of the whole path) a function can read.

    The function may raise ValueError (with a line number in its words where it has one) for a
    file that it can't make sense of: that costs this file alone.
    """

    globs: Sequence[str]
    read: Callable[[Manifest], ManifestFacts]


def combine_facts(*facts: ManifestFacts) -> ManifestFacts:
    """What several readers make of one manifest, as one."""
    return ManifestFacts(
        tuple(one for each in facts for one in each.technologies),
        tuple(one for each in facts for one in each.commands),
        tuple(one for each in facts for one in each.entry_points),
        tuple(one for each in facts for one in each.packages),
        tuple(one for each in facts for one in each.omissions),
    )


@dataclass(frozen=True, slots=True)
class ProjectStack:
    """What is known of a project by its manifests; in each tuple, what matters most comes first."""

    technologies: tuple[Technology, ...] = ()
    commands: tuple[ProjectCommand, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()
    packages: tuple[ProjectPackage, ...] = ()
    omissions: tuple[MapOmission, ...] = ()

    def filter_technologies(self, *roles: str) -> tuple[Technology, ...]:
        """The technologies in one of these roles."""
        return tuple(one for one in self.technologies if one.role in roles)

    def filter_commands(self, purpose: CommandPurpose) -> tuple[ProjectCommand, ...]:
        """The commands for a purpose, the best one first."""
        return tuple(one for one in self.commands if one.purpose == purpose)
