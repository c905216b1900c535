"""Describe a work tree: its top, its `.git` entry, HEAD, and what stands under its paths."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from cub.errors import CubError
from cub.files.read_files import read_prefix
from cub.git.process import (
    decode_output,
    join_nul,
    make_git_error,
    run_git,
    split_nul,
    try_git,
)

# Git answers in milliseconds; a hung network drive must not hang cub.
_IGNORE_TIMEOUT = 10.0
_MAX_LINK_BYTES = 1 << 16  # of a file that holds the path of a folder


def find_toplevel(folder: Path) -> Path | None:
    """Return the top of the work tree around `folder`, or None outside git.

    Only the `.git` entry counts (a folder, or a file in worktrees and submodules): this also works
    where git is missing, or refuses a repository of another owner.
    """
    for candidate in (folder, *folder.parents):
        entry = candidate / ".git"
        # isfile is False where the folder may not be read.
        if os.path.isfile(entry) or os.path.lexists(entry / "HEAD"):  # noqa: PTH113
            return candidate
    return None


def require_repository(folder: Path) -> Path:
    """Return the top folder of the checkout around `folder`. Raises CubError if there is none."""
    if toplevel := find_toplevel(folder):
        return toplevel
    raise CubError("this directory is not in a git repository", hint="run `git init` first")


def is_git_usable(folder: Path) -> bool:
    """Return whether `folder` is in a work tree, and git is installed."""
    return find_toplevel(folder) is not None and shutil.which("git") is not None


def find_common_dir(toplevel: Path) -> Path | None:
    """Return the repository's folder, which all its work trees share; None if it can't be read.

    In a linked work tree, the file `.git` holds the path of the tree's own folder, and `commondir`
    in that one the path of the repository (gitrepository-layout(5)).
    """
    entry = toplevel / ".git"
    try:
        if not entry.is_file():
            return Path(os.path.realpath(entry))
        own = toplevel / _read_link(toplevel, ".git").removeprefix("gitdir: ")
        return Path(os.path.realpath(own / _read_link(own, "commondir")))
    except (OSError, ValueError):
        return None


def _read_link(folder: Path, name: str) -> str:
    """Return the path that one of git's files holds."""
    return decode_output(read_prefix(os.path.realpath(folder), name, _MAX_LINK_BYTES)).strip()


def is_bare_repository(folder: Path) -> bool:
    """Return whether `folder` is itself a repository, without a work tree."""
    if folder.name == ".git" or not os.path.isfile(folder / "HEAD"):  # noqa: PTH113
        return False
    return all((folder / name).is_dir() for name in ("objects", "refs"))


def is_ignored(folder: Path, path: str) -> bool:
    """Return whether git ignores `path`, relative to `folder`; False where git can't tell."""
    top = find_toplevel(folder)
    try:
        name = (folder / path).relative_to(top).as_posix() if top else ""
        return bool(top and list_ignored_paths(top, [name], timeout=_IGNORE_TIMEOUT))
    except (CubError, ValueError):
        return False


def list_ignored_paths(
    toplevel: Path, paths: Iterable[str], timeout: float = 600.0
) -> frozenset[str]:
    """Return those of `paths` that git ignores. Tracked files are not ignored; nor is what lies
    beyond a symbolic link. Raises CubError if git fails.
    """
    asked = [path for path in paths if not is_beyond_link(toplevel, path)]
    if not asked:
        return frozenset()
    words = ("check-ignore", "-z", "--stdin")
    result = try_git(toplevel, *words, stdin=join_nul(asked), timeout=timeout)
    if result.exit_code > 1:
        raise make_git_error("check-ignore", result)
    return frozenset(split_nul(result.stdout))


class HeadState(NamedTuple):
    """Hold HEAD's commit ("" if unborn) and the branch's full name ("" if detached)."""

    commit: str
    branch: str


def read_head(toplevel: Path) -> HeadState:
    """Ask git where HEAD is."""
    commit = try_git(toplevel, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    branch = try_git(toplevel, "symbolic-ref", "--quiet", "HEAD")
    return HeadState(decode_output(commit.stdout).strip(), decode_output(branch.stdout).strip())


def list_commits(toplevel: Path, *words: str) -> list[str]:
    """Return the short id and the subject of each commit that `git log` lists for these words.

    Raises CubError if git fails.
    """
    log = run_git(toplevel, "log", "--no-show-signature", "--format=%h %s", *words, "--")
    return log.decode("utf-8", "replace").split("\n")[:-1]


def find_git_dir(toplevel: Path) -> Path:
    """Return the folder with the index and HEAD of this very work tree."""
    entry = toplevel / ".git"
    try:
        return toplevel / _read_link(toplevel, ".git").removeprefix("gitdir: ")
    except OSError:  # a folder, or nothing that leads anywhere
        return entry


def get_file_type(toplevel: Path, path: str) -> int:
    """Return the type bits of what stands under a path, itself not followed; 0 for nothing, and
    for a path that leads through a symbolic link, out of this work tree.
    """
    if is_beyond_link(toplevel, path):
        return 0
    try:
        return stat.S_IFMT((toplevel / path).lstat().st_mode)
    except (OSError, ValueError):
        return 0


def is_beyond_link(toplevel: Path, path: str) -> bool:
    """Return whether a folder on the way to `path` is a symbolic link."""
    names = path.split("/")
    return any((toplevel / "/".join(names[:n])).is_symlink() for n in range(1, len(names)))
