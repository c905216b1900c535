"""Print the end of `cub init`: agents, tests, problems of the project, and the next commands."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cub.cli import output

if TYPE_CHECKING:
    from cub.actions.doctor.findings import Finding
    from cub.actions.next_steps import NextSteps
    from cub.edit.plan import Plan

_MAX_PROBLEMS = 5
# What the next commands solve, or a line before them says.
_SOLVED_NEXT = ("D101", "D103", "D104")


def find_steps(root: Path) -> NextSteps:
    """Return what `cub run` would use in the project at `root`."""
    from cub.actions.next_steps import find_next_steps
    from cub.harness.harness_registry import find_installed_agents
    from cub.project.project import Project

    return find_next_steps(Project.load(root), find_installed_agents(os.environ), os.environ)


def print_next_steps(root: Path, plan: Plan, *, is_new: bool, trusts: bool, declines: bool) -> None:
    """Print the agents and tests of `cub run`, and after a change also the next commands."""
    from cub.actions.next_steps import ShellPlace, list_next_commands
    from cub.project.project import Project
    from cub.project.trust_store import add_trusted_checks

    steps = find_steps(root)
    if not steps.is_outside:
        return
    if trusts and steps.proposed_checks:
        add_trusted_checks(root, steps.proposed_checks)
    has_agent = _print_agents(root, steps)
    _print_checks(steps)
    if not output.is_muted():
        print_problems(find_open_problems(root, plan))
    if plan.is_empty:
        return
    place = ShellPlace.find(root, Path.cwd())
    if not place.has_git:
        output.print_message("`cub run` needs git, which is not installed.")
    paths = [edit.path for edit in plan.shared_edits if edit.after is not None]
    if declines:
        steps = steps._replace(proposed_checks={})
    output.print_message("Next:" if has_agent else "Then:")
    commands = list_next_commands(Project.load(root), paths, place, steps, is_new=is_new)
    output.print_commands(commands)


def find_open_problems(root: Path, plan: Plan) -> list[Finding]:
    """Return doctor's errors and warnings, without those that `cub init` itself reports or fixes.

    Agents and checks are left out because the ending names them, and the new map is current.
    """
    from cub.actions.doctor.project_problems import find_problems
    from cub.project.project import Project, find_home

    project = Project.load(root)
    found = find_problems(project, os.environ, find_home(), without=("D2", "D416"))
    reported = {(one.message, one.path) for one in (*project.config.warnings, *plan.warnings)}
    written = {edit.path for edit in plan.edits}
    solved = () if plan.is_empty else _SOLVED_NEXT
    return [
        one
        for one in found
        if one.severity != "info"
        and one.code not in solved
        and (one.message, one.path) not in reported
        and not (one.changed_paths and written.issuperset(one.changed_paths))
    ]


def print_problems(findings: Sequence[Finding]) -> None:
    """Print the first findings, one line each, and where the others are."""
    for one in findings[:_MAX_PROBLEMS]:
        where = f"{one.location}: " if one.location else ""
        output.print_message(f"{one.code} {one.severity} {where}{one.message}")
    if findings:
        output.print_hint("run `cub doctor` to list all problems and their fixes")


def _print_agents(root: Path, steps: NextSteps) -> bool:
    """Print the agents, or the ways to get one; return whether there is one."""
    from cub.agent_profiles.profiles import AGENT_TITLES

    titles = [AGENT_TITLES[name] for name in steps.agents]
    if steps.harness:
        installed = f"; installed: {', '.join(titles)}" if titles else ""
        output.print_message(f"Agent: {steps.harness}, as configured{installed}.")
    elif titles:
        others = f"; also installed: {', '.join(titles[1:])}" if titles[1:] else ""
        output.print_message(f"Agent: {titles[0]}, the first one installed{others}.")
    elif _can_use_builtin(root):
        output.print_message("Agent: the built-in one; no other agent is installed.")
    else:
        _print_ways_to_an_agent()
        return False
    return True


def _can_use_builtin(root: Path) -> bool:
    """Return whether the built-in agent could start; without any key, don't load its packages."""
    from cub.actions.run.agent_programs import find_unusable_agents
    from cub.actions.run.run_options import RunOptions, resolve_settings
    from cub.harness.builtin import BuiltinHarness
    from cub.project.config_layers import resolve_config
    from cub.project.project import Project

    project = Project.load(root)
    values = resolve_config(project, os.environ).values
    models = [values[key] for key in ("run.model", "code.model")]
    has_model = any(model.origin != "default" for model in models)
    if not has_model and not any(name.endswith("_API_KEY") for name in os.environ):
        return False
    settings = resolve_settings(values, RunOptions())
    return not find_unusable_agents([BuiltinHarness()], settings, project, os.environ)


def _print_ways_to_an_agent() -> None:
    from cub.agent_profiles.claude import CLAUDE

    ways = (
        (CLAUDE.installation, "Claude Code; `cub agents` lists others"),
        ("export ANTHROPIC_API_KEY=…", "the built-in agent, with a key"),
        ("cub run --harness builtin --model ollama/NAME", "the built-in agent, with a local model"),
    )
    width = max(len(command) for command, _ in ways)
    output.print_message("No agent was found. Get one in one of these ways:")
    output.print_commands(f"{command:{width}}  # {what}" for command, what in ways)
    output.print_message("`cub demo` plays a run without any of them.")


def _print_checks(steps: NextSteps) -> None:
    if steps.configured_checks:
        names = ", ".join(f"`{check}`" for check in steps.configured_checks)
        output.print_message(f"Checks: {names}, from run.checks.")
    elif steps.proposed_checks:
        output.print_message(f"Tests: {name_checks(steps)}.")
    elif steps.obstacle:
        output.print_message(f"Tests: none to use; {steps.obstacle}.")
    else:
        output.print_message("Tests: none found; give each task a check of its own.")


def name_checks(steps: NextSteps) -> str:
    """Return the proposed checks, each with the file that names it."""
    named = (f"`{line}` (from {source})" for line, source in steps.proposed_checks.items())
    return ", ".join(named)
