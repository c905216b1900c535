"""Show what an update would change, or what a change between commits does: `cub diff`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cub.cli import output
from cub.cli.options import Json, find_root, get_directory
from cub.cli.parameters import make_option
from cub.git.commit_tree import resolve_range
from cub.git.objects import ObjectReader
from cub.git.worktree import find_toplevel, is_bare_repository

if TYPE_CHECKING:
    from cub.actions.review.review import Review

app = typer.Typer(add_completion=False)


ReviewFormat = Literal["text", "markdown"]
Range = Annotated[
    str | None,
    typer.Argument(
        metavar="RANGE",
        help="Commits to compare: REV..REV, REV...REV (from their merge base), or REV (with HEAD).",
    ),
]
Shape = Annotated[
    ReviewFormat,
    make_option("--format", "Print plain text, or Markdown for a pull request comment."),
]


@app.command()
def diff(
    context: typer.Context,
    revisions: Range = None,
    json: Json = False,
    shape: Shape = "text",
) -> None:
    """Preview an update, or review a change between commits.

    A review separates cub's text from yours, verifies it, and lists changed commands. It exits 1
    if a section was edited manually.

    Example: cub diff main..my-branch
    """
    if revisions is None:
        _show_update(find_root(context), shape, json=json)
        return
    folder = Path(os.path.realpath(get_directory(context)))
    root = folder if is_bare_repository(folder) else find_root(context)
    review = _make_review(root, revisions)
    _print_review(review, root, shape, json=json)
    if review.has_hand_edits:
        raise typer.Exit(1)


def _show_update(root: Path, shape: ReviewFormat, *, json: bool) -> None:
    from cub.actions.init_update import plan_update
    from cub.cli.plan_command import PlanDisplay, make_plan_only, run_plan_command
    from cub.cli.review_format import format_plan_comment

    if shape == "text" or json:
        run_plan_command(root, plan_update, PlanDisplay(json=json, diff=not json))
        return
    plan = make_plan_only(root, plan_update)
    output.print_warnings(plan.warnings)
    output.print_lines(format_plan_comment(plan))


def _make_review(root: Path, revisions: str) -> Review:
    from cub.actions.review.review import review_range

    top = None if is_bare_repository(root) else find_toplevel(root)
    prefix = root.relative_to(top).as_posix() if top else ""
    with ObjectReader(top or root) as objects:
        return review_range(
            objects,
            resolve_range(objects, revisions),
            root=root,
            prefix="" if prefix == "." else prefix,
        )


def _print_review(review: Review, root: Path, shape: ReviewFormat, *, json: bool) -> None:
    from cub.cli.json_output import review_to_json
    from cub.cli.review_format import format_review, format_review_comment, summarize_review

    if json:
        output.print_json(review_to_json(review, root))
        return
    output.print_lines(
        format_review_comment(review) if shape == "markdown" else format_review(review)
    )
    if shape == "text":
        output.print_message(summarize_review(review))
