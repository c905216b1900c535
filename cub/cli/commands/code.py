"""Run `cub code`: have the built-in agent work on a prompt, without anybody watching."""

from __future__ import annotations

import os
from contextlib import closing
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.context_options import (
    ConfirmContextExec,
    Debug,
    Exec,
    NoContextExec,
    Profile,
    Trust,
    run_commands,
)
from cub.cli.options import get_global_options
from cub.cli.stop_signals import handle_stop_signals
from cub.cli.task_stores import open_task_stores, read_file_argument
from cub.errors import UsageError

if TYPE_CHECKING:
    from cub.actions.code_session import CodeOptions, PreparedSession
    from cub.actions.context_settings import ContextOptions
    from cub.actions.tasks.stores import Stores
    from cub.agent.executor import ApprovalRequest
    from cub.cli.session_output import SessionPrinter
    from cub.processes.command import StopRequest

app = typer.Typer(add_completion=False)


class OutputFormat(StrEnum):
    """Say what is printed on stdout."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


class PermissionChoice(StrEnum):
    """Say what the agent may do without asking."""

    ASK = "ask"
    ACCEPT_EDITS = "accept-edits"
    PLAN = "plan"
    BYPASS = "bypass"


_PERMISSIONS_PANEL = "Permissions"
_STOPPING = "stopping; a second signal exits immediately"
_INTERRUPTED = 130

Prompt = Annotated[
    str | None,
    typer.Option(
        "-p", "--prompt", metavar="TEXT", show_default=False,
        help="Set the prompt; - reads stdin. Other text from stdin is appended.",
    ),
]  # fmt: skip
Model = Annotated[
    str,
    typer.Option(
        "--model", metavar="NAME", show_default=False,
        help="The model, such as openai/NAME or ollama/NAME. [default: by the key that is set]",
    ),
]  # fmt: skip
Format = Annotated[
    OutputFormat, typer.Option("--output-format", help="Choose the output on stdout.")
]
MaxTurns = Annotated[
    int | None, typer.Option("--max-turns", min=1, metavar="N", help="Stop after N requests.")
]
MaxBudget = Annotated[
    float | None,
    typer.Option(
        "--max-budget-usd", min=0, metavar="USD",
        help="Stop when the session has cost this much. Needs a model with a known "
        "price.",
    ),
]  # fmt: skip
AppendSystem = Annotated[
    list[str] | None,
    typer.Option(
        "--append-system-prompt", metavar="TEXT",
        help="Append TEXT to the system prompt (repeatable).",
    ),
]  # fmt: skip
AppendSystemFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--append-system-prompt-file", metavar="FILE",
        help="Append FILE to the system prompt (repeatable).",
    ),
]  # fmt: skip
PermissionOption = Annotated[
    PermissionChoice | None,
    typer.Option(
        "--permissions", show_default=False, rich_help_panel=_PERMISSIONS_PANEL,
        help="Choose what needs no approval: reading (ask), also edits (accept-edits), "
        "everything (bypass), or reading without any changes (plan).",
    ),
]  # fmt: skip
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow", metavar="RULE", rich_help_panel=_PERMISSIONS_PANEL,
        help="Allow these calls, such as 'Bash(git diff *)' (repeatable).",
    ),
]  # fmt: skip
Deny = Annotated[
    list[str] | None,
    typer.Option(
        "--deny", metavar="RULE", rich_help_panel=_PERMISSIONS_PANEL,
        help="Deny these calls, such as 'Read(.env)' (repeatable).",
    ),
]  # fmt: skip


@app.command()
def code(
    context: typer.Context,
    prompt: Prompt = None,
    model: Model = "",
    output_format: Format = OutputFormat.TEXT,
    max_turns: MaxTurns = None,
    max_budget_usd: MaxBudget = None,
    append_system_prompt: AppendSystem = None,
    append_system_prompt_file: AppendSystemFile = None,
    permissions: PermissionOption = None,
    allow: Allow = None,
    deny: Deny = None,
    exec_lines: Exec = None,
    no_context_exec: NoContextExec = False,
    confirm_context_exec: ConfirmContextExec = False,
    profile: Profile = None,
    trust: Trust = False,
    debug: Debug = False,
) -> None:
    """Run the built-in agent on a prompt.

    The agent reads, searches, and edits files, and runs commands, within the permissions. The
    answer goes to stdout, and its progress to stderr. Without -p, the prompt is read from stdin.

    Example: cub code -p "Why does test_parse fail?"
    """
    from cub.actions.code_session import CodeOptions
    from cub.actions.context_settings import ContextOptions

    files = [read_file_argument(context, path) for path in append_system_prompt_file or ()]
    texts = [*(append_system_prompt or ()), *(data.decode("utf-8", "replace") for data in files)]
    options = CodeOptions(
        model,
        permissions or "",
        tuple(allow or ()),
        tuple(deny or ()),
        max_turns,
        max_budget_usd,
        tuple(texts),
        profile,
        trusts_project=trust,
    )
    context_options = ContextOptions(
        tuple(exec_lines or ()), no_context_exec, confirm_context_exec, trust, debug
    )
    text = _read_prompt(prompt)
    stores = open_task_stores(context)
    directory = get_global_options(context).directory
    code = _run_session(stores, directory, options, context_options, text, output_format)
    if code:
        raise typer.Exit(code)


def _read_prompt(prompt: str | None) -> str:
    """Return the prompt, with what a pipe or a file brings on stdin. Raises UsageError for none."""
    from cub.cli.piped_text import read_piped_text, read_requested_text, wait_for_text

    if prompt == "-":
        piped, prompt = read_requested_text("--prompt"), ""
    else:
        piped = wait_for_text() if prompt is None else read_piped_text()
    output.print_warnings(piped.warnings)
    text = "\n\n".join(part.strip("\n") for part in (prompt or "", piped.text) if part.strip())
    if not text:
        hint = 'write `cub code -p "…"`, or put the prompt into stdin'
        raise UsageError("missing prompt", hint=hint)
    return text


def _run_session(
    stores: Stores,
    directory: Path,
    options: CodeOptions,
    context_options: ContextOptions,
    prompt: str,
    output_format: OutputFormat,
) -> int:
    """Run the agent, show what it does, and return the exit code."""
    from datetime import UTC, datetime

    from cub.actions.code_session import SessionSurroundings, prepare_session
    from cub.cli.session_output import choose_printer

    with handle_stop_signals(_STOPPING) as stop:
        asked_ids = set[str]()
        today, approve = datetime.now(UTC).astimezone().date(), partial(_approve, stop, asked_ids)
        surroundings = SessionSurroundings(directory, os.environ, stop, today, approve)
        prepared = prepare_session(stores, options, surroundings)
        output.print_warnings(prepared.warnings)
        if prepared.model_choice and output_format != OutputFormat.STREAM_JSON:
            output.print_message(f"model {prepared.model_choice}")
        blocks = _run_context_commands(stores, prepared, context_options, options.profile)
        text = "\n\n".join([*blocks, prompt])
        printer = choose_printer(
            output_format.value,
            stores.root,
            asked_ids,
            is_debug=prepared.is_debug or context_options.debug,
        )
        return _show_events(prepared, text, printer)


def _show_events(prepared: PreparedSession, prompt: str, printer: SessionPrinter) -> int:
    from cub.agent.events import SessionEnd

    end: SessionEnd | None = None
    session = prepared.session
    printer.begin()
    with closing(session):
        for event in session.work_on(prompt):
            printer.show(event)
            end = event if isinstance(event, SessionEnd) else None
    assert end is not None
    printer.finish(session, end)
    if end.reason == "cancelled":
        return _INTERRUPTED
    return 0 if end.reason == "end_turn" else 1


def _run_context_commands(
    stores: Stores, prepared: PreparedSession, options: ContextOptions, profile: str | None
) -> list[str]:
    """Run the context commands, and return their output as blocks."""
    from cub.actions.context_settings import prepare_context_commands

    settings = prepare_context_commands(stores, prepared.values, options, profile)
    if not settings.commands:
        return []
    from cub.actions.tasks.current_attempt import build_environment
    from cub.context.context_commands import CommandEnvironment

    environ = build_environment(prepared.values["run.hide_env"].value)
    surroundings = CommandEnvironment(stores.project.root, environ)
    blocks, warnings = run_commands(settings, options, surroundings)
    output.print_warnings(warnings)
    return [block.format() for block in blocks]


class _StopAnswerError(Exception):
    """End a question because a stop was requested."""


def _approve(stop: StopRequest, asked_ids: set[str], request: ApprovalRequest) -> str:
    """Ask the person at the terminal; return why a call may not run, "" if it may.

    A signal is an answer, too.
    """
    if not output.can_ask():
        return f"{request.reason}, but there is no terminal to ask on"
    from cub.cli.session_output import describe_request

    def end_question() -> None:
        raise _StopAnswerError

    asked_ids.add(request.call.id)
    for line in describe_request(request):
        output.print_message(f"  {line}")
    listener, stop.listener = stop.listener, end_question
    try:
        is_allowed = not stop.is_requested and output.ask_confirmation(
            f"  {request.reason}; allow it?"
        )
    except _StopAnswerError:
        return "the user stopped the session"
    except typer.Abort:  # the end of stdin
        return "the user said no"
    finally:
        stop.listener = listener
        if stop.is_requested and listener:
            listener()
    return "" if is_allowed else "the user said no"
