"""Ask whether context commands may run, and run them as the options say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cub.cli import output
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.text import cut_middle

if TYPE_CHECKING:
    from cub.actions.command_options import ContextOptions
    from cub.actions.run.run_options import ConfigValues
    from cub.actions.tasks.stores import Stores
    from cub.context.context_commands import ContextCommand
    from cub.context.output_blocks import OutputBlock

_MAX_SHOWN_CHARS = 4_000  # of a command or a script


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
    stores: Stores, values: ConfigValues, options: ContextOptions
) -> tuple[list[OutputBlock], list[PlanWarning]]:
    """Run context commands as the options and the configuration say, after a confirmation.

    Return their blocks, and warnings about what failed or was shortened.
    """
    from cub.actions.context_settings import prepare_context_commands

    settings = prepare_context_commands(stores, values, options)
    if not settings.commands:
        return [], []
    from cub.actions.tasks.current_attempt import build_environment
    from cub.context.context_commands import (
        CommandEnvironment,
        list_output_warnings,
        run_context_commands,
    )
    from cub.context.output_blocks import make_blocks

    if options.confirm_context_exec:
        confirm_commands(settings.commands)
    report = choose_audit(options)
    environ = build_environment(values["run.hide_env"].value)
    environment = CommandEnvironment(stores.project.root, environ)
    outputs = run_context_commands(settings.commands, environment, settings.parallel, report=report)
    return make_blocks(outputs), list_output_warnings(outputs)


def choose_audit(options: ContextOptions) -> Callable[[str], None]:
    """Return what takes a line about each command that ran: stderr for --debug, else the log."""
    from cub.debug_log import log_debug

    return output.print_message if options.debug else log_debug
