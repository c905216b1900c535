"""Hold the facts that manifests give, each with its file, and the stack of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from cub.repomap.map_types import MapOmission
from cub.repomap.safe_text import to_one_line

CommandPurpose = Literal["install", "build", "test", "lint", "format", "typecheck", "run"]
COMMAND_PURPOSES: tuple[CommandPurpose, ...] = get_args(CommandPurpose)
CommandOrigin = Literal["target", "tool", "ci"]
TechnologyRole = Literal["language", "runtime", "framework", "library", "manager", "build", "tool"]
ReadFile = Callable[[str], bytes]  # raises OSError; the path is relative to the project's root


class Technology(NamedTuple):
    """Describe a language, runtime, framework, library or tool, as `role` says.

    `version` is what the manifest asks for (">=3.11", "^18.2"), "" if it does not say.
    """

    name: str
    role: TechnologyRole
    version: str
    source: str


class ProjectCommand(NamedTuple):
    """Say what to type in the folder `folder` ("" is the root) for `purpose`.

    `origin` says how far to trust it: a target that the project itself names (of a Makefile, a
    script of package.json, an environment of tox), the usual command of a tool that it has
    configured, or a step of its CI. `runs` has the lines behind a target, "" if they are not known.
    """

    purpose: CommandPurpose
    text: str
    source: str
    folder: str = ""
    origin: CommandOrigin = "tool"
    runs: str = ""

    @property
    def shell_line(self) -> str:
        """Return the line for the project's root; "" if the folder's name can't be typed."""
        where = f"cd {quote(self.folder)} && " if self.folder else ""
        return f"{where}{to_one_line(self.text)}" if self.folder.isprintable() else ""


class EntryPoint(NamedTuple):
    """Name a program or an importable library, and the path or object that it starts at."""

    name: str
    target: str
    source: str


class ProjectPackage(NamedTuple):
    """Describe a part of the project with a manifest of its own; `folder` is "" for the root."""

    folder: str
    name: str
    description: str
    source: str


# What a reader yields; of each type, what matters most comes first.
Fact: TypeAlias = Technology | ProjectCommand | EntryPoint | ProjectPackage


def iter_row_commands(row: Mapping[str, Any]) -> Iterator[tuple[CommandPurpose, str]]:
    """Yield the commands of a table's row, which are under the names of their purposes."""
    for purpose in COMMAND_PURPOSES:
        if purpose in row:
            yield purpose, row[purpose]


@dataclass(frozen=True, slots=True)
class ProjectStack:
    """Hold the merged facts of all manifests; in each tuple, what matters most comes first."""

    technologies: tuple[Technology, ...] = ()
    commands: tuple[ProjectCommand, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()
    packages: tuple[ProjectPackage, ...] = ()
    omissions: tuple[MapOmission, ...] = ()

    def filter_commands(self, purpose: CommandPurpose) -> tuple[ProjectCommand, ...]:
        """Return the commands for a purpose, the best one first."""
        return tuple(command for command in self.commands if command.purpose == purpose)
