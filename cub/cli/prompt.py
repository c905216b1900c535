"""`cub prompt`: what a run would send for a task, with an end for who works outside of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.task.opened import opened
from cub.errors import UsageError

if TYPE_CHECKING:
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


@app.command()
def prompt(
    context: typer.Context,
    key: Key = None,
    system: System = False,
    explain: Explain = False,
    tokens: Tokens = None,
) -> None:
    """Print the prompt of a task: the task, its epic, why the last attempt failed, how it ends.

    It is what a run sends, but for the end: outside of a run, the agent itself closes the task
    and commits.

    Example: cub prompt k3f9a --explain
    """
    from cub.actions.task_prompt import system_prompt, task_prompt
    from cub.prompt.task_prompt import TOKENS

    stores = opened(context)
    if system:
        text = system_prompt(stores.project.tree)
        output.text(text.encode("utf-8", "surrogateescape"))
        return
    if key is None:
        raise UsageError("which task?", hint="`cub task ready` lists what can be begun")
    composed = task_prompt(stores, key, tokens or TOKENS)
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
