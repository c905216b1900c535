"""Ask git which paths changed: by its status, by flags in an index, and by the index's names.

Only names come from the person's index: what the files hold is read from disk.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cub.git.objects import SUBMODULE_MODE, list_tree_files
from cub.git.process import decode_output, join_nul, make_git_error, run_git, split_nul, try_git
from cub.git.snapshot import Snapshot
from cub.git.worktree import Worktree, get_file_type, list_ignored_paths

_UNREADABLE = re.compile("^warning: could not open directory '(.+?)/?': ", re.MULTILINE)


class WorktreeStatus(NamedTuple):
    """Hold HEAD, and the paths that differ between it, an index and the work tree.

    `changed_paths` maps paths whose file differs from the index to whether they are submodules;
    `staged_paths` differ between index and HEAD, `removed_paths` are only in HEAD,
    `untracked_paths` have a "/" at the end for nested repositories, `unreadable_paths` are folders
    that could not be listed, `ignored_paths` are there if git was asked for them; folders have a
    "/" at their end.
    """

    head: str
    branch: str
    changed_paths: Mapping[str, bool]
    staged_paths: tuple[str, ...]
    removed_paths: frozenset[str]
    untracked_paths: tuple[str, ...]
    conflicts: tuple[str, ...]
    unreadable_paths: tuple[str, ...] = ()
    ignored_paths: tuple[str, ...] = ()


def read_worktree_status(
    worktree: Worktree, *options: str, environ: Mapping[str, str] | None = None
) -> WorktreeStatus:
    """Ask git for its status, without the excluded paths. Raises CubError if git fails."""
    words = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--no-ahead-behind")
    result = try_git(worktree.toplevel, *words, *options, *worktree.pathspecs, environ=environ)
    if result.exit_code:
        raise make_git_error("status", result)
    status = _parse_status([line for line in split_nul(result.stdout) if line])
    folders = _UNREADABLE.findall(decode_output(result.stderr))
    return status._replace(unreadable_paths=tuple(folders))


def list_dirty_paths(
    worktree: Worktree, environ: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """List the tracked files that are not what HEAD says, staged or not."""
    options = ("--untracked-files=no", "--ignore-submodules=untracked")
    status = read_worktree_status(
        worktree, *options, environ={"GIT_OPTIONAL_LOCKS": "0", **environ}
    )
    return sorted({*status.changed_paths, *status.staged_paths})


def _parse_status(lines: list[str]) -> WorktreeStatus:
    head = branch = ""
    changed, staged, untracked, unmerged = dict[str, bool](), list[str](), list[str](), list[str]()
    removed, ignored = set[str](), list[str]()
    for line in lines:
        match line.split(" ", 1)[0]:
            case "#":
                _, name, value = line.split(" ", 2)
                head = value if name == "branch.oid" else head
                branch = value if name == "branch.head" else branch
            case "1":
                _, both, submodule, *_, path = line.split(" ", 8)
                if both[1] != ".":
                    changed[path] = submodule.startswith("S")
                if both[0] != ".":
                    staged.append(path)
                if both[0] == "D":
                    removed.add(path)
            case "u":
                *_, path = line.split(" ", 10)
                changed[path] = line.split(" ", 3)[2].startswith("S")
                unmerged.append(path)
            case "?":
                untracked.append(line[2:])
            case "!":
                ignored.append(line[2:])
    return WorktreeStatus(
        "" if head == "(initial)" else head,
        "" if branch == "(detached)" else f"refs/heads/{branch}",
        changed,
        tuple(staged),
        frozenset(removed),
        tuple(untracked),
        tuple(unmerged),
        ignored_paths=tuple(ignored),
    )


def list_flagged_paths(
    worktree: Worktree, index: Path, environ: Mapping[str, str] | None
) -> dict[str, bool]:
    """Return the paths that an index tells git not to look at: whether they are skip-worktree
    (True: the file may be missing) or assume-unchanged (False). Empty without an index.
    """
    if not index.exists():
        return {}
    lines = split_nul(run_git(worktree.toplevel, "ls-files", "-v", "-z", environ=environ))
    return {line[2:]: line[0] == "S" for line in lines if line[0] == "S" or line[0].islower()}


def clear_flags(
    worktree: Worktree,
    flags: Mapping[str, bool],
    old_flags: Collection[str],
    environ: Mapping[str, str] | None,
) -> dict[str, bool]:
    """Remove flags that are not in `old_flags`, but for skip-worktree on files that are missing.
    Return the flags that stay.
    """
    new = [path for path in flags if path not in old_flags]
    new = [path for path in new if not flags[path] or get_file_type(worktree.toplevel, path)]
    if new:
        for option in ("--no-skip-worktree", "--no-assume-unchanged"):  # it takes one at a time
            words = ("update-index", option, "-z", "--stdin")
            run_git(worktree.toplevel, *words, stdin=join_nul(new), environ=environ)
    return {path: may_miss for path, may_miss in flags.items() if path not in set(new)}


class IndexChanges(NamedTuple):
    """List what git was told about since a snapshot, in its index or by commits.

    `added_paths` are to be looked at although git may ignore them, by whether they are repositories
    of their own; `dropped_paths` are on disk, but no longer tracked, and ignored.
    """

    added_paths: dict[str, bool]
    dropped_paths: list[str]
    conflicts: tuple[str, ...] = ()


def find_index_changes(
    worktree: Worktree, base: Snapshot, committed: frozenset[str], *, is_changed: bool
) -> IndexChanges:
    """Find the changes since `base`; `committed` are the paths that HEAD has and cub's index lacks,
    `is_changed` says whether the person's index is another one than it was.
    """
    top = worktree.toplevel
    added = {path: False for path in committed if get_file_type(top, path)}
    # A folder in the place of a file is not git's, unless it is a repository.
    folders = [path for path in added if get_file_type(top, path) == stat.S_IFDIR]
    added |= {path: get_file_type(top, f"{path}/.git") != 0 for path in folders}
    staged, unmerged = _read_staged_paths(worktree) if is_changed else ({}, ())
    if not staged:  # an index that is gone, or that git can't read, says nothing
        return IndexChanges(_drop_ignored(added, base), [])
    tree_paths = list_tree_files(top, base.tree).keys()
    for path in staged.keys() - tree_paths:
        if not worktree.is_excluded(path) and get_file_type(top, path):
            added[path] = staged[path]
    left = sorted(tree_paths - staged.keys() - set(base.untracked_paths))
    left = [path for path in left if not worktree.is_excluded(path) and get_file_type(top, path)]
    dropped = list_ignored_paths(top, left, include_tracked=True)
    return IndexChanges(_drop_ignored(added, base), sorted(dropped), unmerged)


def _drop_ignored(added: Mapping[str, bool], base: Snapshot) -> dict[str, bool]:
    """Drop what was there and ignored: it is the person's."""
    ignored = base.select_ignored(added, forced=True)
    return {path: is_submodule for path, is_submodule in added.items() if path not in ignored}


def _read_staged_paths(worktree: Worktree) -> tuple[dict[str, bool], tuple[str, ...]]:
    """Read the person's index: paths by whether they are submodules, and those with a conflict."""
    result = try_git(worktree.toplevel, "ls-files", "-z", "--stage")
    if result.exit_code:
        return {}, ()
    lines = [line.partition("\t") for line in split_nul(result.stdout)]
    module = f"{SUBMODULE_MODE:o} "
    unmerged = dict.fromkeys(path for about, _, path in lines if not about.endswith(" 0"))
    return {path: about.startswith(module) for about, _, path in lines}, tuple(unmerged)
