"""Run `cub init`: add managed sections and cub's own files to a project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.options import (
    Diff,
    DryRun,
    Edited,
    EditedPolicyChoice,
    GlobalOptions,
    Json,
    Prune,
    resolve_path_argument,
)
from cub.cli.plan_command import PlanDisplay, defer_cache_writes, run_plan_command
from cub.cli.progress import ProgressBar

if TYPE_CHECKING:
    from cub.actions.next_steps import Answers, NextSteps
    from cub.edit.plan import Plan
    from cub.project.project import Project

app = typer.Typer(add_completion=False)

_NO_AGENT = "none"
Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH", help="Also manage instruction files in these nested directories."
    ),
]
Targets = Annotated[
    str | None,
    typer.Option(
        "--targets", metavar="FILE,…", help="Manage these instruction files, separated by commas."
    ),
]
Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="NAME",
        help="Configure an agent to read all managed files: all, claude, codex, gemini, "
        "opencode, or aider (repeatable).",
    ),
]

Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Don't ask, and trust the suggested checks.")
]


@app.command()
def init(
    context: typer.Context,
    paths: Paths = None,
    targets: Targets = None,
    agents: Agents = None,
    edited: Edited = EditedPolicyChoice.REFUSE,
    prune: Prune = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    diff: Diff = False,
    json: Json = False,
) -> None:
    """Add managed sections and cub's files to this project.

    Your own text in AGENTS.md and CLAUDE.md keeps every byte, and you can run it again at any
    time. For a new project, it suggests an agent and checks for `cub run`; in a terminal, it asks
    whether to use them.

    Example: cub init packages/api --diff
    """
    from cub.actions.init_update import InitOptions, plan_init
    from cub.actions.next_steps import append_answers
    from cub.project.agent_settings import parse_agent_names
    from cub.project.checkout_state import STATE_FILE
    from cub.project.project import find_project_root

    global_options: GlobalOptions = context.obj
    folder = global_options.directory
    root, show = find_project_root(folder), PlanDisplay(dry_run, diff, json)
    is_new = not (root / STATE_FILE).exists()
    asks = is_new and not (yes or show.is_read_only) and output.can_ask()
    answers = _ask(root) if asks else None
    with ProgressBar() as bar, defer_cache_writes(show) as schedule_write:
        options = InitOptions(
            paths=[resolve_path_argument(root, folder, path) for path in paths or ()],
            targets=None if targets is None else _split_targets(targets),
            agents=parse_agent_names(agents or ()),
            edited_policy=edited.value,
            prune=prune,
            progress=bar,
            schedule_write=schedule_write,
        )

        def make_plan(project: Project) -> Plan:
            plan = plan_init(project, options)
            return append_answers(project, plan, answers) if answers else plan

        plan = run_plan_command(root, make_plan, show)
    if not show.is_read_only:
        print_result(plan, root)
        if is_new or yes:
            _print_next_steps(root, answers, yes=yes)


def print_result(plan: Plan, root: Path) -> None:
    """Print what to do next; mention git only where it is usable."""
    from cub.git import is_git_usable

    if plan.is_empty:
        output.print_message("Nothing to do: everything is in place.")
    elif is_git_usable(root):
        output.print_message(
            "Done. Review it with git, then commit; `cub update` refreshes what is cub's."
        )
    else:
        output.print_message("Done. `cub update` refreshes what is cub's.")


def _suggest(root: Path) -> NextSteps:
    from cub.actions.next_steps import NextSteps, suggest_next_steps
    from cub.git import is_git_usable
    from cub.harness.harness_registry import find_installed_agents
    from cub.project.project import Project

    if not is_git_usable(root):
        return NextSteps()
    return suggest_next_steps(Project.load(root), find_installed_agents(os.environ), os.environ)


def _ask(root: Path) -> Answers | None:
    """Ask what `cub run` is to use; None if the project can't be read: planning says why."""
    from cub.actions.next_steps import Answers
    from cub.errors import CubError

    try:
        agents, checks, obstacle = _suggest(root)
    except CubError:
        return None
    agent = ""
    if agents:
        agent = output.ask_choice("Agent for `cub run`", [*agents, _NO_AGENT])
    if obstacle:
        output.print_message(f"No check for `cub run`: {obstacle}.")
    names = " and ".join(f"`{check}`" for check in checks)
    question = f"Let {names} decide whether a task is done?"
    agrees = bool(checks) and output.ask_confirmation(question, default=True)
    return Answers("" if agent == _NO_AGENT else agent, tuple(checks) if agrees else ())


def _print_next_steps(root: Path, answers: Answers | None, *, yes: bool) -> None:
    """Say what is left to do for `cub run`, or do it if the person has agreed."""
    from cub.actions.next_steps import trust_answers
    from cub.project.trust_store import add_trusted_checks

    if answers is not None:
        if answers.to_settings() and not trust_answers(root, answers):
            output.print_message("Run `cub trust`: `cub run` refuses to start until you do.")
        return
    steps = _suggest(root)
    if yes and steps.checks:
        add_trusted_checks(root, steps.checks)
    commands = steps.list_commands()
    if steps.obstacle:
        output.print_message(f"No check for `cub run`: {steps.obstacle}.")
    if commands:
        output.print_message("Next, to choose what `cub run` uses:")
    for command in commands:
        output.print_message(f"  {command}")


def _split_targets(targets: str) -> tuple[str, ...]:
    from cub.errors import UsageError
    from cub.project.targets import find_target_problem, normalize_target

    parts = (part.strip() for part in targets.split(","))
    names = tuple(dict.fromkeys(normalize_target(part) for part in parts if part))
    if not names:
        raise UsageError("--targets names no file")
    for name in names:
        if problem := find_target_problem(name):
            raise UsageError(f"--targets: {name} {problem}")
    return names
