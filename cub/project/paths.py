"""A PATH of the command line as a target: the file itself, or the one in a folder."""

from __future__ import annotations

import posixpath

from cub import git
from cub.errors import UsageError
from cub.files import Tree
from cub.project.project import Project
from cub.project.targets import normal, target_of, target_problem


def target_at(project: Project, path: str) -> str:
    """The target that `path`, relative to the root, names; UsageError where there can be none."""
    tree, path = project.tree, _as_listed(project.tree, path)
    if tree.has_folder(path):
        names = tree.names(path)
        only_claude = "CLAUDE.md" in names and "AGENTS.md" not in names
        path = posixpath.join(path, "CLAUDE.md" if only_claude else "AGENTS.md")
    elif not tree.has_folder(posixpath.dirname(path)) or target_of(path) is None:
        raise UsageError("no such folder or instruction file", where=path)
    if problem := target_problem(path):
        raise UsageError(f"this {problem}", where=path)
    _require_same_repository(project, path)
    return path


def _as_listed(tree: Tree, path: str) -> str:
    """`path` with its folders spelled as they are listed: the spelling that other disks have.

    On a disk that ignores case, any spelling opens a folder.
    """
    done = ""
    for name in normal(path).split("/") if normal(path) != "." else ():
        step = posixpath.join(done, name)
        names = tree.names(done)
        if name not in names and tree.has_folder(step):
            same = (other for other in sorted(names) if other.casefold() == name.casefold())
            step = posixpath.join(done, next(same, name))
        done = step
    return done


def _require_same_repository(project: Project, path: str) -> None:
    for folder in (project.root / path).parents:
        if folder == project.root:
            return
        if git.top_level(folder) == folder:
            raise UsageError(
                "this belongs to another git repository",
                where=path,
                hint=f"run cub there: cub -C {folder.relative_to(project.root).as_posix()} init",
            )
