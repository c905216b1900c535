"""The options that several commands share, each spelled and explained once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


@dataclass(frozen=True, slots=True)
class Options:
    """What the global options say, which stand before the command or behind it."""

    directory: Path
    quiet: bool = False
    verbose: bool = False


class EditedChoice(StrEnum):
    """What becomes of a section that a person edited."""

    REFUSE = "refuse"
    MOVE = "move"
    REPLACE = "replace"


DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")]
Diff = Annotated[bool, typer.Option("--diff", help="Print the changes as a diff; write nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print the plan as JSON; write nothing.")]
Edited = Annotated[
    EditedChoice,
    typer.Option(
        "--edited",
        help="A section that was edited by hand: stop, move the edits below it, "
        "or replace it and keep the old text in .cub/backups/.",
    ),
]
Prune = Annotated[
    bool,
    typer.Option(
        "--prune",
        help="Also delete what the layout before 0.1 left: progress.txt, progress.md, fix_plan.md "
        "and .cub/guardrails.md.",
    ),
]


def inside(root: Path, directory: Path, path: str) -> str:
    """A PATH of the command line, seen from `directory`, as one relative to the project's root."""
    from cub.errors import UsageError

    full = Path(os.path.normpath(Path(os.path.realpath(directory)) / path))
    if not full.is_relative_to(root):
        raise UsageError(
            "this is outside the project", where=path, hint=f"the project is {root.as_posix()}"
        )
    return full.relative_to(root).as_posix()
