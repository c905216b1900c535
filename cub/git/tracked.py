"""The files that git tracks, by its index."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from cub.debug_log import log_debug
from cub.git.worktree import top_level

# Seconds; a listing of a million files takes less, a hung network drive takes for ever.
_TIMEOUT = 60.0


def tracked(folder: Path) -> tuple[str, ...] | None:
    """The paths below `folder`, relative to it, in git's order; None where git can't tell.

    While the index is empty, the untracked files that git does not ignore.
    """
    if top_level(folder) is None:
        return None
    found = _listed(folder)
    return _listed(folder, "--others", "--exclude-standard") if found == () else found


def tracked_among(folder: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Those of the paths that git tracks, relative to `folder`; none where git can't tell."""
    if not paths or top_level(folder) is None:
        return ()
    return _listed(folder, "--", *(f":(literal){path}" for path in paths)) or ()


def _listed(folder: Path, *options: str) -> tuple[str, ...] | None:
    log_debug(" ".join(["git ls-files -z", *options]))
    try:
        answer = subprocess.run(  # noqa: S603
            ["git", "ls-files", "-z", *options],  # noqa: S607 - the user's own git
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode:
        return None
    paths = answer.stdout.decode("utf-8", "surrogateescape").split("\0")
    # An unmerged path is listed once for each side.
    return tuple(dict.fromkeys(path for path in paths if path))


def _environment() -> dict[str, str]:
    """Hooks of a linked work tree get a GIT_DIR, with which any folder counts as the top."""
    apart = "GIT_DIR" in os.environ and "GIT_WORK_TREE" not in os.environ
    return {name: value for name, value in os.environ.items() if not (apart and name == "GIT_DIR")}
