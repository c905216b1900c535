"""Run `cub prompt`: print what a run would send for a task, with an ending for other agents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from cub.actions.command_options import ContextOptions
from cub.cli import output
from cub.cli.context_exec import run_commands
from cub.cli.json_output import JsonObject, warnings_to_json
from cub.cli.parameters import make_option, take_options
from cub.cli.task_stores import open_task_stores
from cub.errors import UsageError
from cub.project.config_layers import resolve_config
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from cub.actions.build_prompt import BuiltPrompt
    from cub.actions.tasks.stores import Stores
    from cub.prompt.task_prompt import TaskPrompt

app = typer.Typer(add_completion=False)

Key = Annotated[
    str | None, typer.Argument(metavar="ID", help="The task, or any unique part of its ID.")
]
System = Annotated[bool, make_option("--system", "Print the system prompt of a run instead.")]
Explain = Annotated[
    bool, make_option("--explain", "List the sections with their tokens and omissions.")
]
Tokens = Annotated[
    int | None, make_option("--tokens N", "Limit the prompt to N tokens. [default: 4000]", min=1)
]
Json = Annotated[bool, make_option("--json", "Print both prompts and the sections as JSON.")]


@app.command()
@take_options
def prompt(
    context: typer.Context,
    key: Key = None,
    system: System = False,
    explain: Explain = False,
    tokens: Tokens = None,
    *,
    options: ContextOptions,
    json: Json = False,
) -> None:
    """Print the prompt of a task.

    It contains the output of context commands, the task, its epic, and why the last attempt
    failed. A run sends the same text with another ending: outside of a run, the agent itself
    closes the task and commits.

    Example: cub prompt k3f9a --exec "git diff"
    """
    from cub.actions.build_prompt import read_system_prompt
    from cub.prompt.task_prompt import DEFAULT_TOKENS

    stores = open_task_stores(context)
    budget = tokens or DEFAULT_TOKENS
    if not system and key is None:
        raise UsageError("which task?", hint="run `cub task ready` to list tasks")
    built = None if system or key is None else _build(stores, key, budget, options)
    if json:
        output.print_json(_prompts_to_json(stores, built, budget))
    elif built is None:
        text = read_system_prompt(stores.project.tree)
        output.print_bytes(text.encode("utf-8", "surrogateescape"))
    else:
        _print_prompt(built, explain=explain)


def _build(stores: Stores, key: str, budget: int, options: ContextOptions) -> BuiltPrompt:
    from cub.actions.build_prompt import build_task_prompt, read_prompt_options

    values = resolve_config(stores.project, os.environ, options.profile).values
    prompt_options = read_prompt_options(stores, key, values)  # no command for an unknown task
    blocks, warnings = run_commands(stores, values, options)
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

    tree: JsonObject = {
        "v": 1,
        "root": stores.root.as_posix(),
        "system": read_system_prompt(stores.project.tree),
        "warnings": warnings_to_json(built.warnings if built else ()),
    }
    if built is None:
        return tree
    prompt = built.prompt
    return {
        **tree,
        "task": built.task,
        "prompt": prompt.text,
        "tokens": estimate_tokens(prompt.text),
        "budget": budget,
        "over": prompt.is_over_budget,
        "sections": [section._asdict() for section in prompt.sections],
        "cuts": list(prompt.cuts),
    }
