"""Say what `cub init` is about to do, ask what is needed, and print what comes after it.

The end names agents, tests, problems of the project, and the next commands.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import typer

from cub.actions.doctor.findings import Finding
from cub.actions.doctor.project_problems import find_problems
from cub.actions.init_update import InitOptions, list_new_sections
from cub.actions.next_steps import (
    Answers,
    NextSteps,
    find_next_steps,
    list_next_commands,
)
from cub.agent_profiles.claude import CLAUDE
from cub.agent_profiles.profiles import AGENT_TITLES
from cub.cli import output
from cub.edit.plan import Plan
from cub.errors import CubError
from cub.harness.harness_registry import find_installed_agents
from cub.project.config_layers import resolve_config
from cub.project.project import Project, find_home
from cub.project.trust_store import add_trusted_checks

_AUTO = "auto"
_MAX_PROBLEMS = 5
# What the next commands solve, or a line before them says.
_SOLVED_NEXT = ("D101", "D103", "D104")


def prepare_init(root: Path, options: InitOptions, *, yes: bool) -> Answers | None:
    """Say what is about to happen, and ask what is needed.

    None if nothing was asked, or if the project can't be read: planning reports why.
    """
    try:
        project = Project.load(root)
        sections = list_new_sections(project, options)
        steps = None if yes or not output.can_ask() else _find_steps(project)
    except CubError:
        return None
    _print_introduction(sections, has_folder=(root / ".cub").is_dir())
    try:
        return _ask(steps) if steps else None
    except (typer.Abort, KeyboardInterrupt):
        output.print_message("Nothing was written.")
        raise


def _find_steps(project: Project) -> NextSteps:
    return find_next_steps(project, find_installed_agents(os.environ), os.environ)


def _print_introduction(sections: dict[str, bool], *, has_folder: bool) -> None:
    names = [path if exists else f"{path} (new)" for path, exists in sections.items()]
    if names:
        output.print_message(
            f"`cub init` adds a marked section to {', '.join(names)}. Your own text keeps every "
            "byte."
        )
    if not has_folder:
        output.print_message(
            "It creates .cub/ with a project map, operating principles, and files for tasks and "
            "git."
        )
    if names or not has_folder:
        output.print_message("To preview, run `cub init --diff`; to undo, run `cub remove`.")


def _ask(steps: NextSteps) -> Answers:
    agent = ""
    if steps.choices:
        agent = output.ask_choice("Agent for `cub run`", [*steps.choices, _AUTO], "agent")
    agrees = False
    if steps.proposed_checks:
        question = f"Trust {_name_checks(steps)} to decide whether a task is done?"
        agrees = output.ask_confirmation(question, default=True)
    return Answers("" if agent == _AUTO else agent, tuple(steps.proposed_checks) * agrees)


def print_next_steps(root: Path, plan: Plan, *, is_new: bool, trusts: bool, declines: bool) -> None:
    """Print the agents and tests of `cub run`, and after a change also the next commands."""
    project = Project.load(root)
    steps = _find_steps(project)
    if not steps.is_outside:
        return
    if trusts and steps.proposed_checks:
        add_trusted_checks(root, steps.proposed_checks)
    has_agent = _print_agents(project, steps)
    _print_checks(steps)
    if not output.is_muted():
        _print_problems(_find_open_problems(project, plan))
    if plan.is_empty:
        return
    if shutil.which("git") is None:
        output.print_message("`cub run` needs git, which is not installed.")
    paths = [edit.path for edit in plan.shared_edits if edit.after is not None]
    if declines:
        steps = steps._replace(proposed_checks={})
    output.print_message("Next:" if has_agent else "Then:")
    output.print_commands(list_next_commands(project, paths, Path.cwd(), steps, is_new=is_new))


def _find_open_problems(project: Project, plan: Plan) -> list[Finding]:
    """Return doctor's errors and warnings, without those that `cub init` itself reports or fixes.

    Agents and checks are left out because the ending names them, and the new map is current.
    """
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


def _print_problems(findings: Sequence[Finding]) -> None:
    """Print the first findings, one line each, and where the others are."""
    for one in findings[:_MAX_PROBLEMS]:
        where = f"{one.location}: " if one.location else ""
        output.print_message(f"{one.code} {one.severity} {where}{one.message}")
    if findings:
        output.print_hint("run `cub doctor` to list all problems and their fixes")


def _print_agents(project: Project, steps: NextSteps) -> bool:
    """Print the agents, or the ways to get one; return whether there is one."""
    titles = [AGENT_TITLES[name] for name in steps.agents]
    if steps.harness:
        installed = f"; installed: {', '.join(titles)}" if titles else ""
        output.print_message(f"Agent: {steps.harness}, as configured{installed}.")
    elif titles:
        others = f"; also installed: {', '.join(titles[1:])}" if titles[1:] else ""
        output.print_message(f"Agent: {titles[0]}, the first one installed{others}.")
    elif _can_use_builtin(project):
        output.print_message("Agent: the built-in one; no other agent is installed.")
    else:
        _print_ways_to_an_agent()
        return False
    return True


def _can_use_builtin(project: Project) -> bool:
    """Return whether the built-in agent could start; without any key, don't load its packages."""
    from cub.actions.command_options import RunOptions
    from cub.actions.run.agent_programs import RunAgents
    from cub.actions.run.run_options import resolve_settings
    from cub.harness.builtin import BuiltinHarness

    values = resolve_config(project, os.environ).values
    models = [values[key] for key in ("run.model", "code.model")]
    has_model = any(model.origin != "default" for model in models)
    if not has_model and not any(name.endswith("_API_KEY") for name in os.environ):
        return False
    settings = resolve_settings(values, RunOptions())
    return not RunAgents([BuiltinHarness()], settings, project, os.environ).find_unusable()


def _print_ways_to_an_agent() -> None:
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
        output.print_message(f"Tests: {_name_checks(steps)}.")
    elif steps.obstacle:
        output.print_message(f"Tests: none to use; {steps.obstacle}.")
    else:
        output.print_message("Tests: none found; give each task a check of its own.")


def _name_checks(steps: NextSteps) -> str:
    """Return the proposed checks, each with the file that names it."""
    named = (f"`{line}` (from {source})" for line, source in steps.proposed_checks.items())
    return ", ".join(named)
