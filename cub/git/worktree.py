"""What git says about a folder; everything here also answers where there is no git."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cub.files.regular import read_start
from cub.git.calling import ask_read_only

# An answer of git's takes milliseconds; a hung network drive must not hang cub.
_TIMEOUT = 10.0
_LEAD = 1 << 16  # bytes of a file that leads to a folder


def top_level(folder: Path) -> Path | None:
    """The top of the work tree around `folder`, or None outside git.

    Read off the `.git` entry (a folder, or a file in worktrees and submodules), so that it
    also holds where git is missing or refuses a repository of another owner.
    """
    for candidate in (folder, *folder.parents):
        entry = candidate / ".git"
        if _is_file(entry) or os.path.lexists(entry / "HEAD"):
            return candidate
    return None


def is_usable(folder: Path) -> bool:
    """Whether `folder` is in a work tree, and there is a git to work on it with."""
    return top_level(folder) is not None and shutil.which("git") is not None


def common_folder(top: Path) -> Path | None:
    """The folder of the repository that `top` is a work tree of, the same for all of them.

    Of linked ones `.git` is a file that leads to a folder of their own, and `commondir` in that
    one to the repository (gitrepository-layout(5)).
    """
    entry = top / ".git"
    try:
        if not entry.is_file():
            return Path(os.path.realpath(entry))
        own = top / _lead(top, ".git").removeprefix("gitdir: ")
        return Path(os.path.realpath(own / _lead(own, "commondir")))
    except (OSError, ValueError):
        return None


def _lead(folder: Path, name: str) -> str:
    """The path that a file of git's holds."""
    return read_start(os.path.realpath(folder), name, _LEAD).decode("utf-8").strip()


def is_bare(folder: Path) -> bool:
    """Whether `folder` is itself a repository, without a work tree around its objects."""
    inside = all((folder / name).is_dir() for name in ("objects", "refs"))
    return inside and folder.name != ".git" and _is_file(folder / "HEAD")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder on the way that may not be read
        return False


def ignored(folder: Path, path: str) -> bool:
    """Whether git, asked in `folder`, ignores `path`; False where git can't tell."""
    answer = ask_read_only(folder, "check-ignore", "--quiet", "--", path, timeout=_TIMEOUT)
    return answer is not None and answer.code == 0
