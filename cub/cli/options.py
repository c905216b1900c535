"""Define the global options, and the options that several commands share."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cub.cli import output
from cub.cli.parameters import make_option, require_at_most_one
from cub.cli.terminal import add_style
from cub.edit.plan import EditedPolicy
from cub.errors import UsageError
from cub.project.project import Project, find_project_root


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """Hold the global options, which come before the command or after it."""

    directory: Path
    quiet: bool = False
    verbose: bool = False


Json = Annotated[bool, make_option("--json", "Print JSON.")]
DryRun = Annotated[
    bool, make_option("--dry-run", "Show what would change, without writing anything.")
]
Diff = Annotated[
    bool, make_option("--diff", "Print the changes as a diff, without writing anything.")
]
Edited = Annotated[
    EditedPolicy,
    make_option(
        "--edited",
        "If a managed section was edited manually: stop, move the edits below it, "
        "or replace it and save the old text in .cub/backups/.",
    ),
]
Prune = Annotated[
    bool,
    make_option(
        "--prune",
        "Also delete progress.txt, progress.md, fix_plan.md, and .cub/guardrails.md "
        "if a version before 0.1 created them.",
    ),
]


def resolve_path_argument(root: Path, directory: Path, path: str) -> str:
    """Return a PATH, relative to `directory`, as one relative to the project's root."""
    full = Path(os.path.normpath(Path(os.path.realpath(directory)) / path))
    if not full.is_relative_to(root):
        raise UsageError(
            "outside the project", where=path, hint=f"the project is {root.as_posix()}"
        )
    return full.relative_to(root).as_posix()


OPTIONS_PANEL = "Global options"


def add_global_options(command: Any) -> None:
    """Let a command take the global options; its own ones come first."""
    own = {name for parameter in command.params for name in parameter.opts}
    command.params += [option for option in _list_declared_options() if not own & set(option.opts)]


def get_global_options(context: typer.Context) -> GlobalOptions:
    """Return the global options given so far."""
    return context.obj if isinstance(context.obj, GlobalOptions) else GlobalOptions(Path())


def get_directory(context: typer.Context) -> Path:
    """Return the directory that a command runs in: that of -C, or the current one."""
    return get_global_options(context).directory


def find_root(context: typer.Context) -> Path:
    """Return the root of the project that a command is about."""
    return find_project_root(get_directory(context))


def load_project(context: typer.Context) -> Project:
    """Return the project that a command is about, with its configuration."""
    return Project.load(find_root(context))


def find_start_folder(context: typer.Context, root: Path) -> str:
    """Return the directory in which a command is called, relative to the project's root."""
    start = Path(os.path.realpath(get_directory(context)))
    return start.relative_to(root).as_posix().removeprefix(".")


def _set_directory(context: typer.Context, value: Path | None) -> None:
    options = get_global_options(context)
    context.obj = options if value is None else replace(options, directory=value)


def _set_no_color(value: bool) -> None:
    if value:
        os.environ["NO_COLOR"] = "1"  # also for what cub starts


def _set_quiet(context: typer.Context, value: bool) -> None:
    options = get_global_options(context)
    if value and not options.quiet:
        require_at_most_one({"--quiet": True, "--verbose": options.verbose})
        context.obj = replace(options, quiet=True)
        context.find_root().with_resource(output.mute_messages())


def _set_verbose(context: typer.Context, value: bool) -> None:
    options = get_global_options(context)
    if value and not options.verbose:
        require_at_most_one({"--quiet": options.quiet, "--verbose": True})
        context.obj = replace(options, verbose=True)
        context.find_root().with_resource(_show_debug_log())


@contextmanager
def _show_debug_log() -> Iterator[None]:
    """Show the debug log, each line of it once, with the time since the command began."""
    from cub.debug_log import log_debug, receive_debug_log

    start, shown_lines = time.monotonic(), set[str]()

    def show(text: str) -> None:
        if text not in shown_lines:
            seconds = add_style(f"{time.monotonic() - start:.3f}s", "dim")
            output.print_message(f"{seconds} {text}")
            shown_lines.add(text)

    with receive_debug_log(show):
        yield
        log_debug("done")


_make_option = partial(typer.Option, expose_value=False, rich_help_panel=OPTIONS_PANEL)
_Directory = Annotated[
    Path | None,
    _make_option("-C", metavar="DIR", help="Run as if started in DIR.", callback=_set_directory),
]
_NoColor = Annotated[
    bool,
    _make_option("--no-color", help="Print without colors.", callback=_set_no_color, is_eager=True),
]
_Quiet = Annotated[
    bool, _make_option("--quiet", "-q", help="Print only results and errors.", callback=_set_quiet)
]
_VERBOSE_HELP = "Log each step to stderr, with timings."
_Verbose = Annotated[
    bool, _make_option("--verbose", "-v", help=_VERBOSE_HELP, callback=_set_verbose)
]


def _declare(
    directory: _Directory = None,
    no_color: _NoColor = False,
    quiet: _Quiet = False,
    verbose: _Verbose = False,
) -> None:
    """Declare the options; this is never run."""


@cache
def _list_declared_options() -> list[Any]:
    app = typer.Typer(add_completion=False)
    app.command()(_declare)
    return typer.main.get_command(app).params
