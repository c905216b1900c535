"""Define the options about context commands, which several commands share; ask, and run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.errors import CubError
from cub.text import cut_middle

if TYPE_CHECKING:
    from cub.actions.context_settings import ContextOptions, ContextSettings
    from cub.context.context_commands import CommandEnvironment, ContextCommand
    from cub.context.output_blocks import OutputBlock
    from cub.edit.plan import PlanWarning

_PANEL = "Output of commands"
_MAX_SHOWN_CHARS = 4_000  # of a command or a script

Exec = Annotated[
    list[str] | None,
    typer.Option(
        "--exec",
        metavar="CMD",
        help="Add the output of this command to the context (repeatable).",
        rich_help_panel=_PANEL,
    ),
]
NoContextExec = Annotated[
    bool,
    typer.Option(
        "--no-context-exec",
        help="Don't run the configured context_commands.",
        rich_help_panel=_PANEL,
    ),
]
ConfirmContextExec = Annotated[
    bool,
    typer.Option(
        "--confirm-context-exec",
        help="Show the context commands with their origin, and ask before running them.",
        rich_help_panel=_PANEL,
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        help="Log each context command to stderr, with its origin and exit code.",
        rich_help_panel=_PANEL,
    ),
]
ExecTimeout = Annotated[
    str,
    typer.Option(
        "--exec-timeout",
        metavar="DURATION",
        help="Stop a command after DURATION, such as 90s or 5m.",
        rich_help_panel=_PANEL,
    ),
]
MaxOutput = Annotated[
    str,
    typer.Option(
        "--max-output",
        metavar="SIZE",
        help="Keep SIZE of each command's stdout and stderr, such as 1MB.",
        rich_help_panel=_PANEL,
    ),
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Trust the project's commands for this command only.")
]
Profile = Annotated[
    str | None,
    typer.Option("--profile", metavar="NAME", help="Use this profile of the configuration."),
]


def confirm_commands(commands: Sequence[ContextCommand]) -> None:
    """Show commands with their origins, and ask whether they may run.

    Raises CubError for a "no", and if nobody is there to ask.
    """
    if not commands:
        return
    if not output.can_ask():
        hint = "omit --confirm-context-exec, or pass --no-context-exec to skip them"
        raise CubError("context commands need confirmation, but stdin is not a terminal", hint=hint)
    for command in commands:
        title = f"{command.name} ({command.origin})"
        for line in format_command(title, command.command):
            output.print_message(line)
    question = "Run this command?" if len(commands) == 1 else "Run these commands?"
    if not output.ask_confirmation(question):
        raise CubError("no context command ran")


def format_command(title: str, text: str) -> list[str]:
    """Return the lines that show a command or a script after its title; of a long one, both ends.

    Printing them makes control characters visible.
    """
    lines = cut_middle(text.removesuffix("\n"), _MAX_SHOWN_CHARS).split("\n")
    if len(lines) == 1:
        return [f"{title}: {lines[0]}"]
    return [f"{title}:", *(f"  {line}" for line in lines)]


def run_commands(
    settings: ContextSettings, options: ContextOptions, environment: CommandEnvironment
) -> tuple[list[OutputBlock], list[PlanWarning]]:
    """Run context commands as the options say, after a confirmation.

    Return their blocks, and warnings about what failed or was shortened.
    """
    from cub.context.context_commands import list_output_warnings, run_context_commands
    from cub.context.output_blocks import make_blocks

    if options.confirm:
        confirm_commands(settings.commands)
    report = choose_audit(options)
    outputs = run_context_commands(settings.commands, environment, settings.parallel, report=report)
    return make_blocks(outputs), list_output_warnings(outputs)


def choose_audit(options: ContextOptions) -> Callable[[str], None]:
    """Return what takes a line about each command that ran: stderr for --debug, else the log."""
    from cub.debug_log import log_debug

    return output.print_message if options.debug else log_debug
