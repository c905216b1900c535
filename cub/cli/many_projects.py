"""Run a command on several projects, and collect the results in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, TypeVar

import typer

from cub.cli.json_output import JsonObject, error_to_json
from cub.errors import CombinedError, CubError
from cub.files.read_files import make_os_error
from cub.project.project import Project, find_project_root

Value = TypeVar("Value")
Dirs = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DIR",
        help="Projects to list, by default the current one.",
    ),
]


@dataclass(frozen=True, slots=True)
class ProjectResult(Generic[Value]):
    """Hold one project's result, a value or an error, under the name that the user typed."""

    name: str
    root: Path
    value: Value | CubError


def for_each_project(
    base: Path, dirs: Sequence[Path], work: Callable[[Project], Value]
) -> list[ProjectResult[Value]]:
    """Do `work` for the project around each of `dirs`; no error of one keeps another from it."""
    return [_run_in_project(base, folder, work) for folder in dict.fromkeys(dirs)]


def projects_to_json(
    results: Iterable[ProjectResult[Value]], make_tree: Callable[[Value, Path], JsonObject]
) -> JsonObject:
    """Return an object for each project: its own tree, or the tree of its error."""
    projects = []
    for result in results:
        if isinstance(result.value, CubError):
            tree = error_to_json(result.value, result.value.exit_code)
            projects.append({**tree, "root": result.root.as_posix()})
        else:
            projects.append(make_tree(result.value, result.root))
    return {"v": 1, "projects": projects}


def format_error_cell(error: CubError) -> str:
    """Return an error as one cell of a table."""
    more = len(error.errors) - 1 if isinstance(error, CombinedError) else 0
    return f"error: {error}" + (f" (and {more} more)" if more else "")


def _run_in_project(
    base: Path, folder: Path, work: Callable[[Project], Value]
) -> ProjectResult[Value]:
    name, root = folder.as_posix(), (base / folder).absolute()
    try:
        root = find_project_root(base / folder)
        return ProjectResult(name, root, work(Project.load(root)))
    except CubError as error:
        return ProjectResult(name, root, error)
    except OSError as error:  # a folder on the way that may not be read
        return ProjectResult(name, root, make_os_error(error, name, "cannot be read"))
