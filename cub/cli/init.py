"""`cub init`: put managed sections and cub's own files into a project."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.carry_out import Show, afterwards, carry_out
from cub.cli.options import Diff, DryRun, Edited, EditedChoice, Json, Options, Prune, inside
from cub.cli.progress import Bar

if TYPE_CHECKING:
    from cub.edit.plan import Plan
    from cub.files.private import Keep
    from cub.project.project import Project
    from cub.repomap.progress import Progress

app = typer.Typer(add_completion=False)

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="PATH", help="Nested instruction files or folders to manage too."),
]
Targets = Annotated[
    str | None,
    typer.Option("--targets", metavar="FILE,…", help="The instruction files to manage."),
]
Clients = Annotated[
    list[str] | None,
    typer.Option(
        "--client",
        metavar="NAME",
        help="Also let this client read the instructions, through its settings file: "
        "gemini, aider, opencode. Repeatable.",
    ),
]


@app.command()
def init(
    context: typer.Context,
    paths: Paths = None,
    targets: Targets = None,
    clients: Clients = None,
    edited: Edited = EditedChoice.REFUSE,
    prune: Prune = False,
    dry_run: DryRun = False,
    diff: Diff = False,
    json: Json = False,
) -> None:
    """Add cub to this project: managed sections, constitution, run loop.

    Your own text in AGENTS.md and CLAUDE.md keeps every byte. Run it again at any time.

    Example: cub init packages/api --diff
    """
    from cub.project.project import find_root

    options: Options = context.obj
    root = find_root(options.directory)
    nested = tuple(inside(root, options.directory, path) for path in paths or ())
    chosen = _split(targets) if targets is not None else None
    show = Show(dry_run, diff, json)
    named = _known(clients or ())
    with Bar() as bar, afterwards() as keep:
        plan = carry_out(
            root, lambda p: make_plan(p, nested, chosen, edited, named, prune, bar, keep), show
        )
    if not show.only:
        close(plan, root)


def make_plan(
    project: Project,
    paths: tuple[str, ...] = (),
    targets: tuple[str, ...] | None = None,
    edited: EditedChoice = EditedChoice.REFUSE,
    clients: tuple[str, ...] = (),
    prune: bool = False,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Plan:
    """The plan of `cub init`."""
    from cub.actions.sync import plan_init
    from cub.files.private import at_once
    from cub.repomap.progress import no_progress

    return plan_init(
        project,
        paths=paths,
        targets=targets,
        clients=clients,
        edited=edited.value,
        prune=prune,
        progress=progress or no_progress,
        keep=keep or at_once,
    )


def close(plan: Plan, root: Path) -> None:
    """The last line: what to do next; git is spoken of only where it is at hand."""
    from cub.git import is_usable

    if plan.empty:
        output.talk("Nothing to do: everything is in place.")
    elif is_usable(root):
        output.talk("Done. Review it with git, then commit; `cub update` refreshes what is cub's.")
    else:
        output.talk("Done. `cub update` refreshes what is cub's.")


def _known(clients: Iterable[str]) -> tuple[str, ...]:
    from cub.project.client_settings import client_named

    return tuple(client_named(name).name for name in clients)


def _split(targets: str) -> tuple[str, ...]:
    from cub.errors import UsageError
    from cub.project.targets import normal, target_problem

    given = (name.strip() for name in targets.split(","))
    names = tuple(dict.fromkeys(normal(name) for name in given if name))
    if not names:
        raise UsageError("--targets names no file")
    for name in names:
        if problem := target_problem(name):
            raise UsageError(f"--targets: {name} {problem}")
    return names
