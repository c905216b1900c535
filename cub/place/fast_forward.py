"""Bring the person's checkout from one commit to a later one, or leave it exactly as it is.

This is `git merge --ff-only --no-overwrite-ignore` on a copy of the index, which is the lock file
itself: what blocks is found before anything is written. Files that cub keeps, and changes of the
person's that cub has committed, are brought into that copy first, so that they do not block.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cub.git.process import decode_output, run_git, split_nul, try_git
from cub.git.worktree import get_file_type
from cub.place.checkout import Checkout
from cub.place.locked_index import (
    FastForward,
    IndexEntry,
    LockedIndex,
    is_same,
    list_differing,
    read_index_entries,
    write_index_entries,
)

GITLINK = "160000"
_OPERATIONS = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}
_REFUSAL = re.compile(r"(?:Entry|file|Updating) '(.*?)' (?:not uptodate|would)", re.DOTALL)


class Change(NamedTuple):
    """Hold a path that differs between two commits; a mode is "" where there is nothing."""

    path: str
    old_mode: str
    old_oid: str
    mode: str
    oid: str


@lru_cache(maxsize=4)
def list_changes(toplevel: Path, old: str, new: str) -> tuple[Change, ...]:
    """List the files that differ between two commits, which never changes."""
    words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none")
    fields = split_nul(run_git(toplevel, *words, "--no-ext-diff", old, new))
    changes = []
    for line, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, mode, old_oid, oid, _ = line.removeprefix(":").split(" ")
        modes = ("" if m == "000000" else m for m in (old_mode, mode))
        changes.append(Change(path, next(modes), old_oid, next(modes), oid))
    return tuple(changes)


def find_operation(checkout: Checkout) -> str:
    """Return which merge or the like the person has not ended yet; "" for none."""
    names = (name for name in _OPERATIONS if os.path.lexists(checkout.git_dir / name))
    return _OPERATIONS.get(next(names, ""), "")


def prepare_index(index: LockedIndex, merge: FastForward) -> None:
    """Bring into the copy of the index what is on disk already: cub's own files, and changes of the
    person's that `start` holds.
    """
    if merge.start != merge.old:
        advance_entries(index, merge.old, merge.start)
    if merge.own_paths:
        own = set(merge.own_paths)
        changes = list_changes(index.checkout.toplevel, merge.old, merge.commit)
        entries = [(c.path, c.mode, c.oid) for c in changes if c.path in own]
        write_index_entries(index.checkout.toplevel, entries, index.environ)


def advance_entries(index: LockedIndex, old: str, new: str) -> None:
    """Bring the entries of the copy of the index from one commit to another that is on disk.

    An entry that the person staged since stays, unless the file is as in `new`.
    """
    top, changes = index.checkout.toplevel, list_changes(index.checkout.toplevel, old, new)
    staged = read_index_entries(top, [change.path for change in changes])
    others = [c for c in changes if not is_same(staged.get(c.path), c.old_mode, c.old_oid)]
    edited = list_differing(top, [(c.path, c.mode, c.oid) for c in others])
    entries = [(c.path, c.mode, c.oid) for c in changes if c.path not in edited]
    write_index_entries(top, entries, index.environ)


def find_obstacle(index: LockedIndex, merge: FastForward) -> str:
    """Return why the checkout can't be brought to the commit without loss; "" if it can."""
    top = index.checkout.toplevel
    own = set(merge.own_paths)
    changes = [c for c in list_changes(top, merge.start, merge.commit) if c.path not in own]
    suspects = {path: change for change in changes for path in _find_suspects(top, change)}
    tracked = read_index_entries(top, list(suspects), index.environ) if suspects else {}
    deleted = {change.path for change in changes if not change.mode}
    for path, change in suspects.items():
        is_foreign = path != change.path and path not in deleted
        if is_foreign or not _is_justified(top, path, change, tracked.get(path)):
            return _describe_obstacle(top, path)
    if conflict := _describe_staged_conflict(index, merge, changes):
        return conflict
    words = ("read-tree", "-m", "-u", "--dry-run", merge.start, merge.commit)
    if not try_git(top, *words, environ=index.environ).exit_code:
        return ""
    # A file that was only written again counts as changed until git has compared it.
    try_git(top, "update-index", "-q", "--refresh", environ=index.environ)
    result = try_git(top, *words, environ=index.environ)
    return "" if not result.exit_code else _describe_refusal(result.stderr)


def write_files(index: LockedIndex, merge: FastForward) -> bool:
    """Write the files and the copy of the index; return False if git failed on the way."""
    # With one worker, a kill leaves at most one file half written.
    words = ("-c", "checkout.workers=1", "read-tree", "-m", "-u", merge.start, merge.commit)
    return not try_git(index.checkout.toplevel, *words, environ=index.environ).exit_code


def find_blocking_parent(toplevel: Path, path: str) -> str:
    """Return the first folder on the way to a path that is not one of the work tree; "" for none:
    a file or link, or the top of another repository.
    """
    for parent in _list_parents(path):
        try:
            mode = (toplevel / parent).lstat().st_mode
        except OSError:
            return ""
        if not stat.S_ISDIR(mode) or os.path.lexists(toplevel / parent / ".git"):
            return parent
    return ""


def _exists(toplevel: Path, path: str) -> bool:
    return get_file_type(toplevel, path) != 0


def _find_suspects(toplevel: Path, change: Change) -> Iterator[str]:
    """Yield paths on disk that block a change, unless the index says that they are no edit."""
    if parent := find_blocking_parent(toplevel, change.path):
        yield parent
        return
    kind = get_file_type(toplevel, change.path)
    if change.old_mode and not kind:
        if change.mode and GITLINK not in (change.mode, change.old_mode):
            yield change.path  # deleted, or left out of a sparse checkout
    elif not change.old_mode and kind == stat.S_IFDIR:
        if change.mode != GITLINK or not os.path.lexists(toplevel / change.path / ".git"):
            yield from _list_files(toplevel, change.path)
    elif not change.old_mode and kind:
        yield change.path


def _describe_staged_conflict(
    index: LockedIndex, merge: FastForward, changes: Sequence[Change]
) -> str:
    """Say which file the person has staged where the commit has another one, or a folder, or the
    other way round: git may drop it without a word. "" if there is none.
    """
    new = {change.path: (change.mode or "000000", change.oid) for change in changes}
    added = {change.path for change in changes if not change.old_mode}
    parents = {parent for path in added for parent in _list_parents(path)}
    words = ("diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--no-renames", merge.start)
    fields = split_nul(run_git(index.checkout.toplevel, *words, environ=index.environ))
    for line, path in zip(fields[::2], fields[1::2], strict=True):
        _, mode, _, oid, kind = line.split(" ")
        if new.get(path, (mode, oid)) != (mode, oid):
            return f"your changes to {path} are in the way (commit or stash them)"
        if kind == "A" and (path in parents or not added.isdisjoint(_list_parents(path))):
            return f"{path}, which you have staged, is in the way (commit or unstage it)"
    return ""


def _list_parents(path: str) -> list[str]:
    names = path.split("/")
    return ["/".join(names[:n]) for n in range(1, len(names))]


def _list_files(toplevel: Path, folder: str) -> Iterator[str]:
    for inner, folders, names in os.walk(toplevel / folder):
        links = [name for name in folders if os.path.islink(f"{inner}/{name}")]  # noqa: PTH114
        for name in (*names, *links):
            yield os.path.relpath(f"{inner}/{name}", toplevel)


def _is_justified(toplevel: Path, path: str, change: Change, entry: IndexEntry | None) -> bool:
    if entry is None:
        return False
    if path != change.path or _exists(toplevel, path):
        return entry.mode != GITLINK or not os.path.lexists(toplevel / path / ".git")
    return entry.is_sparse or is_same(entry, change.mode, change.oid)


def _describe_obstacle(toplevel: Path, path: str) -> str:
    if _exists(toplevel, path):
        return f"{path} is in the way (move or delete it)"
    return f"{path} is deleted in your checkout (restore it)"


def _describe_refusal(stderr: bytes) -> str:
    text = decode_output(stderr)
    if match := _REFUSAL.search(text):
        return f"your changes to {match[1]} are in the way (commit or stash them)"
    lines = text.strip().splitlines() or ["git refused without a reason"]
    return lines[0].removeprefix("error: ").removeprefix("fatal: ")
