"""`cub map`: draw the project map, show it, check it, or explain it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.carry_out import Show, afterwards, carry_out
from cub.cli.options import Options
from cub.cli.progress import Bar
from cub.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cub.actions.project_map import Made, Wanted
    from cub.edit.plan import Plan
    from cub.files.private import Keep
    from cub.project.project import Project
    from cub.repomap.notes import Note

app = typer.Typer(add_completion=False)

Where = Annotated[
    Path | None,
    typer.Argument(
        metavar="PATH",
        help="The project, or a folder in it: then the map of that folder is printed.",
        show_default=False,
    ),
]
Tokens = Annotated[
    int | None,
    typer.Option(
        "--tokens", metavar="N", help="How long the map may be, in place of map.tokens (1500)."
    ),
]
Stdout = Annotated[bool, typer.Option("--stdout", help="Print the map; write nothing.")]
Check = Annotated[
    bool, typer.Option("--check", help="Exit 1 if the map is missing or stale; write nothing.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print all that the map chooses from as JSON; write nothing.")
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude", metavar="GLOB", help="Leave these paths out too, as in a .gitignore."
    ),
]
NoSymbols = Annotated[
    bool, typer.Option("--no-symbols", help="Parse nothing: folders and commands alone.")
]
Explain = Annotated[
    str | None,
    typer.Option("--explain", metavar="NAME", help="Say why a symbol ranks where it does."),
]


@app.command(name="map")
def draw(
    context: typer.Context,
    path: Where = None,
    tokens: Tokens = None,
    stdout: Stdout = False,
    check: Check = False,
    json: Json = False,
    exclude: Exclude = None,
    no_symbols: NoSymbols = False,
    explain: Explain = None,
) -> None:
    """Draw the project map: what it is, how to build it, where things are, what matters most.

    It reads files and runs nothing of the project's.

    Example: cub map --stdout
    """
    from cub.actions.project_map import Wanted
    from cub.project.project import find_root

    options: Options = context.obj
    verbose = options.verbose
    here = Path(os.path.realpath(options.directory / (path or "")))
    root = find_root(options.directory / (path or ""))
    part = here.relative_to(root).as_posix() if path and here != root else ""
    what = [stdout, check, json, explain is not None]
    if sum(what) > 1:
        raise UsageError("--stdout, --check, --json and --explain exclude each other")
    if check and part:
        raise UsageError("there is no map of a part to check", hint="leave PATH out")
    with Bar() as bar:
        asked = Wanted(tokens, tuple(exclude or ()), not no_symbols, part, bar)
        if json or explain is not None:
            _tell(root, asked, explain, verbose=verbose)
        elif stdout or part:
            _print(root, asked, verbose=verbose)
        else:
            _write(root, asked, check=check, verbose=verbose)


def _write(root: Path, asked: Wanted, *, check: bool, verbose: bool) -> None:
    """Put the map in its place, or only tell whether it would change."""
    from cub.actions.project_map import make_map, plan_map, unlasting

    drawn: list[Made] = []

    def make_plan(project: Project, keep: Keep) -> Plan:
        drawn.append(make_map(project, asked._replace(keep=keep)))
        return plan_map(project, drawn[-1], unlasting(project, asked))

    with afterwards() as keep:
        plan = carry_out(root, lambda p: make_plan(p, keep), Show(check=check))
    _noted(drawn[-1], verbose=verbose)
    if plan.empty and drawn[-1].data:
        output.talk("The map is up to date.")
    elif check and not plan.empty:
        output.talk("The map would change; run `cub map`.")
        raise typer.Exit(1)


def _print(root: Path, asked: Wanted, *, verbose: bool) -> None:
    from cub.actions.project_map import make_map
    from cub.project.project import Project

    made = make_map(Project.load(root), asked)
    output.text(made.data)
    _noted(made, verbose=verbose)


def _tell(root: Path, asked: Wanted, name: str | None, *, verbose: bool) -> None:
    """Everything as JSON, or all about one name."""
    from cub.actions.project_map import everything
    from cub.cli.map_shapes import explanation, map_tree
    from cub.project.project import Project

    project = Project.load(root)
    found = everything(project, asked)
    if name is None:
        output.as_json(map_tree(found, project, asked))
    else:
        output.lines(explanation(found, name))
    _told(found.notes, verbose=verbose)


def _noted(made: Made, *, verbose: bool) -> None:
    """What is not in the map."""
    if not made.data:
        output.talk("There is nothing to map here.")
    _told(made.notes, verbose=verbose)


def _told(notes: Sequence[Note], *, verbose: bool) -> None:
    """What is so of the whole, and what could not be read: each file, or how many there are."""
    of_files = [note for note in notes if note.path]
    for note in notes:
        if verbose or not note.path:
            output.talk(f"{note.path}: {note.message}" if note.path else note.message)
    if of_files and not verbose:
        count = f"{len(of_files)} file" + ("s" if len(of_files) > 1 else "")
        output.talk(f"{count} could not be read or parsed; -v names them.")
