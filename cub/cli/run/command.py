"""`cub run` and `cub run status`: options in, the events of a run out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.task.opened import opened as stores_here
from cub.errors import CubError

if TYPE_CHECKING:
    from cub.actions.run.settings import Asked
    from cub.actions.tasks.stores import Stores

app = typer.Typer(add_completion=False, invoke_without_command=True, no_args_is_help=False)

Once = Annotated[bool, typer.Option("--once", help="Stop after one attempt.")]
Task = Annotated[str, typer.Option("--task", metavar="ID", help="Work on this task alone.")]
Epic = Annotated[str, typer.Option("--epic", metavar="ID", help="Only tasks below this one.")]
Label = Annotated[str, typer.Option("--label", metavar="L", help="Only tasks with this label.")]
Client = Annotated[
    str,
    typer.Option(
        "--harness",
        metavar="NAME",
        help="The client: auto, scripted[:FILE], or one of `harnesses` in the configuration. "
        "After a comma, the next one for when one can't go on.",
    ),
]
Model = Annotated[str, typer.Option("--model", metavar="M", help="The model that it is to use.")]
Iterations = Annotated[
    int | None, typer.Option("--max-iterations", min=1, metavar="N", help="At most N attempts.")
]
Dollars = Annotated[
    float | None, typer.Option("--budget-usd", min=0, metavar="X", help="Stop at X dollars.")
]
Tokens = Annotated[
    int | None, typer.Option("--budget-tokens", min=1, metavar="N", help="Stop at N tokens.")
]
Timeout = Annotated[
    str,
    typer.Option("--timeout", metavar="TIME", help="How long an attempt, or a check, may take."),
]
Idle = Annotated[
    str, typer.Option("--idle-timeout", metavar="TIME", help="How long a client may be silent.")
]
Checks = Annotated[
    list[str] | None,
    typer.Option(
        "--check", metavar="CMD", help="A command that decides, in place of run.checks; repeatable."
    ),
]
NoChecks = Annotated[bool, typer.Option("--no-checks", help="Let no check decide.")]
Branch = Annotated[
    str,
    typer.Option("--branch", metavar="TEMPLATE", help="Work on this branch, such as cub/{run}."),
]
Worktree = Annotated[
    bool, typer.Option("--worktree", help="Work in a work tree of the run's own, beside yours.")
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Agree, this once, to the commands of the project.")
]
Profile = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="A profile of the configuration.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done; do nothing.")]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on as the last run was asked to that was killed.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the events as lines of JSON.")]


@app.callback()
def run(
    context: typer.Context,
    once: Once = False,
    task: Task = "",
    epic: Epic = "",
    label: Label = "",
    harness: Client = "",
    model: Model = "",
    max_iterations: Iterations = None,
    budget_usd: Dollars = None,
    budget_tokens: Tokens = None,
    timeout: Timeout = "",
    idle_timeout: Idle = "",
    check: Checks = None,
    no_checks: NoChecks = False,
    branch: Branch = "",
    worktree: Worktree = False,
    trust: Trust = False,
    profile: Profile = None,
    dry_run: DryRun = False,
    resume: Resume = False,
    json: Json = False,
) -> None:
    """Work tasks off: the next ready one, a client, the project's checks, a commit, the next.

    A task is done when its files hold up: the client succeeded, no check fails that passed
    before, and something changed or nothing had to. Else the changes are kept as a patch, the
    files are put back, and the next attempt is told why.

    Ctrl-C ends the client and the bookkeeping; a second one ends at once.

    Example: cub run --once --harness scripted
    """
    if context.invoked_subcommand:
        return
    from cub.actions.run.settings import Asked, require_sane

    asked = Asked(
        once, task, epic, label, harness, model, max_iterations, budget_usd, budget_tokens,
        timeout, idle_timeout, tuple(check or ()), no_checks, branch, worktree, trust,
    )  # fmt: skip
    require_sane(asked)
    stores = stores_here(context, "cub run")
    if resume:
        asked = _resumed(stores, asked)
    if dry_run:
        from cub.cli.run.preview import preview

        preview(stores, asked, profile, json=json)
        return
    from cub.actions.tasks.inside import inside
    from cub.cli.run.play import play

    if inside(stores.root):
        raise CubError("an attempt can't start a run of its own project")
    raise typer.Exit(play(stores, asked, profile, json=json))


@app.command()
def status(context: typer.Context, json: Json = False) -> None:
    """Show how the runs stand that are at work, or else the last one.

    Example: cub run status
    """
    from cub.cli.run.standing import show

    show(stores_here(context, "cub run").root, json=json)


def _resumed(stores: Stores, asked: Asked) -> Asked:
    """What the killed run was asked for, but for what is asked now."""
    from cub.actions.run.opening import last_asked
    from cub.actions.run.settings import over

    last = last_asked(stores.root)
    if last is None:
        output.talk("No run was killed: this is a new one.")
        return asked
    return over(asked, last)
