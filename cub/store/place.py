"""Where the stores of a project are: with the main checkout, for work trees that cub made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cub import git
from cub.errors import CubError

TASKS, REJECTED = ".cub/tasks.jsonl", ".cub/tasks.jsonl.rejected"
LEDGER, ARCHIVE = ".cub/ledger.jsonl", ".cub/ledger-archive.jsonl"
VARIABLE = "CUB_ROOT"


def store_root(root: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder whose `.cub/` holds the stores of the project at `root`.

    What `CUB_ROOT` names; for a work tree below `.cub/worktrees/` the project that it belongs
    to, as far as both have one repository; else `root` itself.
    """
    if named := environment.get(VARIABLE):
        folder = Path(os.path.realpath(named))
        if not folder.is_dir():
            raise CubError(f"{VARIABLE} names no folder", where=named, hint=f"unset {VARIABLE}")
        return folder
    top = git.top_level(root)
    common = git.common_folder(top) if top else None
    # The outermost one: a work tree that was made in another one belongs where that one does.
    for folder in reversed(top.parents) if top and common else ():
        if (folder.parent.name, folder.name) == (".cub", "worktrees"):
            project = folder.parent.parent
            above = git.top_level(project)
            if above and git.common_folder(above) == common:
                return project
    return root
