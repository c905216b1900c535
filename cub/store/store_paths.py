"""Find the stores of a project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cub.errors import CubError

TASKS_FILE, REJECTED_FILE = ".cub/tasks.jsonl", ".cub/tasks.jsonl.rejected"
LEDGER_FILE, ARCHIVE_FILE = ".cub/ledger.jsonl", ".cub/ledger-archive.jsonl"
STORE_FILES = (TASKS_FILE, REJECTED_FILE, LEDGER_FILE, ARCHIVE_FILE)
ROOT_VARIABLE = "CUB_ROOT"


def find_store_root(root: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the directory whose `.cub/` holds the stores of the project at `root`.

    `CUB_ROOT` may name it. Raises CubError if that is no directory.
    """
    if named := environment.get(ROOT_VARIABLE):
        folder = Path(os.path.realpath(named))
        if not folder.is_dir():
            raise CubError(
                f"{ROOT_VARIABLE} is not a directory", where=named, hint=f"unset {ROOT_VARIABLE}"
            )
        return folder
    return root
