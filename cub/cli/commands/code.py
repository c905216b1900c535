"""Run `cub code`: have the built-in agent work on a prompt, or hold a session at the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from cub.actions.command_options import CodeOptions
from cub.cli import output
from cub.cli.commands.code_sessions import app as sessions_app
from cub.cli.commands.code_sessions import choose_session_id
from cub.cli.context_exec import run_commands
from cub.cli.options import get_directory
from cub.cli.parameters import add_missing_values, take_options
from cub.cli.stop_signals import handle_stop_signals
from cub.cli.task_stores import open_task_stores, read_file_argument
from cub.cli.terminal import supports_live_view
from cub.errors import CubError, UsageError
from cub.processes.command import StopRequest
from cub.text import suggest_similar

if TYPE_CHECKING:
    from cub.actions.code_session import PreparedSession
    from cub.actions.tasks.stores import Stores


class _CodeCommands(TyperGroup):
    """Take `--resume` without an id, and a prompt without -p as an argument too many."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments."""
        parsed: list[str] = super().parse_args(ctx, add_missing_values(args, ("--resume", "-r")))
        return parsed

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the subcommand."""
        names = self.list_commands(ctx)
        if args[0] not in names and not suggest_similar(args[0], names):
            ctx.fail(f"Got unexpected extra arguments ({' '.join(args)})")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_CodeCommands, add_completion=False, invoke_without_command=True, no_args_is_help=False
)
app.add_typer(sessions_app, name="sessions")


_STOPPING = "stopping; a second signal exits immediately"
# On a terminal, the line that says what goes on gives way.
_STOPPING_ON_TERMINAL = "\r\x1b[KStopping. Press Ctrl-C again to exit immediately."
_INTERRUPTED = 130


@app.callback()
@take_options
def code(context: typer.Context, options: CodeOptions) -> None:
    """Run the built-in agent in the terminal, or on a prompt.

    The agent reads, searches, and edits files, and runs commands, within the permissions. With -p,
    the answer goes to stdout, and its progress to stderr. Without -p, the prompt is read from
    stdin; a terminal starts a session.

    Example: cub code -p "Why does test_parse fail?"
    """
    if context.invoked_subcommand:
        return
    files = (read_file_argument(context, path) for path in options.system_files)
    file_texts = (data.decode("utf-8", "replace") for data in files)
    options = replace(options, system_texts=(*options.system_texts, *file_texts))
    piped = ""
    if not _is_interactive(options):
        prompt, piped = _read_prompt(options.prompt)
        options = replace(options, prompt=prompt)
    stores = open_task_stores(context)
    session_id = choose_session_id(stores.root, options)
    if code := _run_session(stores, get_directory(context), options, piped, session_id):
        raise typer.Exit(code)


def _is_interactive(options: CodeOptions) -> bool:
    """Return whether a session starts. Raises CubError if the package for it is missing."""
    if options.prompt is not None or options.output_format != "text":
        return False
    if not (output.can_ask() and sys.stdout.isatty()):
        return False
    if find_spec("prompt_toolkit") is None:
        from cub.installation import find_installation

        hint = f"run `{find_installation().suggest_extra('agent')}`, or pass a prompt with -p"
        raise CubError("a session at the terminal needs the package prompt_toolkit", hint=hint)
    return True


def _read_prompt(prompt: str | None) -> tuple[str, str]:
    """Return the prompt, and the text that a pipe or a file brings on stdin besides.

    Raises UsageError for neither.
    """
    from cub.cli.piped_text import read_piped_text, read_requested_text, wait_for_text

    if prompt == "-":
        piped, prompt = read_requested_text("--prompt"), ""
    else:
        piped = wait_for_text() if prompt is None else read_piped_text()
    output.print_warnings(piped.warnings)
    texts = [part.strip("\n") for part in (prompt or "", piped.text) if part.strip()]
    if not texts:
        hint = 'write `cub code -p "…"`, or put the prompt into stdin'
        raise UsageError("missing prompt", hint=hint)
    return texts[0], "".join(texts[1:])


def _run_session(
    stores: Stores, directory: Path, options: CodeOptions, piped: str, session_id: str
) -> int:
    """Work on the prompt of the options, with `piped` after it, or hold a session without one.

    It goes on with the session of `session_id`, if that is not "". Return the exit code.
    """
    from datetime import UTC, datetime

    from cub.actions.code_session import SessionSurroundings, prepare_session
    from cub.agent.tools.command_environment import is_secret
    from cub.processes.own_secrets import hide_own_secrets

    hide_own_secrets(is_secret)
    is_live = supports_live_view(sys.stderr)
    with handle_stop_signals(_STOPPING_ON_TERMINAL if is_live else _STOPPING) as stop:
        today = datetime.now(UTC).astimezone().date()
        surroundings = SessionSurroundings(
            directory,
            os.environ,
            stop,
            today,
            is_interactive=options.prompt is None,
            has_terminal=output.can_ask(),
        )
        prepared = prepare_session(stores, options, surroundings, session_id=session_id)
        output.print_warnings(prepared.warnings)
        if prepared.models.choice and options.output_format != "stream-json":
            output.print_message(f"model {prepared.models.choice}")
        blocks, warnings = run_commands(stores, prepared.values, options)
        output.print_warnings(warnings)
        texts = [block.format() for block in blocks]
        if options.prompt is None:
            from cub.cli.terminal_session.terminal_loop import run_terminal_session

            return run_terminal_session(stores, options, surroundings, prepared, session_id, texts)
        return _work_on_prompt(prepared, options, [*texts, options.prompt, piped], session_id, stop)


def _work_on_prompt(
    prepared: PreparedSession,
    options: CodeOptions,
    texts: Sequence[str],
    session_id: str,
    stop: StopRequest,
) -> int:
    """Work on the prompt of the options, which is one of the texts; return the exit code."""
    from cub.actions.code_session import open_recorder
    from cub.agent.skill_invocation import find_invocation
    from cub.cli.questions import follow_events
    from cub.cli.session_output import choose_printer

    title = options.prompt or ""
    invocation = find_invocation(prepared.session.toolbox.context.skills, title)
    *blocks, prompt, piped = texts
    prompt = invocation.text if invocation else prompt
    text = "\n\n".join(filter(None, [*blocks, prompt, piped]))
    events = prepared.work_on(text, invocation)
    is_debug = prepared.models.is_debug or options.debug
    printer = choose_printer(options.output_format, prepared.root, is_debug=is_debug)
    recorder, warnings = open_recorder(prepared, title, session_id, is_saved=not options.no_save)
    output.print_warnings(warnings)
    if recorder:
        recorder.warn = output.print_message
        events = recorder.record(events)
    with (
        closing(prepared.session),
        closing(recorder) if recorder else nullcontext(),
        printer.follow(recorder.session_id if recorder else ""),
    ):
        end = follow_events(events, printer, stop, prepared.root)
    printer.finish(prepared.session, end)
    if end.reason == "cancelled":
        return _INTERRUPTED
    return 0 if end.reason == "end_turn" else 1
