"""Show the configuration with its origins, and change one value: `cub config`."""

from __future__ import annotations

import os
from dataclasses import replace
from json import dumps
from typing import Annotated, Any

import typer

from cub.cli import output
from cub.cli.json_output import make_result
from cub.cli.options import Diff, DryRun, find_root, load_project
from cub.cli.parameters import make_option
from cub.cli.plan_command import PlanDisplay, print_preview, run_plan_command
from cub.config_edit.yaml_text import format_yaml
from cub.edit.plan import Plan
from cub.files.single_file import replace_single_file
from cub.project.config import CONFIG_FILE
from cub.project.config_layers import (
    ConfigValue,
    abbreviate_home,
    get_user_config_path,
    read_user_config,
    resolve_config,
)
from cub.text import UP_TO_DATE

app = typer.Typer(add_completion=False, no_args_is_help=True)

Key = Annotated[str, typer.Argument(metavar="KEY", help="A key, such as run.max_attempts.")]
Words = Annotated[
    str,
    typer.Argument(
        metavar="VALUE", help="A YAML value: true, 3, a string, or a list such as '[pytest]'."
    ),
]
Json = Annotated[bool, make_option("--json", "Print JSON, with the origin.")]
Profile = Annotated[
    str | None, make_option("--profile NAME", "Use this profile of the configuration.")
]
User = Annotated[
    bool, make_option("--user", "Use your user configuration, which applies to all your projects.")
]


@app.callback()
def config() -> None:
    """Show and change the configuration.

    Example: cub config show
    """


@app.command()
def show(context: typer.Context, json: Json = False, profile: Profile = None) -> None:
    """List every key with its value and its origin.

    API keys are masked.

    Example: cub config show --profile fast
    """
    project = load_project(context)
    layers = resolve_config(project, os.environ, profile)
    rows = [replace(row, value=_hide_key(row.key, row.value)) for row in layers.list_values()]
    if json:
        settings = [_value_to_json(row) for row in rows]
        output.print_json(make_result(project.root, layers.warnings, settings=settings))
        return
    output.print_warnings(layers.warnings)
    lines = [(row.key, format_yaml(row.value), row.where or row.origin) for row in rows]
    output.print_table(("key", "value", "origin"), lines, prose=("value",))


@app.command()
def get(context: typer.Context, key: Key, json: Json = False) -> None:
    """Print one value; lists and mappings as JSON.

    Example: cub config get run.max_attempts
    """
    value = resolve_config(load_project(context), os.environ).find_value(key)
    if json:
        output.print_json({"v": 1, **_value_to_json(value)})
    elif isinstance(value.value, str):
        output.print_value(value.value)
    else:
        output.print_value(dumps(value.value, ensure_ascii=False))


@app.command(name="set")
def set_(
    context: typer.Context,
    key: Key,
    value: Words,
    user: User = False,
    dry_run: DryRun = False,
    diff: Diff = False,
) -> None:
    """Set one value in .cub/config.yaml.

    Comments, order, and quotes stay.

    Example: cub config set run.max_attempts 5
    """
    from cub.actions.config_set import describe_config_next_step, plan_config_set

    display = PlanDisplay(dry_run, diff)
    if user:
        print_result(_set_user(key, value, display), key, display)
        return
    root = find_root(context)
    plan = run_plan_command(root, lambda project: plan_config_set(project, key, value), display)
    print_result(plan, key, display, describe_config_next_step(plan, key) if plan.edits else "")


@app.command()
def path(context: typer.Context, user: User = False) -> None:
    """Print the path of the configuration file.

    Example: cub config path --user
    """
    file = get_user_config_path() if user else find_root(context) / CONFIG_FILE
    output.print_value(file.as_posix())


@app.command()
def schema() -> None:
    """Print the JSON Schema of config.yaml.

    Example: cub config schema > config.schema.json
    """
    from cub.project.config_schema import build_config_schema

    output.print_json(build_config_schema())


def print_result(plan: Plan, key: str, show: PlanDisplay, step: str = "") -> None:
    """Print the last line: the result, and the next step."""
    if show.is_read_only:
        return
    if plan.is_empty:
        output.print_message(UP_TO_DATE)
    else:
        output.print_message(f"Set {key} in {plan.edits[0].path}. {step}".rstrip())


def _set_user(key: str, words: str, show: PlanDisplay) -> Plan:
    from cub.actions.config_set import plan_user_config_set

    file = get_user_config_path()
    plan = plan_user_config_set(read_user_config(), abbreviate_home(file), key, words)
    if show.is_read_only:
        print_preview(plan, show)
        return plan
    output.print_warnings(plan.warnings)
    output.print_plan_summary(plan)
    for edit in plan.edits:
        replace_single_file(file, edit.before, edit.after or b"", edit.path)
    return plan


def _hide_key(name: str, value: Any) -> Any:
    """Return a value for a list that may be shown to others: without the key of a service."""
    from cub.masking import MASK

    if isinstance(value, dict):
        return {part: _hide_key(f"{name}.{part}", inner) for part, inner in value.items()}
    return MASK if value and name.endswith("code.api_key") else value


def _value_to_json(value: ConfigValue) -> dict[str, Any]:
    origin = {"origin": value.origin, "where": value.where}
    return {"key": value.key, "value": value.value, **origin}
