"""Questions about commits that are there: whether one was made, and what came between two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cub.git.calling import ask, call, split

_AT_ONCE = 500  # paths on a command line


def find_commit(top: Path, parent: str, tree: str) -> str:
    """Find a commit of `tree` right after `parent` ("" for a first one) on any branch, or where
    HEAD is; "" for none. Raises CubError if git fails.
    """
    words = ["log", "--format=%H %T %P", "--no-show-signature", "HEAD", "--branches"]
    since = [f"^{parent}"] if parent else []
    answer = ask(top, *words, *since, "--")
    for line in answer.out.decode().splitlines() if answer.code == 0 else ():
        commit, content, *parents = line.split(" ")
        if content == tree and [one for one in parents if one][:1] == ([parent] if parent else []):
            return commit
    return ""


def is_ancestor(top: Path, old: str, new: str) -> bool:
    """Whether one commit leads to another; true of no commit at all."""
    return not old or ask(top, "merge-base", "--is-ancestor", old, new).code == 0


def list_paths_between(top: Path, old: str, new: str) -> list[str]:
    """List the paths that differ between two commits, "" for none at all."""
    if not old:
        return split(call(top, "ls-tree", "-r", "-z", "--name-only", new))
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff")
    return split(call(top, *words, "--ignore-submodules=none", old, new))


def has_content(top: Path, tree: str, paths: Sequence[str]) -> bool:
    """Whether HEAD has the same as `tree` under all of these paths."""
    environ = {"GIT_LITERAL_PATHSPECS": "1"}
    for start in range(0, len(paths), _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        words = ("diff-tree", "-r", "--quiet", "--no-ext-diff", tree, "HEAD", "--", *some)
        if ask(top, *words, environ=environ).code:
            return False
    return True
