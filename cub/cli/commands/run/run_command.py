"""Define the commands `cub run`, `cub run --dry-run` and `cub run status`."""

from __future__ import annotations

import os
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from cub.actions.command_options import RunOptions, merge_options, require_consistent
from cub.cli import output
from cub.cli.context_exec import confirm_commands
from cub.cli.options import Json
from cub.cli.parameters import (
    make_option,
    require_at_most_one,
    require_option_values,
    take_options,
)
from cub.cli.task_stores import open_task_stores
from cub.errors import CubError, UsageError
from cub.project.config_layers import resolve_config
from cub.text import suggest_similar

if TYPE_CHECKING:
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


_DRY_RUN_HELP = "Show the next task and the settings, without writing anything."
_RESUME_HELP = "Resume the last killed run with the same options."


@app.callback()
@take_options
def run(
    context: typer.Context,
    options: RunOptions,
    dry_run: Annotated[bool, make_option("--dry-run", _DRY_RUN_HELP)] = False,
    resume: Annotated[bool, make_option("--resume", _RESUME_HELP)] = False,
    json: Annotated[bool, make_option("--json", "Print one JSON event per line.")] = False,
) -> None:
    """Run an agent on the ready tasks.

    To add a task and work on it in one step, pass its text in quotes.

    For each task, cub runs the checks, the agent, and the checks again. If no check newly fails,
    cub commits. If one does, cub saves a patch and retries with the failure in the prompt.

    Ctrl-C stops the agent and finishes the records. A second Ctrl-C stops at once.

    Example: cub run "Fix the login" --once
    """
    if context.invoked_subcommand:
        return
    require_option_values(context)
    stores, options = _read_words(context, options, resume=resume)
    if dry_run:
        from cub.cli.commands.run.run_preview import preview_run

        raise typer.Exit(preview_run(stores, options, json=json))
    _start_run(stores, options, json=json)


def _read_words(
    context: typer.Context, options: RunOptions, *, resume: bool
) -> tuple[Stores, RunOptions]:
    """Open the stores; add what the words of the command line say, or what a killed run was asked.

    Everything that is wrong with the command line is told first.
    """
    words = context.meta.get(_TEXTS, ())
    require_at_most_one({"--resume": resume, "a task": words})
    if len(words) == 1 and words[0].strip() and not words[0].split()[1:]:
        stores = open_task_stores(context, "cub run")
        options = replace(options, task=_find_task(stores, options, words[0]))
        require_consistent(options)
        return stores, options
    options = replace(options, texts=_require_texts(words))
    require_consistent(options)
    stores = open_task_stores(context, "cub run")
    return stores, _resume_options(stores, options) if resume else options


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
    require_at_most_one({"--task": options.task, "another task": word})
    tasks = stores.backend.read_tasks()
    if suggest_similar(word, commands) and not list_ids_with_prefix(word, tasks.all_ids):
        hint = "run `cub run --help` to list its commands"
        raise UsageError(format_unknown("command", word, commands), hint=hint)
    return tasks.find_id(word)


def _start_run(stores: Stores, options: RunOptions, *, json: bool) -> None:
    from cub.actions.context_settings import resolve_context_settings
    from cub.actions.tasks.current_attempt import find_current_attempt
    from cub.cli.commands.run.execute import execute_run

    if find_current_attempt(stores.root):
        raise CubError("a run cannot be started inside an attempt")
    confirmed = None
    if options.confirm_context_exec:  # before Ctrl-C only requests a stop
        values = resolve_config(stores.project, os.environ, options.profile).values
        confirmed = resolve_context_settings(values, options)
        confirm_commands(confirmed.commands)
    raise typer.Exit(execute_run(stores, options, json=json, confirmed=confirmed))


@app.command()
def status(context: typer.Context, json: Json = False) -> None:
    """Show running runs, or the last run.

    Example: cub run status
    """
    from cub.cli.commands.run.live_view import show_run_status

    show_run_status(open_task_stores(context, "cub run").root, json=json)


def _resume_options(stores: Stores, options: RunOptions) -> RunOptions:
    """Return the killed run's options, replaced by those that are given now."""
    from cub.actions.run.run_folders import read_last_options

    previous = read_last_options(stores.root)
    if previous is None:
        output.print_message("No run was killed, so this is a new run.")
        return options
    return merge_options(options, previous)
