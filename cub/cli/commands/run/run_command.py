"""Define the commands `cub run`, `cub run --dry-run` and `cub run status`."""

from __future__ import annotations

import os
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from cub.cli import output
from cub.cli.context_options import (
    ConfirmContextExec,
    Debug,
    Exec,
    NoContextExec,
    Profile,
    Trust,
    confirm_commands,
)
from cub.cli.options import require_option_values
from cub.cli.task_stores import open_task_stores
from cub.errors import CubError, UsageError
from cub.text import suggest_similar

if TYPE_CHECKING:
    from cub.actions.run.run_options import RunOptions
    from cub.actions.tasks.stores import Stores

_TEXTS = "cub.run.texts"


class _RunCommands(TyperGroup):
    """Accept texts of new tasks in place of a command; options may follow them."""

    free_arguments = (
        ("TEXT...", "Add a task with this quoted text, and work on it alone."),
        ("ID", "Work on this task alone."),
    )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; words that are not a command are kept in the context."""
        _, rest, _ = self.make_parser(ctx).parse_args(args=list(args))
        has_texts = bool(rest) and rest[0] not in self.commands
        if not has_texts:
            parsed: list[str] = super().parse_args(ctx, args)
            return parsed
        ctx.allow_interspersed_args = True
        ctx.meta[_TEXTS] = tuple(super(TyperGroup, self).parse_args(ctx, args))
        ctx.args = []
        return []


app = typer.Typer(
    cls=_RunCommands, add_completion=False, invoke_without_command=True, no_args_is_help=False
)

Once = Annotated[bool, typer.Option("--once", help="Stop after one attempt.")]
Task = Annotated[str, typer.Option("--task", metavar="ID", help="Work on this task only.")]
Epic = Annotated[str, typer.Option("--epic", metavar="ID", help="Work only on tasks of this epic.")]
Label = Annotated[
    str, typer.Option("--label", metavar="WORD", help="Work only on tasks with this label.")
]
Harness = Annotated[
    str,
    typer.Option(
        "--harness",
        metavar="NAME",
        help="Choose the agent: claude, codex, gemini, opencode, aider, pi, "
        "builtin, acp:COMMAND, or a name from `harnesses`. Separate fallbacks with commas. "
        "[default: the first one installed]",
    ),
]
Model = Annotated[str, typer.Option("--model", metavar="NAME", help="Choose the agent's model.")]
Iterations = Annotated[
    int | None, typer.Option("--max-iterations", min=1, metavar="N", help="Stop after N attempts.")
]
Dollars = Annotated[
    float | None,
    typer.Option(
        "--budget-usd", min=0, metavar="USD", help="Stop when the run has cost this much."
    ),
]
Tokens = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens", min=1, metavar="N", help="Stop when the run has used N tokens."
    ),
]
Timeout = Annotated[
    str,
    typer.Option(
        "--timeout",
        metavar="DURATION",
        help="Stop an attempt or a check after DURATION, such as 90s or 30m. [default: 30m]",
    ),
]
Idle = Annotated[
    str,
    typer.Option(
        "--idle-timeout",
        metavar="DURATION",
        help="Stop an agent that prints nothing for DURATION. [default: 15m]",
    ),
]
Checks = Annotated[
    list[str] | None,
    typer.Option(
        "--check", metavar="CMD", help="Run this check instead of run.checks (repeatable)."
    ),
]
NoChecks = Annotated[bool, typer.Option("--no-checks", help="Skip all checks.")]
ExcuseKnownFailures = Annotated[
    bool,
    typer.Option(
        "--excuse-known-failures",
        help="Accept tasks that fix no known failure.",
    ),
]
AllowCheckChanges = Annotated[
    bool,
    typer.Option("--allow-check-changes", help="Accept changes to files that define a check."),
]
Branch = Annotated[
    str,
    typer.Option("--branch", metavar="TEMPLATE", help="Work on this branch, such as cub/{run}."),
]
Worktree = Annotated[bool, typer.Option("--worktree", help="Work in a separate worktree.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Show the next task and the settings, without writing anything."
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Resume the last killed run with the same options.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON event per line.")]


@app.callback()
def run(
    context: typer.Context,
    once: Once = False,
    task: Task = "",
    epic: Epic = "",
    label: Label = "",
    harness: Harness = "",
    model: Model = "",
    max_iterations: Iterations = None,
    budget_usd: Dollars = None,
    budget_tokens: Tokens = None,
    timeout: Timeout = "",
    idle_timeout: Idle = "",
    check: Checks = None,
    no_checks: NoChecks = False,
    excuse_known_failures: ExcuseKnownFailures = False,
    allow_check_changes: AllowCheckChanges = False,
    branch: Branch = "",
    worktree: Worktree = False,
    exec_: Exec = None,
    no_context_exec: NoContextExec = False,
    confirm_context_exec: ConfirmContextExec = False,
    debug: Debug = False,
    trust: Trust = False,
    profile: Profile = None,
    dry_run: DryRun = False,
    resume: Resume = False,
    json: Json = False,
) -> None:
    """Run an agent on the ready tasks.

    To add a task and work on it in one step, pass its text in quotes.

    For each task, cub runs the checks, the agent, and the checks again. If no check newly fails,
    cub commits. If one does, cub saves a patch, restores your files, and retries with the failure
    in the prompt.

    Ctrl-C stops the agent and finishes the records. A second Ctrl-C stops at once.

    Example: cub run "Fix the login" --once
    """
    if context.invoked_subcommand:
        return
    from cub.actions.run.run_options import RunOptions, require_consistent

    options = RunOptions(
        once, task, epic, label, harness, model, max_iterations, budget_usd, budget_tokens,
        timeout, idle_timeout, tuple(check or ()), no_checks, excuse_known_failures,
        allow_check_changes, branch, worktree, trust, tuple(exec_ or ()), no_context_exec,
        confirm_context_exec, debug,
    )  # fmt: skip
    require_option_values(context)
    words = context.meta.get(_TEXTS, ())
    if words and resume:
        raise UsageError("--resume cannot be used with a task", hint="pass one of them")
    stores = None
    if len(words) == 1 and words[0].strip() and not words[0].split()[1:]:
        stores = open_task_stores(context, "cub run")
        options = replace(options, task=_find_task(stores, options, words[0]))
    elif words:
        options = replace(options, texts=_require_texts(words))
    require_consistent(options)
    stores = stores or open_task_stores(context, "cub run")
    options = _resume_options(stores, options) if resume else options
    if dry_run:
        from cub.cli.commands.run.run_preview import preview_run

        raise typer.Exit(preview_run(stores, options, profile, json=json))
    _start_run(stores, options, profile, json=json)


def _require_texts(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of new tasks; UsageError if some are single words."""
    if any(word.strip() and not word.split()[1:] for word in words):
        text = " ".join(words)
        hint = f"quote the text: cub run {quote(text)}"
        raise UsageError(f"unexpected arguments '{text}'", hint=hint)
    return words


def _find_task(stores: Stores, options: RunOptions, word: str) -> str:
    """Return the id that a single word means; an error with what is near for any other word."""
    from cub.cli.parser_errors import format_unknown
    from cub.store.task_ids import list_ids_with_prefix

    commands = [
        command.name or command.callback.__name__
        for command in app.registered_commands
        if command.callback
    ]
    if options.task:
        raise UsageError("--task cannot be used with another task", hint="pass one of them")
    tasks = stores.backend.read_tasks()
    if suggest_similar(word, commands) and not list_ids_with_prefix(word, tasks.all_ids):
        hint = "run `cub run --help` to list its commands"
        raise UsageError(format_unknown("command", word, commands), hint=hint)
    return tasks.find_id(word)


def _start_run(stores: Stores, options: RunOptions, profile: str | None, *, json: bool) -> None:
    from cub.actions.context_settings import resolve_context_settings
    from cub.actions.tasks.current_attempt import find_current_attempt
    from cub.cli.commands.run.execute import execute_run
    from cub.project.config_layers import resolve_config

    if find_current_attempt(stores.root):
        raise CubError("a run cannot be started inside an attempt")
    confirmed = None
    if options.confirm_context_exec:  # before Ctrl-C only requests a stop
        values = resolve_config(stores.project, os.environ, profile).values
        confirmed = resolve_context_settings(values, options.context)
        confirm_commands(confirmed.commands)
    raise typer.Exit(execute_run(stores, options, profile, json=json, confirmed=confirmed))


@app.command()
def status(context: typer.Context, json: Json = False) -> None:
    """Show running runs, or the last run.

    Example: cub run status
    """
    from cub.cli.commands.run.live_view import show_run_status

    show_run_status(open_task_stores(context, "cub run").root, json=json)


def _resume_options(stores: Stores, options: RunOptions) -> RunOptions:
    """Return the killed run's options, replaced by those that are given now."""
    from cub.actions.run.run_options import merge_options
    from cub.actions.run.run_setup import read_last_options

    previous = read_last_options(stores.root)
    if previous is None:
        output.print_message("No run was killed, so this is a new run.")
        return options
    return merge_options(options, previous)
