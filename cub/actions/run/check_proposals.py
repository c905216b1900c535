"""Propose the tests of a project as checks, for a run that has none otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from cub.actions.check_commands import (
    format_checks_command,
    propose_checks,
    read_configured_stack,
)
from cub.actions.run.run_options import RunSettings
from cub.actions.run.task_queue import list_runnable_tasks
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.git.worktree import require_repository
from cub.project.config_layers import resolve_config
from cub.project.project import Project
from cub.repomap.stack.command_lines import find_install_command
from cub.store.task_index import TaskIndex

_MAX_TASKS_READ = 20  # to find one without a check
# What a tool says of a script, target or subcommand that does not exist.
_UNKNOWN_NAME = re.compile(
    r"missing script\b|\bunknown (?:command|lifecycle phase)\b|no rule to make target|NO_SCRIPT\b"
    r"|no such (?:sub)?command\b|unrecognized subcommand|Couldn't find a script|Script not found"
    r"|Don't know how to build task|\bTask '[^']+' not found|no makefile found|not contain recipe",
    re.IGNORECASE,
)


def list_unconfigured_checks(stores: Stores, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the proposed checks of a project that configures none; {} for any other."""
    configured = resolve_config(stores.project, environ).values["run.checks"].value
    return {} if configured else dict(propose_checks(stores.project, environ).commands)


def resolve_checks(
    stores: Stores, tasks: TaskIndex, settings: RunSettings, environ: Mapping[str, str]
) -> RunSettings:
    """Return the settings, with the proposed checks if a task would have none.

    `tasks` has those that the run is going to add. Raises CubError if there is nothing to propose,
    and the person has not said that no check is needed.
    """
    if settings.checks or settings.options.no_checks:
        return settings
    queue = list_runnable_tasks(tasks, stores, settings.options)[:_MAX_TASKS_READ]
    unchecked = [task.id for task in queue if not tasks.read_record(task.id).get("checks")]
    if not unchecked:
        return settings
    proposal = propose_checks(stores.project, environ)
    if not proposal.commands and not settings.accept_unverified:
        require_repository(stores.project.root)  # without git nothing else is of use
        why = f": {proposal.obstacle}" if proposal.obstacle else ""
        steps = [*filter(None, [proposal.remedy]), "set run.checks", "use `--check CMD`"]
        raise CubError(
            f"no check decides whether {unchecked[0]} is done{why}",
            hint=f"{', or '.join(steps)}; `--no-checks` accepts any change",
        )
    return replace(
        settings,
        checks=tuple(proposal.commands),
        proposed_checks=proposal.commands,
        proposed_linters=proposal.linters,
    )


def suggest_installation(project: Project, checks: Iterable[str], obstacle: str) -> str:
    """Return the hint for checks that can't run: what installs what they need, if that is known.

    No installation brings a script or a subcommand that does not exist.
    """
    change = "run.checks, `--check CMD`, or `cub task edit ID --check CMD`"
    if _UNKNOWN_NAME.search(obstacle):
        return f"change the check: {change}"
    stack = read_configured_stack(project)
    commands = [find_install_command(stack, check) for check in checks]
    lines = dict.fromkeys(command.shell_line for command in commands if command)
    names = " and ".join(f"`{line}`" for line in lines)
    if names:
        return f"run {names} first, or fix the check"
    return f"install what the check needs, or change it: {change}"


def describe_proposed_checks(proposed: Mapping[str, str]) -> str:
    """Say which checks decide, and how to configure them."""
    names = ", ".join(f"`{line}` (from {source})" for line, source in proposed.items())
    command = format_checks_command(proposed)
    return f"run.checks is not set; the run uses {names}; to keep that: `{command}`"
