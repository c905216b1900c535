"""The Typer app, and the one boundary between exceptions and exit codes."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cub import __version__
from cub.cli import output
from cub.cli.options import Options
from cub.errors import CubError, UsageError

COMMANDS = ("init", "update", "status", "remove", "demo")


class _Commands(dict[str, Any]):
    """The commands by name, each imported when it is asked for."""

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self:
            return default
        return typer.main.get_command(import_module(f"cub.cli.{name}").app)


class LazyGroup(TyperGroup):
    """A group that imports a command's module only to run it or to describe it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands(dict.fromkeys(COMMANDS))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The commands in the order of a first use."""
        return list(COMMANDS)


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        output.line(f"cub {__version__}")
        raise typer.Exit


@app.callback()
def cub(
    context: typer.Context,
    directory: Annotated[
        Path, typer.Option("-C", metavar="DIR", help="Run as if started in DIR.")
    ] = Path(),
    no_color: Annotated[bool, typer.Option("--no-color", help="Print without colors.")] = False,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_show_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """People and agents share one instruction file, and no byte a person wrote is lost.

    Example: cub init --diff
    """
    if no_color:
        os.environ["NO_COLOR"] = "1"
    context.obj = Options(directory)


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code: 0, 1, 2, 3 or 130."""
    output.prepare()
    as_json = "--json" in arguments
    try:
        result = typer.main.get_command(app).main(arguments, prog_name="cub", standalone_mode=False)
        output.flush()
        return result if isinstance(result, int) else 0
    except CubError as error:
        code = error.exit_code
        output.error(error, as_json=as_json)
        if code == 3:
            _keep_traceback()
        return code
    except typer.TyperException as error:
        output.error(_usage(error), as_json=as_json)
        return int(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        output.abandon()
        return 1
    except Exception as error:  # noqa: BLE001 - the one place where any bug ends
        output.error(CubError(f"{type(error).__name__}: {error}"), as_json=as_json, code=3)
        _keep_traceback()
        return 3


def _usage(error: typer.TyperException) -> CubError:
    context = getattr(error, "ctx", None)
    name = context.command_path if context is not None else "cub"
    return UsageError(error.format_message(), hint=f"`{name} --help` lists what there is")


def _keep_traceback() -> None:
    """Write the traceback to .cub/logs/ of this folder, or to the user's own log folder."""
    import tempfile
    import traceback

    from platformdirs import user_log_path

    local = Path(".cub")
    folder = local / "logs" if local.is_dir() else user_log_path("cub")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(".log", "bug-", folder)
    except OSError:
        handle, name = tempfile.mkstemp(".log", "cub-bug-")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"cub {__version__}, Python {sys.version}, {sys.platform}\n")
        file.write(traceback.format_exc())
    output.talk(f"this is a bug in cub; its traceback is in {name}")
