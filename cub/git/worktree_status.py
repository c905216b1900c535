"""What `git status` tells, in its format for programs.

The files that an index tells git not to look at: skip-worktree and assume-unchanged.

Paths that git has been told of since a snapshot, in its index or by commits.

Only the names are taken from there: what the files hold is looked at on disk.
"""

from __future__ import annotations

import re
import stat
import struct
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from cub.git.objects import SUBMODULE_MODE, list_tree_files
from cub.git.process import decode_output, join_nul, make_git_error, run_git, split_nul, try_git
from cub.git.snapshot import Snapshot
from cub.git.worktree import Worktree, get_file_type

_UNREADABLE = re.compile("^warning: could not open directory '(.+?)/?': ", re.MULTILINE)


class WorktreeStatus(NamedTuple):
    """HEAD, and the paths that differ between it, an index and the work tree.

    `changed_paths` maps paths whose file is not what the index says to whether they are
    submodules; `staged_paths` have an index that is not what HEAD says, `removed_paths` are the
    paths that only HEAD knows, `untracked_paths` are untracked ones (nested repositories with a "/"
    at the end), `unreadable_paths` are folders of which nobody knows what is in them,
    `ignored_paths` what git ignores, if it was asked for that; folders have a "/" at their end.
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
    """Ask git; what is apart does not show."""
    words = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--no-ahead-behind")
    answer = try_git(worktree.toplevel, *words, *options, *worktree.pathspecs, environ=environ)
    if answer.exit_code:
        raise make_git_error("status", answer)
    folders = tuple(_UNREADABLE.findall(decode_output(answer.stderr)))
    return _read([line for line in split_nul(answer.stdout) if line])._replace(
        unreadable_paths=folders
    )


def list_dirty_paths(worktree: Worktree) -> list[str]:
    """List the tracked files that are not what HEAD says, staged or not."""
    options = ("--untracked-files=no", "--ignore-submodules=untracked")
    status = read_worktree_status(worktree, *options, environ={"GIT_OPTIONAL_LOCKS": "0"})
    return sorted({*status.changed_paths, *status.staged_paths})


def _read(lines: list[str]) -> WorktreeStatus:
    head = branch = ""
    differing, staged, unknown, unmerged = dict[str, bool](), list[str](), list[str](), list[str]()
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
                    differing[path] = submodule.startswith("S")
                if both[0] != ".":
                    staged.append(path)
                if both[0] == "D":
                    removed.add(path)
            case "u":
                *_, path = line.split(" ", 10)
                differing[path] = line.split(" ", 3)[2].startswith("S")
                unmerged.append(path)
            case "?":
                unknown.append(line[2:])
            case "!":
                ignored.append(line[2:])
    return WorktreeStatus(
        "" if head == "(initial)" else head,
        "" if branch == "(detached)" else f"refs/heads/{branch}",
        differing,
        tuple(staged),
        frozenset(removed),
        tuple(unknown),
        tuple(unmerged),
        ignored_paths=tuple(ignored),
    )


_HEADER = 12  # bytes before the first entry
_FLAGS = 60  # bytes of an entry before its flags, where objects have names of 20 bytes
_ASSUMED, _EXTENDED, _LENGTH = 0x8000, 0x4000, 0x0FFF
_SKIPPED = 0x4000  # of the extended flags


def list_flagged_paths(
    worktree: Worktree, index: Path, environ: Mapping[str, str] | None
) -> dict[str, bool]:
    """The paths that git does not look at, by whether none of them is even expected on disk.

    Of an index without them git is not asked.
    """
    try:
        data = index.read_bytes()
    except FileNotFoundError:
        return {}
    if not may_have_flags(data):
        return {}
    lines = split_nul(run_git(worktree.toplevel, "ls-files", "-v", "-z", environ=environ))
    return {line[2:]: line[0] == "S" for line in lines if line[0] == "S" or line[0].islower()}


def clear_flags(
    worktree: Worktree,
    flags: Mapping[str, bool],
    known: Collection[str],
    environ: Mapping[str, str] | None,
) -> dict[str, bool]:
    """Have git look at the files that are flagged but not known to be, and are on disk if they
    may be missing. Returns the flags that stay.
    """
    new = [path for path in flags if path not in known]
    new = [path for path in new if not flags[path] or get_file_type(worktree.toplevel, path)]
    if new:
        for option in ("--no-skip-worktree", "--no-assume-unchanged"):  # it takes one at a time
            words = ("update-index", option, "-z", "--stdin")
            run_git(worktree.toplevel, *words, stdin=join_nul(new), environ=environ)
    return {path: may_miss for path, may_miss in flags.items() if path not in set(new)}


def may_have_flags(data: bytes) -> bool:
    """Whether an index has flags, or is not understood here."""
    try:
        return _has_flags(data)
    except (struct.error, ValueError, IndexError):
        return True


def _has_flags(data: bytes) -> bool:
    mark, version, count = struct.unpack_from(">4sII", data)
    if mark != b"DIRC" or version not in (2, 3, 4):
        return True
    at = _HEADER
    for _ in range(count):
        start, at = at, at + _FLAGS + 2
        flags = data[at - 2] << 8 | data[at - 1]
        if flags & _ASSUMED:
            return True
        if flags & _EXTENDED:
            if (data[at] << 8 | data[at + 1]) & _SKIPPED:
                return True
            at += 2
        if version == 4:  # how much of the last name to drop comes before the name
            while data[at] & 0x80:
                at += 1
            at = data.index(0, at + 1) + 1
            continue
        end = data.index(0, at)
        if min(end - at, _LENGTH) != flags & _LENGTH:  # names of objects have another length
            return True
        at = end + 8 - (end - start) % 8
    return b"link" in data[at:]  # an index that goes on in another file


class IndexChanges(NamedTuple):
    """Paths to look at, though git may ignore them, by whether they are repositories of their own;
    and those that are on disk, but that git no longer tracks and ignores; and conflicts.
    """

    added_paths: dict[str, bool]
    dropped_paths: list[str]
    conflicts: tuple[str, ...] = ()


def find_index_changes(
    worktree: Worktree, base: Snapshot, committed: frozenset[str], *, is_changed: bool
) -> IndexChanges:
    """`committed` are the paths that HEAD has and cub's index lacks; `is_changed` says whether the
    person's index is another one than it was.
    """
    private = set(base.ignored_paths)  # what was there before, and ignored, is the person's
    added = {
        path: False
        for path in committed
        if get_file_type(worktree.toplevel, path) and path not in private
    }
    # A folder in the place of a file is none of git's, unless it is a repository.
    folders = [path for path in added if get_file_type(worktree.toplevel, path) == stat.S_IFDIR]
    added |= {path: get_file_type(worktree.toplevel, f"{path}/.git") != 0 for path in folders}
    staged, unmerged = _read_staged_paths(worktree) if is_changed else ({}, ())
    if not staged:  # an index that is gone, or that git can't read, says nothing
        return IndexChanges(added, [])
    known = list_tree_files(worktree.toplevel, base.tree).keys()
    for path in staged.keys() - known:
        if (
            not worktree.is_excluded(path)
            and get_file_type(worktree.toplevel, path)
            and path not in private
        ):
            added[path] = staged[path]
    left = sorted(known - staged.keys() - set(base.untracked_paths))
    left = [
        path
        for path in left
        if not worktree.is_excluded(path) and get_file_type(worktree.toplevel, path)
    ]
    return IndexChanges(added, _filter_ignored_paths(worktree, left), unmerged)


def _read_staged_paths(worktree: Worktree) -> tuple[dict[str, bool], tuple[str, ...]]:
    """The paths of the person's index, by whether they are submodules; those with a conflict."""
    answer = try_git(worktree.toplevel, "ls-files", "-z", "--stage")
    if answer.exit_code:
        return {}, ()
    lines = [line.partition("\t") for line in split_nul(answer.stdout)]
    module = f"{SUBMODULE_MODE:o} "
    unmerged = dict.fromkeys(path for about, _, path in lines if not about.endswith(" 0"))
    return {path: about.startswith(module) for about, _, path in lines}, tuple(unmerged)


def _filter_ignored_paths(worktree: Worktree, paths: list[str]) -> list[str]:
    if not paths:
        return []
    answer = try_git(
        worktree.toplevel, "check-ignore", "-z", "--stdin", "--no-index", stdin=join_nul(paths)
    )
    return split_nul(answer.stdout)
