"""The stack of a project: the facts of all its manifests, merged."""

from __future__ import annotations

from dataclasses import dataclass

from cub.repomap.notes import Note
from cub.repomap.stack.facts import Command, EntryPoint, Package, Purpose, Technology


@dataclass(frozen=True, slots=True)
class Stack:
    """What is known of a project by its manifests; in each tuple, what matters most comes first."""

    technologies: tuple[Technology, ...] = ()
    commands: tuple[Command, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()
    packages: tuple[Package, ...] = ()
    notes: tuple[Note, ...] = ()

    def technologies_of(self, *roles: str) -> tuple[Technology, ...]:
        """The technologies in one of these roles."""
        return tuple(one for one in self.technologies if one.role in roles)

    def commands_for(self, purpose: Purpose) -> tuple[Command, ...]:
        """The commands for a purpose, the best one first."""
        return tuple(one for one in self.commands if one.purpose == purpose)
