"""Define `cub trust`, which agrees to the commands that a project brings along."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.context_exec import format_command
from cub.cli.json_output import JsonObject
from cub.cli.options import get_directory
from cub.cli.parameters import make_option
from cub.cli.task_stores import open_task_stores
from cub.errors import CubError

if TYPE_CHECKING:
    from cub.actions.run.command_trust import Executable

app = typer.Typer(add_completion=False)

Show = Annotated[bool, make_option("--show", "List the commands, without trusting them.")]
Revoke = Annotated[bool, make_option("--revoke", "Revoke your trust in this project's commands.")]
Json = Annotated[bool, make_option("--json", "Print the commands as JSON, each with its trust.")]


@app.command()
def trust(
    context: typer.Context, show: Show = False, revoke: Revoke = False, json: Json = False
) -> None:
    """Trust the commands that this project runs.

    These are the checks, agents, bootstrap scripts, and context commands in .cub/config.yaml, in
    tasks, and beside rules, and the files that agents execute, such as .claude/settings.json. If
    one of them changes, cub asks again.

    Example: cub trust --show
    """
    from cub.actions.context_scripts import list_context_scripts, make_text_reader
    from cub.actions.run.check_proposals import list_unconfigured_checks
    from cub.actions.run.command_trust import read_executables, trust_project
    from cub.actions.tasks.current_attempt import find_current_attempt
    from cub.project.trust_store import save_trust

    stores = open_task_stores(context)
    if not show and find_current_attempt(stores.root):
        raise CubError("commands cannot be trusted inside an attempt")
    proposed = list_unconfigured_checks(stores, os.environ)
    reader = make_text_reader(stores.project, get_directory(context))
    scripts = list_context_scripts(reader)
    if revoke:
        save_trust(stores.root, None)
    found = [] if show or revoke else trust_project(stores, proposed, scripts)
    if json:
        _print_report(stores.root, read_executables(stores, proposed, scripts))
    elif revoke:
        output.print_line("No command of this project is trusted now.")
    else:
        _print_executables(found or read_executables(stores, proposed, scripts), show=show)


def _print_executables(found: Sequence[Executable], *, show: bool) -> None:
    for one in found:
        if not one.text:
            output.print_paragraph(one.line)
    for one in found:
        for line in format_command(one.line, one.text) if one.text else ():
            output.print_line(line)
    if not found:
        output.print_line("This project has no commands to trust.")
    elif not show:
        output.print_message("Trusted until they change.")


def _print_report(root: Path, found: Sequence[Executable]) -> None:
    """Print the commands as JSON, as they are now, and whether the person has agreed to them."""
    sections: dict[str, list[JsonObject]] = {
        name: [] for name in ("config", "checks", "proposed", "scripts", "files")
    }
    for one in found:
        sections[one.section].append({**one.facts, "trusted": one.trusted})
    trusted = all(one.trusted for one in found)
    output.print_json({"v": 1, "root": root.as_posix(), "trusted": trusted, **sections})
