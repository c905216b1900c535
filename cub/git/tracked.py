"""The files that git tracks, by its index."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cub.git.calling import start_read_only
from cub.git.worktree import top_level

# Seconds; a listing of a million files takes less, a hung network drive takes for ever.
_TIMEOUT = 60.0
_STEP = 0.1


def _nothing() -> None:
    pass


def tracked(folder: Path, waiting: Callable[[], None] = _nothing) -> tuple[str, ...] | None:
    """The paths below `folder`, relative to it, in git's order; None where git can't tell.

    While the index is empty, the untracked files that git does not ignore. `waiting` is called
    again and again until git answers.
    """
    if top_level(folder) is None:
        return None
    found = _listed(folder, waiting)
    others = ("--others", "--exclude-standard")
    return _listed(folder, waiting, *others) if found == () else found


def tracked_among(folder: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Those of the paths that git tracks, relative to `folder`; none where git can't tell."""
    if not paths or top_level(folder) is None:
        return ()
    return _listed(folder, lambda: None, "--", *(f":(literal){path}" for path in paths)) or ()


def _listed(folder: Path, waiting: Callable[[], None], *options: str) -> tuple[str, ...] | None:
    try:
        process = start_read_only(folder, "ls-files", "-z", *options, environ=_environment())
    except OSError:
        return None
    with process:
        answer = _answer(process, waiting)
    if answer is None or process.returncode:
        return None
    paths = answer.decode("utf-8", "surrogateescape").split("\0")
    # An unmerged path is listed once for each side.
    return tuple(dict.fromkeys(path for path in paths if path))


def _answer(process: subprocess.Popen[bytes], waiting: Callable[[], None]) -> bytes | None:
    """What git prints; None if it takes too long."""
    deadline = time.monotonic() + _TIMEOUT
    try:
        while time.monotonic() < deadline:
            try:
                return process.communicate(timeout=_STEP)[0]
            except subprocess.TimeoutExpired:
                waiting()
    except BaseException:
        process.kill()
        raise
    process.kill()
    return None


def _environment() -> dict[str, str]:
    """Hooks of a linked work tree get a GIT_DIR, with which any folder counts as the top."""
    apart = "GIT_DIR" in os.environ and "GIT_WORK_TREE" not in os.environ
    return {name: value for name, value in os.environ.items() if not (apart and name == "GIT_DIR")}
