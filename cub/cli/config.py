"""`cub config`: what is configured, where that comes from, and changing one value of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cub.cli import output
from cub.cli.carry_out import Show, carry_out
from cub.cli.options import Diff, DryRun, Options
from cub.cli.shapes import plan_tree

if TYPE_CHECKING:
    from cub.edit.plan import Plan
    from cub.project.config_layers import Layers, Value

app = typer.Typer(add_completion=False, no_args_is_help=True)

Key = Annotated[str, typer.Argument(metavar="KEY", help="For example run.max_attempts.")]
Words = Annotated[
    str, typer.Argument(metavar="VALUE", help="YAML: true, 3, a text, or a list in brackets.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, with the origin.")]
Profile = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="As with this profile.")
]
User = Annotated[
    bool, typer.Option("--user", help="Your own file, which counts in all your projects.")
]


@app.callback()
def config() -> None:
    """Show what is configured, and where that comes from; change a value of it.

    Example: cub config show
    """


@app.command()
def show(context: typer.Context, json: Json = False, profile: Profile = None) -> None:
    """List every key with its value and its origin.

    Example: cub config show --profile fast
    """
    from cub.edit.plan import Plan
    from cub.layout.words import written

    root, layers = _layers(context, profile)
    rows = layers.rows()
    if json:
        told = plan_tree(Plan((), tuple(layers.warnings)), root)
        told["settings"] = [_tree(row) for row in rows]
        del told["changes"]
        output.as_json(told)
        return
    output.warn(layers.warnings)
    lines = [(row.key, written(row.value), row.where or row.origin) for row in rows]
    output.table(("key", "value", "origin"), lines, prose=("value",))


@app.command()
def get(context: typer.Context, key: Key, json: Json = False) -> None:
    """Print one value alone; lists and mappings as JSON.

    Example: cub config get run.max_attempts
    """
    value = _layers(context)[1].find(key)
    if json:
        output.as_json({"v": 1, **_tree(value)})
    elif isinstance(value.value, str):
        output.value(value.value)
    else:
        output.value(_json(value.value))


@app.command(name="set")
def set_(
    context: typer.Context,
    key: Key,
    value: Words,
    user: User = False,
    dry_run: DryRun = False,
    diff: Diff = False,
) -> None:
    """Write one value into .cub/config.yaml. Comments, order and quotes stay.

    Example: cub config set run.max_attempts 5
    """
    from cub.actions.configure import next_step, plan_set
    from cub.project.project import find_root

    options: Options = context.obj
    flags = Show(dry_run, diff)
    if user:
        close(_set_user(key, value, flags), key, flags)
        return
    root = find_root(options.directory)
    plan = carry_out(root, lambda project: plan_set(project, key, value), flags)
    close(plan, key, flags, next_step(plan, key) if plan.edits else "")


@app.command()
def path(context: typer.Context, user: User = False) -> None:
    """Print where the file is, or would be.

    Example: cub config path --user
    """
    from cub.project.config import CONFIG
    from cub.project.project import find_root
    from cub.project.user_config import user_file

    options: Options = context.obj
    found = user_file() if user else find_root(options.directory) / CONFIG
    output.value(found.as_posix())


@app.command()
def schema() -> None:
    """Print the JSON Schema of config.yaml, for editors.

    Example: cub config schema > config.schema.json
    """
    from cub.project.config_schema import schema as tree

    output.as_json(tree())


def close(plan: Plan, key: str, show: Show, step: str = "") -> None:
    """The last line: how it stands, and which step is next."""
    if plan.empty:
        output.talk(f"Nothing to do: {key} is set so already.")
    elif show.only:
        output.talk(f"{plan.edits[0].path} would change; nothing was written.")
    else:
        output.talk(f"Set {key} in {plan.edits[0].path}. {step}".rstrip())


def _set_user(key: str, words: str, show: Show) -> Plan:
    from cub.actions.configure import plan_set_user
    from cub.files.single import replace_single
    from cub.project.user_config import read_user_file, shown, user_file

    file = user_file()
    plan = plan_set_user(read_user_file(), shown(file), key, words)
    output.warn(plan.warnings)
    if show.diff:
        output.diff(plan.diff())
    else:
        output.summary(plan)
    for edit in () if show.only else plan.edits:
        replace_single(file, edit.before, edit.after or b"", edit.path)
    return plan


def _layers(context: typer.Context, profile: str | None = None) -> tuple[Path, Layers]:
    from cub.project.effective import effective
    from cub.project.project import Project, find_root

    options: Options = context.obj
    project = Project.load(find_root(options.directory))
    return project.root, effective(project, os.environ, profile)


def _tree(value: Value) -> dict[str, Any]:
    return {
        "key": value.key,
        "value": value.value,
        "origin": value.origin,
        "where": value.where,
    }


def _json(value: Any) -> str:
    from json import dumps

    return dumps(value, ensure_ascii=False)
