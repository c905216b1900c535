"""`cub prompt`: what a run would send for a task, with an end for who works outside of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.shapes import Tree, warnings_tree
from cub.cli.task.opened import opened
from cub.errors import UsageError
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from cub.actions.task_prompt import Composed
    from cub.actions.tasks.stores import Stores
    from cub.prompt.task_prompt import TaskPrompt

app = typer.Typer(add_completion=False)

Key = Annotated[
    str | None,
    typer.Argument(metavar="ID", help="The task, or what is unique of its id.", show_default=False),
]
System = Annotated[bool, typer.Option("--system", help="Print the system prompt of a run instead.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="List the sections, what each costs, and what was cut.")
]
Tokens = Annotated[
    int | None,
    typer.Option("--tokens", min=1, metavar="N", help="The budget, in place of 4000."),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print both prompts, and what --explain lists, as JSON.")
]


@app.command()
def prompt(
    context: typer.Context,
    key: Key = None,
    system: System = False,
    explain: Explain = False,
    tokens: Tokens = None,
    json: Json = False,
) -> None:
    """Print the prompt of a task: the task, its epic, why the last attempt failed, how it ends.

    It is what a run sends, but for the end: outside of a run, the agent itself closes the task
    and commits.

    Example: cub prompt k3f9a --explain
    """
    from cub.actions.task_prompt import system_prompt, task_prompt
    from cub.prompt.task_prompt import TOKENS

    stores = opened(context)
    budget = tokens or TOKENS
    if not system and key is None:
        raise UsageError("which task?", hint="`cub task ready` lists what can be begun")
    composed = None if system or key is None else task_prompt(stores, key, budget)
    if json:
        output.as_json(_tree(stores, composed, budget))
    elif composed is None:
        text = system_prompt(stores.project.tree)
        output.text(text.encode("utf-8", "surrogateescape"))
    else:
        _show(composed, explain=explain)


def _show(composed: Composed, *, explain: bool) -> None:
    output.warn(composed.warnings)
    if explain:
        _explain(composed.prompt)
    else:
        output.text(composed.prompt.text.encode())
    if composed.prompt.over:
        output.talk("The task alone is over the budget: it is never cut.")


def _explain(made: TaskPrompt) -> None:
    rows = [(section.title, f"{section.tokens:,}") for section in made.sections]
    total = sum(section.tokens for section in made.sections)
    output.table(("section", "tokens"), [*rows, ("in all", f"{total:,}")], prose=("section",))
    for cut in made.cuts:
        output.paragraph(f"cut: {cut}")


def _tree(stores: Stores, composed: Composed | None, budget: int) -> Tree:
    """All that a run sends; without a task, the system prompt alone."""
    from cub.actions.task_prompt import system_prompt

    tree = {
        "v": 1,
        "root": stores.root.as_posix(),
        "system": system_prompt(stores.project.tree),
        "warnings": warnings_tree(composed.warnings if composed else ()),
    }
    return {**tree, **_task_tree(composed, budget)} if composed else tree


def _task_tree(composed: Composed, budget: int) -> Tree:
    made = composed.prompt
    return {
        "task": composed.task,
        "prompt": made.text,
        "tokens": estimate_tokens(made.text),
        "budget": budget,
        "over": made.over,
        "sections": [section._asdict() for section in made.sections],
        "cuts": list(made.cuts),
    }
