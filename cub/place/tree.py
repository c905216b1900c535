"""Bring a tree of a place to a commit's files, and find what has become of them since.

Where a command has run in a tree, `make_folders_usable` comes first: git can't read folders without
rights, and waits for ever where it opens a FIFO.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import NamedTuple

from cub.errors import CubError
from cub.git.objects import SUBMODULE_MODE
from cub.git.process import join_nul
from cub.git.tool_artifacts import is_tool_artifact
from cub.git.worktree import get_file_type
from cub.place.checkout import TreeGit
from cub.place.folder import empty_folder, escape_pattern


class TreeState(NamedTuple):
    """Hold the tree that git makes of the files, and what is no part of it.

    `ignored_paths` are files that git ignores, directories with "/" at their end; `repositories`
    are those of their own among the files, `oversized_files` too large to be read.
    """

    tree: str
    ignored_paths: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    oversized_files: tuple[str, ...] = ()


def check_out_tree(
    git: TreeGit, tree: str, kept: Iterable[str] = (), *, is_touched: bool = True
) -> None:
    """Make the files exactly those of `tree`: what differs is written, the rest stays.

    Other files are deleted, except for the `kept` paths; there are none if nothing has touched the
    files since they were checked out. Raises CubError if git can't, for example for lack of space.
    """
    words = ("read-tree", "--reset", "-u", tree)
    try:
        git.run(*words, allow_fetch=True)
    except CubError:  # an index that does not fit its files
        git.index.unlink(missing_ok=True)
        git.index.with_name(f"{git.index.name}.lock").unlink(missing_ok=True)
        empty_folder(git.tree)
        git.run(*words, allow_fetch=True)
    if is_touched:
        git.run("clean", "-ffdxq", *(f"--exclude=/{escape_pattern(path)}" for path in kept))


def read_tree_state(
    git: TreeGit, is_excluded: Callable[[str], bool], max_file_size: int = 1 << 30
) -> TreeState:
    """Add the files to the index as git would, and return its tree. Raises CubError.

    Excluded paths stay what the index has: what they are now is no part of the tree. The same goes
    for what tools leave behind, such as bytecode.
    """
    words = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    more = ("--ignored=matching", "--ignore-submodules=all")
    changed, repositories, ignored = list[str](), list[str](), list[str]()
    for line in git.list_items(*words, *more):
        state, path = line[:2], line[3:]
        if state == "??":
            if not is_tool_artifact(path.rstrip("/")):
                (repositories if path.endswith("/") else changed).append(path)
        elif state == "!!":
            ignored.append(path)
        elif state[1] != " ":  # differs from the index
            changed.append(path)
    paths = [path for path in changed if not is_excluded(path)]
    oversized = tuple(path for path in paths if _is_oversized(git, path, max_file_size))
    paths = [path for path in paths if path not in oversized]
    _make_readable(git, paths)
    tree = update_tree(git, paths) if paths else git.read_line("write-tree")
    left = tuple(path for path in ignored if not is_excluded(path))
    return TreeState(tree, left, tuple(repositories), oversized)


def list_edited_paths(git: TreeGit) -> list[str]:
    """List the files of the index that were changed or deleted since they were checked out."""
    modules = read_submodule_commits(git)
    listed = dict.fromkeys(git.list_items("ls-files", "-z", "-m", "-d"))
    return [path for path in listed if path not in modules]


def update_tree(git: TreeGit, paths: Collection[str]) -> str:
    """Take over some files as they are now; return the tree."""
    files = (stat.S_IFREG, stat.S_IFLNK)
    gone = [path for path in paths if get_file_type(git.tree, path) not in files]
    left = set(gone)
    present = [path for path in paths if path not in left]
    # What goes makes room for what comes: a folder may have become a file.
    for option, some in (("--force-remove", gone), ("--replace", present)):
        if some:
            words = ("update-index", "-z", "--add", option, "--stdin")
            git.run(*words, stdin=join_nul(some))
    return git.read_line("write-tree")


def read_submodule_commits(git: TreeGit) -> dict[str, str]:
    """Return the commit of each submodule that the index names, by its path."""
    if not (git.tree / ".gitmodules").is_file():
        return {}
    rows = git.list_items("ls-files", "-z", "--stage")
    fields = (row.partition("\t") for row in rows if row.startswith(f"{SUBMODULE_MODE:o} "))
    return {path: facts.split(" ")[1] for facts, _, path in fields}


def _is_oversized(git: TreeGit, path: str, max_file_size: int) -> bool:
    with suppress(OSError):
        status = os.lstat(git.tree / path)
        return stat.S_ISREG(status.st_mode) and status.st_size > max_file_size
    return False


def _make_readable(git: TreeGit, paths: Collection[str]) -> None:
    for path in paths:
        with suppress(OSError):
            mode = os.lstat(git.tree / path).st_mode
            if stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
                (git.tree / path).chmod(stat.S_IMODE(mode) | stat.S_IRUSR)
