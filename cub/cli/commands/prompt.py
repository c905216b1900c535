"""Run `cub prompt`: print what a run would send for a task, with an ending for other agents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.context_options import (
    ConfirmContextExec,
    Debug,
    Exec,
    NoContextExec,
    Profile,
    Trust,
    run_commands,
)
from cub.cli.json_output import JsonObject, warnings_to_json
from cub.cli.task_stores import open_task_stores
from cub.errors import UsageError
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from cub.actions.build_prompt import BuiltPrompt
    from cub.actions.context_settings import ContextOptions
    from cub.actions.tasks.stores import Stores
    from cub.edit.plan import PlanWarning
    from cub.prompt.task_prompt import TaskPrompt

app = typer.Typer(add_completion=False)

Key = Annotated[
    str | None,
    typer.Argument(
        metavar="ID", help="The task, or any unique part of its ID.", show_default=False
    ),
]
System = Annotated[bool, typer.Option("--system", help="Print the system prompt of a run instead.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="List the sections with their tokens and omissions.")
]
Tokens = Annotated[
    int | None,
    typer.Option(
        "--tokens", min=1, metavar="N", help="Limit the prompt to N tokens. [default: 4000]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print both prompts and the sections as JSON.")]


@app.command()
def prompt(
    context: typer.Context,
    key: Key = None,
    system: System = False,
    explain: Explain = False,
    tokens: Tokens = None,
    exec_: Exec = None,
    no_context_exec: NoContextExec = False,
    confirm_context_exec: ConfirmContextExec = False,
    trust: Trust = False,
    profile: Profile = None,
    debug: Debug = False,
    json: Json = False,
) -> None:
    """Print the prompt of a task.

    It contains the output of context commands, the task, its epic, and why the last attempt
    failed. A run sends the same text with another ending: outside of a run, the agent itself
    closes the task and commits.

    Example: cub prompt k3f9a --exec "git diff"
    """
    from cub.actions.build_prompt import read_system_prompt
    from cub.actions.context_settings import ContextOptions
    from cub.prompt.task_prompt import DEFAULT_TOKENS

    stores = open_task_stores(context)
    budget = tokens or DEFAULT_TOKENS
    if not system and key is None:
        raise UsageError("which task?", hint="run `cub task ready` to list tasks")
    options = ContextOptions(
        tuple(exec_ or ()), no_context_exec, confirm_context_exec, trust, debug
    )
    built = None if system or key is None else _build(stores, key, budget, options, profile)
    if json:
        output.print_json(_prompts_to_json(stores, built, budget))
    elif built is None:
        text = read_system_prompt(stores.project.tree)
        output.print_bytes(text.encode("utf-8", "surrogateescape"))
    else:
        _print_prompt(built, explain=explain)


def _build(
    stores: Stores, key: str, budget: int, options: ContextOptions, profile: str | None
) -> BuiltPrompt:
    from cub.actions.build_prompt import build_task_prompt, read_prompt_options
    from cub.actions.context_settings import prepare_context_commands
    from cub.project.config_layers import resolve_config

    project = stores.project
    values = resolve_config(project, os.environ, profile).values
    prompt_options = read_prompt_options(stores, key, values)  # no command for an unknown task
    settings = prepare_context_commands(stores, values, options, profile)
    warnings: list[PlanWarning] = []
    if settings.commands:
        from cub.actions.tasks.current_attempt import build_environment
        from cub.context.context_commands import CommandEnvironment

        environ = build_environment(values["run.hide_env"].value)
        surroundings = CommandEnvironment(project.root, environ)
        blocks, warnings = run_commands(settings, options, surroundings)
        prompt_options = prompt_options._replace(blocks=tuple(blocks))
    built = build_task_prompt(stores, key, prompt_options, budget)
    return built._replace(warnings=[*warnings, *built.warnings])


def _print_prompt(built: BuiltPrompt, *, explain: bool) -> None:
    output.print_warnings(built.warnings)
    if explain:
        _print_sections(built.prompt)
    else:
        output.print_bytes(built.prompt.text.encode())
    if built.prompt.is_over_budget:
        output.print_message("The task alone exceeds the budget; the task is never cut.")


def _print_sections(prompt: TaskPrompt) -> None:
    rows = [(section.title, f"{section.tokens:,}") for section in prompt.sections]
    total = sum(section.tokens for section in prompt.sections)
    output.print_table(("section", "tokens"), [*rows, ("in all", f"{total:,}")], prose=("section",))
    for cut in prompt.cuts:
        output.print_paragraph(f"cut: {cut}")


def _prompts_to_json(stores: Stores, built: BuiltPrompt | None, budget: int) -> JsonObject:
    """Return all that a run sends; without a task, the system prompt alone."""
    from cub.actions.build_prompt import read_system_prompt

    tree = {
        "v": 1,
        "root": stores.root.as_posix(),
        "system": read_system_prompt(stores.project.tree),
        "warnings": warnings_to_json(built.warnings if built else ()),
    }
    return {**tree, **_prompt_to_json(built, budget)} if built else tree


def _prompt_to_json(built: BuiltPrompt, budget: int) -> JsonObject:
    prompt = built.prompt
    return {
        "task": built.task,
        "prompt": prompt.text,
        "tokens": estimate_tokens(prompt.text),
        "budget": budget,
        "over": prompt.is_over_budget,
        "sections": [section._asdict() for section in prompt.sections],
        "cuts": list(prompt.cuts),
    }
