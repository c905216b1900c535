"""`cub diff`: what an update would change, or what a change between commits does."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cub.cli import output
from cub.cli.options import Options

if TYPE_CHECKING:
    from cub.actions.review.review import Review

app = typer.Typer(add_completion=False)


class Format(StrEnum):
    """How a person reads it."""

    TEXT = "text"
    MARKDOWN = "markdown"


Range = Annotated[
    str | None,
    typer.Argument(
        metavar="RANGE",
        help="Commits as git names them: REV..REV, REV...REV (from their merge base), or REV "
        "alone, which is compared with HEAD.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Shape = Annotated[
    Format, typer.Option("--format", help="Lines for a terminal, or a comment for a pull request.")
]


@app.command()
def diff(
    context: typer.Context, revisions: Range = None, json: Json = False, shape: Shape = Format.TEXT
) -> None:
    """Show what an update would change, or review a change between commits.

    A review tells cub's part from yours, proves it, and marks what executes.
    It exits with 1 if a section was touched by hand.

    Example: cub diff main..my-branch
    """
    from cub.git import is_bare
    from cub.project.project import find_root

    options: Options = context.obj
    if revisions is None:
        _of_update(find_root(options.directory), shape, json=json)
        return
    here = Path(os.path.realpath(options.directory))
    root = here if is_bare(here) else find_root(options.directory)
    answer = _review(root, revisions)
    _show(answer, root, shape, json=json)
    if answer.touched:
        raise typer.Exit(1)


def _of_update(root: Path, shape: Format, *, json: bool) -> None:
    """The same plan as that of `cub update`."""
    from cub.cli import update
    from cub.cli.carry_out import Show, carry_out, only_planned
    from cub.cli.comment import plan_comment

    if shape is Format.TEXT or json:
        carry_out(root, update.make_plan, Show(json=json, diff=not json))
        return
    plan = only_planned(root, update.make_plan)
    output.warn(plan.warnings)
    output.lines(plan_comment(plan))


def _review(root: Path, revisions: str) -> Review:
    from cub.actions.review.review import review
    from cub.git import Objects, endpoints, is_bare, top_level

    top = None if is_bare(root) else top_level(root)
    prefix = root.relative_to(top).as_posix() if top else ""
    with Objects(top or root) as objects:
        return review(
            objects,
            endpoints(objects, revisions),
            root=root,
            prefix="" if prefix == "." else prefix,
        )


def _show(answer: Review, root: Path, shape: Format, *, json: bool) -> None:
    from cub.cli.comment import review_comment
    from cub.cli.review_lines import closing, text
    from cub.cli.shapes import review_tree

    if json:
        output.as_json(review_tree(answer, root))
        return
    output.lines(review_comment(answer) if shape is Format.MARKDOWN else text(answer))
    if shape is Format.TEXT:
        output.talk(closing(answer))
