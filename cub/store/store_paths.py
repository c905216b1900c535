"""Find the stores of a project; a worktree that cub made uses those of its main checkout."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cub import git
from cub.errors import CubError

TASKS_FILE, REJECTED_FILE = ".cub/tasks.jsonl", ".cub/tasks.jsonl.rejected"
LEDGER_FILE, ARCHIVE_FILE = ".cub/ledger.jsonl", ".cub/ledger-archive.jsonl"
STORE_FILES = (TASKS_FILE, REJECTED_FILE, LEDGER_FILE, ARCHIVE_FILE)
ROOT_VARIABLE = "CUB_ROOT"


def find_store_root(root: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory whose `.cub/` holds the stores of the project at `root`.

    `CUB_ROOT` may name it. A worktree below `.cub/worktrees/` uses the project that it belongs to,
    if both have one repository. Any other project uses `root` itself.
    """
    if named := environment.get(ROOT_VARIABLE):
        folder = Path(os.path.realpath(named))
        if not folder.is_dir():
            raise CubError(
                f"{ROOT_VARIABLE} is not a directory", where=named, hint=f"unset {ROOT_VARIABLE}"
            )
        return folder
    top = git.find_toplevel(root)
    common = git.find_common_dir(top) if top else None
    # The outermost one: a worktree that was made in another one belongs where that one does.
    for folder in reversed(top.parents) if top and common else ():
        if (folder.parent.name, folder.name) == (".cub", "worktrees"):
            project = folder.parent.parent
            above = git.find_toplevel(project)
            if above and git.find_common_dir(above) == common:
                return project
    return root
