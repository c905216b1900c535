"""Find the commands with which a project checks itself, as its manifests name them."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

from cub.config_edit.yaml_text import format_yaml
from cub.project.project import Project
from cub.repomap.stack.facts import CommandPurpose, ProjectCommand, ProjectStack

_FEEDBACK_LOOPS: tuple[CommandPurpose, ...] = ("typecheck", "test", "lint")
_PROPOSAL_ORDER: tuple[CommandPurpose, ...] = ("test", "typecheck", "lint")
_MAX_PROPOSED = 3  # commands


def find_check_commands(project: Project) -> tuple[ProjectCommand, ...]:
    """Return the commands with which the project checks itself, as its map names them.

    Of the targets of a manifest, only the first of each purpose counts: the others are mostly parts
    and variants of it.
    """
    stack = read_configured_stack(project)
    commands: dict[tuple[str, str, str], ProjectCommand] = {}
    for purpose in _FEEDBACK_LOOPS:
        for command in stack.filter_commands(purpose):
            if command.shell_line:
                line = "" if command.origin == "target" else command.shell_line
                commands.setdefault((command.purpose, command.source, line), command)
    return tuple(commands.values())


def read_configured_stack(project: Project) -> ProjectStack:
    """Read the stack of a project without what its configuration excludes, as its map does."""
    from cub.actions.project_map import MapOptions, resolve_map_settings
    from cub.repomap.stack.read_stack import read_project_stack

    return read_project_stack(project.root, resolve_map_settings(project, MapOptions()).exclude)


def list_proposed_checks(project: Project) -> dict[str, str]:
    """Return the commands that the manifests name, tests first, each with its manifest."""
    commands = sorted(
        find_check_commands(project), key=lambda one: _PROPOSAL_ORDER.index(one.purpose)
    )
    return {command.shell_line: command.source for command in commands[:_MAX_PROPOSED]}


def format_checks_command(proposed: Iterable[str]) -> str:
    """Return the command that configures these checks."""
    return f"cub config set run.checks {quote(format_yaml(list(proposed)))}"
