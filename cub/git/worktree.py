"""What git says about a folder; everything here also answers where there is no git.

A checkout's places: its top, what in it is left alone, and what its `.git` entry leads to.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cub.files.read_files import read_prefix
from cub.git.process import decode_output, query_git, split_nul, try_git

# An answer of git's takes milliseconds; a hung network drive must not hang cub.
_TIMEOUT = 10.0
_LEAD = 1 << 16  # bytes of a file that leads to a folder


def find_toplevel(folder: Path) -> Path | None:
    """The top of the work tree around `folder`, or None outside git.

    Read off the `.git` entry (a folder, or a file in worktrees and submodules), so that it
    also holds where git is missing or refuses a repository of another owner.
    """
    for candidate in (folder, *folder.parents):
        entry = candidate / ".git"
        if _is_file(entry) or os.path.lexists(entry / "HEAD"):
            return candidate
    return None


def is_git_usable(folder: Path) -> bool:
    """Whether `folder` is in a work tree, and there is a git to work on it with."""
    return find_toplevel(folder) is not None and shutil.which("git") is not None


def find_common_dir(toplevel: Path) -> Path | None:
    """The folder of the repository that `toplevel` is a work tree of, the same for all of them.

    Of linked ones `.git` is a file that leads to a folder of their own, and `commondir` in that
    one to the repository (gitrepository-layout(5)).
    """
    entry = toplevel / ".git"
    try:
        if not entry.is_file():
            return Path(os.path.realpath(entry))
        own = toplevel / _lead(toplevel, ".git").removeprefix("gitdir: ")
        return Path(os.path.realpath(own / _lead(own, "commondir")))
    except (OSError, ValueError):
        return None


def _lead(folder: Path, name: str) -> str:
    """The path that a file of git's holds."""
    return read_prefix(os.path.realpath(folder), name, _LEAD).decode("utf-8").strip()


def is_bare_repository(folder: Path) -> bool:
    """Whether `folder` is itself a repository, without a work tree around its objects."""
    inside = all((folder / name).is_dir() for name in ("objects", "refs"))
    return inside and folder.name != ".git" and _is_file(folder / "HEAD")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder on the way that may not be read
        return False


def is_ignored(folder: Path, path: str) -> bool:
    """Whether git, asked in `folder`, ignores `path`; False where git can't tell."""
    answer = query_git(folder, "check-ignore", "--quiet", "--", path, timeout=_TIMEOUT)
    return answer is not None and answer.exit_code == 0


class HeadState(NamedTuple):
    """HEAD: the commit ("" if unborn) and the branch's full name ("" if detached)."""

    commit: str
    branch: str


@dataclass(frozen=True, slots=True)
class Worktree:
    """The top of a work tree, the file for cub's own index of it, and what stays apart.

    `excluded_paths` are paths relative to `toplevel`, folders with a "/" at their end. Files of
    more than `max_file_size` bytes are never read.
    """

    toplevel: Path
    index_file: Path
    excluded_paths: tuple[str, ...] = ()
    max_file_size: int = 1 << 30

    def is_excluded(self, path: str) -> bool:
        """Whether a path is one of those that are never looked at or changed."""
        return any(
            path == name.rstrip("/") or path.startswith(name.rstrip("/") + "/")
            for name in self.excluded_paths
        )

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """All that is not apart, in git's words."""
        names = (name.rstrip("/") for name in self.excluded_paths)
        return ("--", ".", *(f":(top,exclude,literal){name}" for name in names))

    def submodule(self, path: str) -> Worktree:
        """The place of a submodule."""
        mark = sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        below = tuple(
            name.removeprefix(f"{path}/")
            for name in self.excluded_paths
            if name.startswith(f"{path}/")
        )
        index = self.index_file.with_name(f"{self.index_file.name}.{mark}")
        return Worktree(self.toplevel / path, index, below, self.max_file_size)


def read_head(toplevel: Path) -> HeadState:
    """Where HEAD is now."""
    commit = try_git(toplevel, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    branch = try_git(toplevel, "symbolic-ref", "--quiet", "HEAD")
    return HeadState(decode_output(commit.stdout).strip(), decode_output(branch.stdout).strip())


def find_git_dir(toplevel: Path) -> Path:
    """The repository's folder of this very work tree, where its index and HEAD lie."""
    entry = toplevel / ".git"
    try:
        lead = read_prefix(os.path.realpath(toplevel), ".git", _LEAD)
    except OSError:  # a folder, or nothing that leads anywhere
        return entry
    return toplevel / decode_output(lead).strip().removeprefix("gitdir: ")


def list_submodule_paths(toplevel: Path) -> list[str]:
    """Where `.gitmodules` says that submodules are."""
    if not (toplevel / ".gitmodules").is_file():
        return []
    words = ("config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    found = [line.partition("\n")[2] for line in split_nul(try_git(toplevel, *words).stdout)]
    return [path for path in found if not ({"", ".", ".."} & set(path.split("/")))]


def get_file_type(toplevel: Path, path: str) -> int:
    """The type bits of what stands under a path, itself not followed; 0 for nothing.

    A path that leads through a symbolic link has nothing of this work tree.
    """
    if is_beyond_link(toplevel, path):
        return 0
    try:
        return stat.S_IFMT((toplevel / path).lstat().st_mode)
    except (OSError, ValueError):
        return 0


def is_oversized(worktree: Worktree, path: str) -> bool:
    """Whether a path is a file that is never read: to git, holes are bytes like any other."""
    try:
        found = (worktree.toplevel / path).lstat()
    except (OSError, ValueError):
        return False
    return found.st_size > worktree.max_file_size and stat.S_ISREG(found.st_mode)


def is_beyond_link(toplevel: Path, path: str) -> bool:
    """Whether a folder on the way to `path` is a symbolic link."""
    names = path.split("/")
    return any((toplevel / "/".join(names[:n])).is_symlink() for n in range(1, len(names)))
