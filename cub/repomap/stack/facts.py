"""The facts that manifests give, each with the file that it comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Literal, NamedTuple

from cub.repomap.notes import Note
from cub.repomap.outline.words import one_line

Purpose = Literal["install", "build", "test", "lint", "format", "typecheck", "run"]
Role = Literal["language", "runtime", "framework", "library", "manager", "build", "tool"]
Read = Callable[[str], bytes]  # raises OSError; the path is relative to the project's root


class Technology(NamedTuple):
    """A language, runtime, framework, library or tool: `role` tells which.

    `version` is what the manifest asks for (">=3.11", "^18.2"), "" if it does not say.
    """

    name: str
    role: Role
    version: str
    source: str


class Command(NamedTuple):
    """What to type in the folder `folder` ("" is the root) for `purpose`.

    `origin` says how far to trust it: a target that the project itself names (of a Makefile, a
    script of package.json, an environment of tox), what one types for a tool that it has
    configured, or a step of its CI.
    """

    purpose: Purpose
    text: str
    source: str
    folder: str = ""
    origin: Literal["target", "tool", "ci"] = "tool"

    @property
    def line(self) -> str:
        """What to type at the project's root; "" for a folder whose name nobody could type."""
        where = f"cd {quote(self.folder)} && " if self.folder else ""
        return f"{where}{one_line(self.text)}" if self.folder.isprintable() else ""


class EntryPoint(NamedTuple):
    """A program or a library's face: its name, and the path or object that it starts at."""

    name: str
    target: str
    source: str


class Package(NamedTuple):
    """A part of the project with a manifest of its own; `folder` is "" for the root."""

    folder: str
    name: str
    description: str
    source: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What one manifest says. Order counts: what matters most comes first."""

    technologies: tuple[Technology, ...] = ()
    commands: tuple[Command, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()
    packages: tuple[Package, ...] = ()
    notes: tuple[Note, ...] = ()


class Manifest(NamedTuple):
    """One file for a reader: its path, its text, and every path of the project to look around."""

    path: str
    text: str
    paths: frozenset[str]

    @property
    def folder(self) -> str:
        """The folder that it stands in, "" for the root."""
        return self.path.rpartition("/")[0]


class Reader(NamedTuple):
    """Which files (by glob of the base name, or of the whole path) a function can read.

    The function may raise ValueError (with a line number in its words where it has one) for a
    file that it can't make sense of: that costs this file alone.
    """

    globs: Sequence[str]
    read: Callable[[Manifest], Facts]
