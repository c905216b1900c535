"""Run `cub init`: add managed sections and cub's own files to a project."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.agent_profiles.profiles import choose_agents
from cub.cli import output
from cub.cli.options import Edited, Prune, get_directory, resolve_path_argument
from cub.cli.parameters import make_option, take_options
from cub.cli.plan_command import (
    PlanDisplay,
    ProgressBar,
    defer_cache_writes,
    run_plan_command,
)
from cub.edit.plan import Plan
from cub.errors import UsageError
from cub.files.file_tree import DiskTree
from cub.project.project import Project, find_project_root
from cub.project.targets import find_target_problem, normalize_target
from cub.text import UP_TO_DATE

if TYPE_CHECKING:
    from cub.actions.init_update import InitOptions
    from cub.actions.next_steps import Answers

app = typer.Typer(add_completion=False)

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH", help="Also manage instruction files in these nested directories."
    ),
]
Targets = Annotated[
    str | None,
    make_option("--targets FILE,…", "Manage these instruction files, separated by commas."),
]
Agents = Annotated[
    list[str] | None,
    make_option(
        "--agent NAME",
        "Configure an agent to read all managed files: all, claude, codex, gemini, "
        "opencode, aider, or pi (repeatable).",
    ),
]

Yes = Annotated[bool, make_option("--yes -y", "Don't ask, and trust the suggested checks.")]


@app.command()
@take_options
def init(
    context: typer.Context,
    paths: Paths = None,
    targets: Targets = None,
    agents: Agents = None,
    edited: Edited = "refuse",
    prune: Prune = False,
    yes: Yes = False,
    *,
    show: PlanDisplay,
) -> None:
    """Add managed sections and cub's files to this project.

    Your own text in AGENTS.md and CLAUDE.md keeps every byte, and you can run it again at any
    time. At the end, it prints the agents and tests that `cub run` would use, and the next
    commands. In a terminal, it asks which of several agents to use, and whether to trust the tests.

    Example: cub init packages/api --diff
    """
    from cub.actions.init_update import InitOptions
    from cub.actions.next_steps import trust_answers
    from cub.cli.init_dialog import prepare_init, print_next_steps
    from cub.harness.harness_registry import find_installed_agents
    from cub.project.checkout_state import STATE_FILE

    folder = get_directory(context)
    root = find_project_root(folder)
    is_new = not (root / STATE_FILE).exists()
    chosen = choose_agents(agents or (), DiskTree(root), find_installed_agents(os.environ))
    options = InitOptions(
        paths=[resolve_path_argument(root, folder, path) for path in paths or ()],
        targets=None if targets is None else _split_targets(targets),
        agents=chosen.names,
        left_out_agents=chosen.left_out,
        edited_policy=edited,
        prune=prune,
    )
    asks = is_new and not show.is_read_only
    answers = prepare_init(root, options, yes=yes) if asks else None
    plan = _carry_out(root, options, show, answers)
    if show.is_read_only:
        return
    if answers:
        trust_answers(root, answers)
    print_result(plan)
    declines = answers is not None and not answers.checks
    print_next_steps(root, plan, is_new=is_new, trusts=yes, declines=declines)


def _carry_out(
    root: Path, options: InitOptions, show: PlanDisplay, answers: Answers | None
) -> Plan:
    from cub.actions.init_update import plan_init
    from cub.actions.next_steps import append_answers

    with ProgressBar() as bar, defer_cache_writes(show) as schedule_write:
        timed = replace(options, progress=bar, schedule_write=schedule_write)

        def make_plan(project: Project) -> Plan:
            plan = plan_init(project, timed)
            return append_answers(project, plan, answers) if answers else plan

        return run_plan_command(root, make_plan, show)


def print_result(plan: Plan) -> None:
    """Print what was done, in one line."""
    count = len(plan.edits)
    wrote = f"Wrote {count} file{'' if count == 1 else 's'}."
    output.print_message(UP_TO_DATE if plan.is_empty else wrote)


def _split_targets(targets: str) -> tuple[str, ...]:
    parts = (part.strip() for part in targets.split(","))
    names = tuple(dict.fromkeys(normalize_target(part) for part in parts if part))
    if not names:
        raise UsageError("--targets names no file")
    for name in names:
        if problem := find_target_problem(name):
            raise UsageError(f"--targets: {name} {problem}")
    return names
