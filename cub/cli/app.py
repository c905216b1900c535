"""Build the Typer app, and turn exceptions into exit codes, in one place.

A bug in cub leaves a traceback in a file, and a line that names the file.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from functools import partial
from importlib import import_module
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cub import __version__
from cub.cli import output
from cub.cli.json_output import error_to_json
from cub.cli.options import add_global_options
from cub.cli.parameters import add_missing_values, convert_plain_values, make_option
from cub.cli.terminal import configure_streams, discard_unwritten_output, get_help_width
from cub.errors import CubError, InternalError
from cub.files.lock import MessageSink, use_message_sink
from cub.files.read_files import make_os_error
from cub.text import describe_os_error

BUG_EXIT_CODE = InternalError.exit_code
COMMAND_GROUPS = {
    "Start": ("init", "demo", "doctor", "status"),
    "Work": ("task", "run", "code"),
    "Context": ("context", "prompt", "map", "agents"),
    "Upkeep": ("update", "diff", "repair", "remove", "config", "trust", "ledger", "schema"),
    "Other": ("help", "version"),
}
COMMANDS = tuple(chain.from_iterable(COMMAND_GROUPS.values()))
_SHELL_OPTIONS = _SHOW_OPTION, _INSTALL_OPTION = "--show-completion", "--install-completion"


class _Context(typer.Context):
    """Print cub's own help, and convert plain values without pydantic."""

    def __init__(self, command: Any, **settings: Any) -> None:
        super().__init__(command, **settings)
        convert_plain_values(command.get_params(self))  # with the option --help

    def get_help(self) -> str:
        """Return the command's help, as wide as the terminal; typer would print it itself."""
        from cub.cli.commands.help import format_help

        self.color = output.has_color()
        lines = format_help(self.command, self, get_help_width())
        return "\n".join(map(output.format_for_terminal, lines))


def _build_command(app: typer.Typer, name: str | None = None) -> Any:
    """Build a command and those in it, each with the global options and cub's own context."""
    command = typer.main.get_command(app)
    command.name = name or command.name
    commands: list[Any] = [command]
    for one in commands:
        add_global_options(one)
        one.context_class = _Context
        commands += getattr(one, "commands", {}).values()
    return command


class LazyCommandGroup(TyperGroup):
    """Import a command's module only to run it or to describe it."""

    command_groups = COMMAND_GROUPS

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the commands, group by group."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command, which is imported only now; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        return _build_command(import_module(f"cub.cli.commands.{cmd_name}").app, cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; the options for completion may come without a value."""
        parsed: list[str] = super().parse_args(ctx, add_missing_values(args, _SHELL_OPTIONS))
        return parsed


app = typer.Typer(
    cls=LazyCommandGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        output.print_line(f"cub {__version__}")
        raise typer.Exit


def _show_completion(name: str | None) -> None:
    if name is not None:
        from cub.cli.completion.install import SHELL_SCRIPTS, resolve_shell

        output.print_bytes(SHELL_SCRIPTS[resolve_shell(name)].encode())
        raise typer.Exit


def _install_completion(name: str | None) -> None:
    if name is not None:
        from cub.cli.completion.install import install_completion

        install_completion(name)
        raise typer.Exit


_make_option = partial(make_option, is_eager=True)
_INSTALL_HELP = "Install completion for bash, zsh, or fish. [default: this shell]"
_SHOW_HELP = "Print the completion script for a shell. [default: this shell]"


@app.callback()
def _cub(
    _version: Annotated[
        bool, _make_option("--version -V", "Print the version.", callback=_show_version)
    ] = False,
    _install: Annotated[
        str | None,
        _make_option(f"{_INSTALL_OPTION} [SHELL]", _INSTALL_HELP, callback=_install_completion),
    ] = None,
    _show: Annotated[
        str | None, _make_option(f"{_SHOW_OPTION} [SHELL]", _SHOW_HELP, callback=_show_completion)
    ] = None,
) -> None:
    """Run coding agents on a task list, and commit only what your checks accept.

    Example: cub run "Fix the login"
    """


def build_root_command() -> Any:
    """Build `cub` itself; its commands are imported when they are asked for."""
    return _build_command(app)


def run_command_line(arguments: list[str]) -> int:
    """Run the command line and return its exit code: 0, 1, 2, 3 or 130.

    All output ends here. A reader that goes away ends the command with 1 and without a word.
    """
    try:
        configure_streams()
        code = _run_and_report(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except OSError as error:  # stdout is closed or full; user files have errors of their own
        code = 1
        if not isinstance(error, BrokenPipeError):
            what = f"cannot write the output: {describe_os_error(error)}"
            output.print_error(CubError(what))  # what was changed before is not known
    discard_unwritten_output()
    return code


def _run_and_report(arguments: list[str]) -> int:
    """Run the command line and print the error that ends it; return the exit code."""
    problem: CubError | None = None
    bug: Exception | None = None
    try:
        return _run(arguments)
    except CubError as error:
        code, problem = error.exit_code, error
        bug = error if code == BUG_EXIT_CODE else None
    except typer.TyperException as error:
        code, problem = int(error.exit_code), _make_usage_error(error)
    except OSError as error:
        if not error.filename:
            raise
        code, problem = 1, make_os_error(error, str(error.filename), "cannot be used")
    except Exception as error:  # noqa: BLE001 - the one place where any bug ends
        code, problem, bug = BUG_EXIT_CODE, CubError(f"{type(error).__name__}: {error}"), error
    if problem:
        output.print_error(problem)
        if "--json" in arguments:  # on one line, as programs that read a line at a time expect
            output.print_json_line(error_to_json(problem, code))
    if bug:
        write_bug_report(bug, arguments)
    return code


def _run(arguments: list[str]) -> int:
    """Run the command line without typer's `main`, which handles a closed stdout in its own way."""
    command = build_root_command()
    sink = MessageSink(output.print_warnings, output.print_message)
    try:
        with use_message_sink(sink), command.make_context("cub", arguments) as context:
            result = command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, EOFError):
        raise KeyboardInterrupt from None
    return result if isinstance(result, int) else 0


def _make_usage_error(error: typer.TyperException) -> CubError | None:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        from cub.cli.commands.help import print_help

        print_help(context)
        return None
    from cub.cli.parser_errors import translate_parser_error

    return translate_parser_error(error)


def write_bug_report(error: Exception, arguments: list[str]) -> None:
    """Write the traceback to .cub/logs/ of the project, else to the user's own log folder."""
    folder = _find_log_folder(arguments)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(".log", "bug-", folder)
    except OSError:
        handle, name = tempfile.mkstemp(".log", "cub-bug-")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"cub {__version__}, Python {sys.version}, {sys.platform}\n")
        file.writelines(traceback.format_exception(error))
    output.print_message(f"this is a bug in cub; its traceback is in {name}")


def _find_log_folder(arguments: list[str]) -> Path:
    """Return the folder for the report, found without the code that may have the bug."""
    named = [folder for option, folder in pairwise(arguments) if option == "-C"]
    start = Path(named[-1] if named else ".").absolute()
    for folder in (start, *start.parents):
        if (folder / ".cub").is_dir():
            return folder / ".cub" / "logs"
    from platformdirs import user_log_path

    return user_log_path("cub")
