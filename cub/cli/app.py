"""The Typer app, and the one boundary between exceptions and exit codes."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cub import __version__
from cub.cli import output
from cub.cli.completion import options as completion
from cub.cli.global_options import take_global_options
from cub.cli.shapes import error_tree
from cub.cli.streams import abandon, flush, help_width, prepare
from cub.errors import CubError, InternalError, UsageError
from cub.files import Listener, listening
from cub.files.reading import trouble

BUG = InternalError.exit_code
COMMANDS = (
    "init", "update", "task", "run", "prompt", "ledger", "trust", "map", "diff", "status",
    "repair", "remove", "config", "schema", "demo", "help", "version",
)  # fmt: skip


class _Context(typer.Context):
    """A context whose help is cub's own."""

    def get_help(self) -> str:
        """The help of the command, as wide as the terminal; typer prints it by itself."""
        from cub.cli.help_text import help_lines

        self.color = output.is_colored()
        lines = help_lines(self.command, self, help_width())
        return "\n".join(map(output.for_terminal, lines))


def _prepare(app: typer.Typer, name: str) -> Any:
    """The command of a module, with what all commands have."""
    command = typer.main.get_command(app)
    command.name = name
    take_global_options(command)
    _give_help(command)
    return command


def _give_help(command: Any) -> None:
    command.context_class = _Context
    for inner in getattr(command, "commands", {}).values():
        _give_help(inner)


class _Commands(dict[str, Any]):
    """The commands by name, each imported when it is asked for."""

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self:
            return default
        return _prepare(import_module(f"cub.cli.{name}").app, name)


class LazyGroup(TyperGroup):
    """A group that imports a command's module only to run it or to describe it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands(dict.fromkeys(COMMANDS))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The commands in the order of a first use."""
        return list(COMMANDS)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The options for completion may stand without a value."""
        parsed: list[str] = super().parse_args(ctx, completion.with_shell(args))
        return parsed


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        output.line(f"cub {__version__}")
        raise typer.Exit


@app.callback()
def _cub(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_show_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    _install: Annotated[
        str | None,
        typer.Option(
            completion.INSTALL,
            metavar="[SHELL]",
            callback=completion.install,
            is_eager=True,
            help="Install completion for bash, zsh or fish; without a SHELL for this one.",
        ),
    ] = None,
    _show: Annotated[
        str | None,
        typer.Option(
            completion.SHOW,
            metavar="[SHELL]",
            callback=completion.show,
            is_eager=True,
            help="Print the script of bash, zsh or fish, to be loaded in another way.",
        ),
    ] = None,
) -> None:
    """People and agents share one instruction file, and no byte a person wrote is lost.

    Example: cub init --diff
    """


def root_command() -> Any:
    """`cub` itself; its commands are imported when they are asked for."""
    command = typer.main.get_command(app)
    take_global_options(command)
    command.context_class = _Context
    return command


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code: 0, 1, 2, 3 or 130."""
    prepare()
    code = 0
    problem: CubError | None = None
    bug: Exception | None = None
    try:
        command = root_command()
        with listening(Listener(output.warn, output.talk)):
            result = command.main(arguments, prog_name="cub", standalone_mode=False)
        flush()
        code = result if isinstance(result, int) else 0
    except CubError as error:
        code, problem, bug = error.exit_code, error, error if error.exit_code == BUG else None
    except typer.TyperException as error:
        code, problem = int(error.exit_code), _usage(error)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except OSError as error:  # stdout is closed or full; user files have errors of their own
        abandon()
        broken = isinstance(error, BrokenPipeError)
        what = "cannot be used" if error.filename else "cannot write the output"
        code, problem = 1, None if broken else trouble(error, str(error.filename or ""), what)
    except Exception as error:  # noqa: BLE001 - the one place where any bug ends
        code, problem, bug = BUG, CubError(f"{type(error).__name__}: {error}"), error
    if problem:
        _show(problem, code, as_json="--json" in arguments)
    if bug:
        from cub.cli import bugs

        bugs.keep(bug, arguments)
    return code


def _show(problem: CubError, code: int, *, as_json: bool) -> None:
    """For the person on stderr and, where JSON was asked for, for the program on stdout.

    That is one line: a program that reads a line at a time, as of `cub run`, reads errors, too.
    """
    output.error(problem)
    if as_json:
        output.as_json_line(error_tree(problem, code))


def _usage(error: typer.TyperException) -> CubError | None:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        from cub.cli.help import print_help

        print_help(context)
        return None
    name = context.command_path if context is not None else "cub"
    message = error.format_message().replace("Value error, ", "")
    return UsageError(message, hint=f"`{name} --help` lists what there is")
