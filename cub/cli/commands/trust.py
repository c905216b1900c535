"""Define `cub trust`, which agrees to the commands that a project brings along."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.context_options import format_command
from cub.cli.json_output import JsonObject
from cub.cli.options import get_global_options
from cub.cli.task_stores import open_task_stores
from cub.errors import CubError

if TYPE_CHECKING:
    from cub.actions.context_scripts import ContextScript
    from cub.actions.run.command_trust import ExecutableContent
    from cub.actions.tasks.stores import Stores

app = typer.Typer(add_completion=False)

Show = Annotated[bool, typer.Option("--show", help="List the commands, without trusting them.")]
Revoke = Annotated[
    bool, typer.Option("--revoke", help="Revoke your trust in this project's commands.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the commands as JSON, each with its trust.")
]


@app.command()
def trust(
    context: typer.Context, show: Show = False, revoke: Revoke = False, json: Json = False
) -> None:
    """Trust the commands that this project runs.

    These are the checks, agents, bootstrap scripts, and context commands in .cub/config.yaml, in
    tasks, and beside rules. If one of them changes, cub asks again.

    Example: cub trust --show
    """
    from cub.actions.context_scripts import list_context_scripts, make_text_reader
    from cub.actions.run.check_proposals import list_unconfigured_checks
    from cub.actions.run.command_trust import read_executable_content, revoke_trust, trust_project
    from cub.actions.tasks.current_attempt import find_current_attempt

    stores = open_task_stores(context)
    if not show and find_current_attempt(stores.root):
        raise CubError("commands cannot be trusted inside an attempt")
    proposed = list_unconfigured_checks(stores, os.environ)
    reader = make_text_reader(stores.project, get_global_options(context).directory)
    scripts = list_context_scripts(reader)
    content = None
    if revoke:
        revoke_trust(stores)
    elif show:
        content = read_executable_content(stores, proposed)._replace(scripts=scripts)
    else:
        content = trust_project(stores, proposed, scripts)
    if json:
        output.print_json(_make_report(stores, proposed, scripts))
    elif content is None:
        output.print_line("No command of this project is trusted now.")
    else:
        _print_content(content, show=show)


def _print_content(content: ExecutableContent, *, show: bool) -> None:
    lines = content.to_lines()
    for line in lines:
        output.print_paragraph(line)
    for script in content.scripts:
        for line in format_command(script.title, script.text):
            output.print_line(line)
    if not (lines or content.scripts):
        output.print_line("This project has no commands to trust.")
    elif not show:
        output.print_message("Trusted until they change.")


def _make_report(
    stores: Stores, proposed: Mapping[str, str], scripts: Sequence[ContextScript]
) -> JsonObject:
    """Return the commands as they are now, and whether the person has agreed to them."""
    from json import loads

    from cub.actions.run.command_trust import make_trust_report

    report = make_trust_report(stores, proposed, scripts)
    config = [
        {"key": key, "value": loads(value), "trusted": report.is_config_trusted}
        for key, value in report.config.items()
    ]
    return {
        "v": 1,
        "root": stores.root.as_posix(),
        "trusted": report.is_trusted,
        "config": config,
        "checks": [check._asdict() for check in report.checks],
        "proposed": [check._asdict() for check in report.proposed],
        "scripts": [script._asdict() for script in report.scripts],
    }
