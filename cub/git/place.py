"""A checkout's places: its top, what in it is left alone, and what its `.git` entry leads to."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cub.files.regular import read_start
from cub.git.calling import ask, split, text

_LEAD = 1 << 16  # bytes of a `.git` file


class Head(NamedTuple):
    """HEAD: the commit ("" if unborn) and the branch's full name ("" if detached)."""

    commit: str
    branch: str


@dataclass(frozen=True, slots=True)
class Place:
    """The top of a work tree, the file for cub's own index of it, and what stays apart.

    `apart` are paths relative to `top`, folders with a "/" at their end. Files of more than
    `largest` bytes are never read.
    """

    top: Path
    index: Path
    apart: tuple[str, ...] = ()
    largest: int = 1 << 30

    def is_apart(self, path: str) -> bool:
        """Whether a path is one of those that are never looked at or changed."""
        return any(
            path == name.rstrip("/") or path.startswith(name.rstrip("/") + "/")
            for name in self.apart
        )

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """All that is not apart, in git's words."""
        names = (name.rstrip("/") for name in self.apart)
        return ("--", ".", *(f":(top,exclude,literal){name}" for name in names))

    def inner(self, path: str) -> Place:
        """The place of a submodule."""
        mark = sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        below = tuple(
            name.removeprefix(f"{path}/") for name in self.apart if name.startswith(f"{path}/")
        )
        index = self.index.with_name(f"{self.index.name}.{mark}")
        return Place(self.top / path, index, below, self.largest)


def head_of(top: Path) -> Head:
    """Where HEAD is now."""
    commit = ask(top, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    branch = ask(top, "symbolic-ref", "--quiet", "HEAD")
    return Head(text(commit.out).strip(), text(branch.out).strip())


def git_folder(top: Path) -> Path:
    """The repository's folder of this very work tree, where its index and HEAD lie."""
    entry = top / ".git"
    try:
        lead = read_start(os.path.realpath(top), ".git", _LEAD)
    except OSError:  # a folder, or nothing that leads anywhere
        return entry
    return top / text(lead).strip().removeprefix("gitdir: ")


def submodule_paths(top: Path) -> list[str]:
    """Where `.gitmodules` says that submodules are."""
    if not (top / ".gitmodules").is_file():
        return []
    words = ("config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$")
    found = [line.partition("\n")[2] for line in split(ask(top, *words).out)]
    return [path for path in found if not ({"", ".", ".."} & set(path.split("/")))]


def kind(top: Path, path: str) -> int:
    """The type bits of what stands under a path, itself not followed; 0 for nothing.

    A path that leads through a symbolic link has nothing of this work tree.
    """
    if is_beyond_link(top, path):
        return 0
    try:
        return stat.S_IFMT((top / path).lstat().st_mode)
    except (OSError, ValueError):
        return 0


def is_too_large(place: Place, path: str) -> bool:
    """Whether a path is a file that is never read: to git, holes are bytes like any other."""
    try:
        found = (place.top / path).lstat()
    except (OSError, ValueError):
        return False
    return found.st_size > place.largest and stat.S_ISREG(found.st_mode)


def is_beyond_link(top: Path, path: str) -> bool:
    """Whether a folder on the way to `path` is a symbolic link."""
    names = path.split("/")
    return any((top / "/".join(names[:n])).is_symlink() for n in range(1, len(names)))
