"""Taking a snapshot of a checkout, with cub's own index and no change to the person's."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable
from dataclasses import replace
from fnmatch import translate
from functools import cache
from typing import NamedTuple, NoReturn

from cub.errors import CubError
from cub.git.file_modes import make_folders_readable, read_file_modes
from cub.git.private_index import (
    IndexState,
    has_user_index_changed,
    make_index_environment,
    open_index,
    save_index_state,
    stage_files,
    stage_objects,
)
from cub.git.process import decode_output, run_git, split_nul
from cub.git.refs import read_refs
from cub.git.snapshot import Snapshot
from cub.git.untracked_blobs import UntrackedBlob, is_readable, store_blobs
from cub.git.worktree import (
    Worktree,
    find_git_dir,
    get_file_type,
    is_oversized,
    list_submodule_paths,
)
from cub.git.worktree_status import (
    IndexChanges,
    WorktreeStatus,
    clear_flags,
    find_index_changes,
    read_worktree_status,
)

# What tools leave lying about, and nobody means to keep; only while git does not track it.
TOOL_ARTIFACT_PATTERNS = (
    "__pycache__/",
    "*.pyc",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".aider*",
    "node_modules/",
    ".DS_Store",
)
# Files and folders in a repository that tell of an operation which has not ended.
OPERATION_FILES = (
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "BISECT_START",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_TERMS",
    "BISECT_EXPECTED_REV",
    "BISECT_ANCESTORS_OK",
)
# Paths that git does not look at; in a sparse checkout of a giant there are far more.
_MAX_FLAGGED = 10_000
# A ref of this work tree alone, that keeps `git gc` from the files of a snapshot.
SNAPSHOT_REF = "refs/worktree/cub/snapshot"


class UnmergedError(CubError):
    """The index holds conflicts, so there is no tree of it."""


class OversizedError(CubError):
    """There is a file, not ignored, that is too large to be read."""


class _IndexEdits(NamedTuple):
    """Paths to put into the index, to take out of it, and those that can't be read or are too
    large for it.
    """

    there: list[str]
    gone: list[str]
    closed: list[str]
    oversized: list[str]


def take_snapshot(worktree: Worktree, base: Snapshot | None = None) -> Snapshot:
    """What the checkout holds now.

    `base` is the snapshot before an attempt: what was untracked then is looked at even if git
    ignores it now, and conflicts are content like any other. Without it they are an
    UnmergedError, and git keeps the files of the snapshot until the next one.
    """
    for anew in (False, True):
        try:
            return _take(worktree, base, rebuild=anew)
        except (UnmergedError, OversizedError):
            raise
        except CubError:  # a broken index of ours, or files that changed just now
            continue
    return _take(worktree, base, rebuild=True)


def is_tool_artifact(path: str) -> bool:
    """Whether a path is one that tools leave behind."""
    *folders, name = path.split("/")
    return any(map(_litter_folders().match, folders)) or bool(_litter_files().match(name))


@cache
def _litter_folders() -> re.Pattern[str]:
    return re.compile("|".join(translate(name.rstrip("/")) for name in TOOL_ARTIFACT_PATTERNS))


@cache
def _litter_files() -> re.Pattern[str]:
    return re.compile(
        "|".join(translate(name) for name in TOOL_ARTIFACT_PATTERNS if not name.endswith("/"))
    )


def _take(worktree: Worktree, base: Snapshot | None, *, rebuild: bool) -> Snapshot:
    note, found = _compare_with_index(worktree, base, rebuild=rebuild)
    if found.conflicts and base is None:
        raise UnmergedError(
            f"git is in the middle of a merge with conflicts in {len(found.conflicts)} files",
            where=found.conflicts[0],
            hint="resolve them and commit, or give it up with `git merge --abort` and the like",
        )
    unknown = [path for path in found.untracked_paths if _is_included(worktree, path)]
    unknown += (
        _list_newly_ignored(worktree, base, {*note.untracked_paths, *unknown}) if base else []
    )
    persons = (
        base.untracked_modes if base else {*note.untracked_paths, *unknown} - found.removed_paths
    )
    raw = store_blobs(worktree, _list_readable(worktree, persons), note.blobs or note.known_blobs)
    others = dict.fromkeys([*unknown, *(path for path in note.blobs if path not in raw)], False)
    named = IndexChanges({}, [])
    if base:
        named = find_index_changes(
            worktree, base, found.removed_paths, is_changed=has_user_index_changed(worktree, note)
        )
        others = named.added_paths | others
    todo = _sort_paths(worktree, {**found.changed_paths, **others}, raw, named.dropped_paths)
    if todo.oversized and base is None:
        _raise_oversized(worktree, todo.oversized[0])
    changed = {
        path: (file.git_mode, file.oid)
        for path, file in raw.items()
        if _is_new(file, note.blobs.get(path))
    }
    # The tree is of what is looked at alone: else it would change with what stays apart.
    apart = [name for name in worktree.excluded_paths if note.is_fresh and not name.endswith("/")]
    cleaned = [path for path in todo.there if path in note.blobs]
    stage_objects(
        worktree, changed, [*todo.gone, *cleaned, *apart], make_index_environment(worktree)
    )
    stage_files(worktree, todo.there, [], make_index_environment(worktree))
    unchanged = note.tree and not (todo.there or todo.gone or changed)
    tree = note.tree if unchanged else _tree(worktree)
    if base is None and (
        unknown or note.untracked_paths or found.changed_paths or found.staged_paths
    ):
        run_git(worktree.toplevel, "update-ref", SNAPSHOT_REF, tree)
    untracked = {*note.untracked_paths, *unknown} - found.removed_paths - set(todo.gone)
    absent = {*note.missing_paths, *found.removed_paths, *todo.gone} - set(note.untracked_paths)
    result = Snapshot(
        found.head,
        found.branch,
        tree,
        tuple(sorted(untracked)),
        _inner(worktree, base),
        list_operations(worktree),
        tuple(sorted(path for path in absent if not get_file_type(worktree.toplevel, path))),
        {path: file.mode for path, file in raw.items()},
        tuple(note.flags) if len(note.flags) <= _MAX_FLAGGED else None,
        None if base else read_file_modes(worktree, tree),
        None if base else read_refs(worktree.toplevel),
        tuple(path for path in found.ignored_paths if not is_tool_artifact(path))[:_MAX_FLAGGED],
        found.conflicts or named.conflicts,
        tuple(todo.oversized),
    )
    if not found.conflicts:
        save_index_state(
            worktree,
            IndexState(
                note.source,
                found.head,
                result.untracked_paths,
                tree,
                result.missing_paths,
                raw,
                note.flags,
            ),
        )
    return result


def _raise_oversized(worktree: Worktree, path: str) -> NoReturn:
    raise OversizedError(
        f"this file has more than {worktree.max_file_size} bytes, and git does not ignore it",
        where=path,
        hint="have git ignore it, or set run.max_file_size",
    )


def list_operations(worktree: Worktree) -> tuple[str, ...]:
    """The operations of git's that are under way, by the names of their files."""
    folder = find_git_dir(worktree.toplevel)
    return tuple(name for name in OPERATION_FILES if os.path.lexists(folder / name))


def _compare_with_index(
    worktree: Worktree, base: Snapshot | None, *, rebuild: bool
) -> tuple[IndexState, WorktreeStatus]:
    ignored = "no" if base else "matching"
    options = ("--untracked-files=all", f"--ignored={ignored}", "--ignore-submodules=dirty")
    note = open_index(worktree, base, rebuild=rebuild)
    if base and base.flagged_paths is not None:  # what was flagged meanwhile would hide edits
        note = replace(
            note,
            flags=clear_flags(
                worktree, note.flags, base.flagged_paths, make_index_environment(worktree)
            ),
        )
    found = read_worktree_status(worktree, *options, environ=make_index_environment(worktree))
    if base and make_folders_readable(
        worktree, found.unreadable_paths
    ):  # an attempt could hide what is in them
        found = read_worktree_status(worktree, *options, environ=make_index_environment(worktree))
    if base or note.is_fresh or note.head == found.head:
        return note, found
    return _compare_with_index(
        worktree, base, rebuild=True
    )  # HEAD moved and left the index as it was


def _is_included(worktree: Worktree, path: str) -> bool:
    nested = path.endswith("/")  # a repository of its own
    return not (nested or worktree.is_excluded(path) or is_tool_artifact(path))


def _list_newly_ignored(worktree: Worktree, base: Snapshot, known: set[str]) -> list[str]:
    """The files that were untracked before, are there, and are ignored by now."""
    there = (stat.S_IFREG, stat.S_IFLNK)
    paths = [
        path for path in base.untracked_paths if path not in known and _is_included(worktree, path)
    ]
    paths = [path for path in paths if get_file_type(worktree.toplevel, path) in there]
    if not paths:
        return []
    tracked = set(
        split_nul(
            run_git(worktree.toplevel, "ls-files", "-z", environ=make_index_environment(worktree))
        )
    )
    return [path for path in paths if path not in tracked]


def _list_readable(worktree: Worktree, paths: Iterable[str]) -> list[str]:
    """The files that the person did not give to git: they have to come back as they are."""
    return sorted(
        path for path in paths if _is_included(worktree, path) and is_readable(worktree, path)
    )


def _is_new(file: UntrackedBlob, known: UntrackedBlob | None) -> bool:
    return known is None or (file.oid, file.git_mode) != (known.oid, known.git_mode)


def _sort_paths(
    worktree: Worktree, paths: dict[str, bool], raw: Collection[str], dropped: list[str]
) -> _IndexEdits:
    result = _IndexEdits([], dropped, [], [])
    for path, submodule in paths.items():
        if path in raw or path in dropped or worktree.is_excluded(path):
            continue
        match get_file_type(worktree.toplevel, path):
            case stat.S_IFREG if is_oversized(worktree, path):
                result.gone.append(path)
                result.oversized.append(path)
            case stat.S_IFREG if not os.access(worktree.toplevel / path, os.R_OK):
                result.closed.append(path)
            case stat.S_IFREG | stat.S_IFLNK:
                result.there.append(path)
            case stat.S_IFDIR if submodule:
                result.there.append(path)
            case _:  # nothing, or what git has no word for
                result.gone.append(path)
    return result


def _tree(worktree: Worktree) -> str:
    return decode_output(
        run_git(worktree.toplevel, "write-tree", environ=make_index_environment(worktree))
    ).strip()


def _inner(worktree: Worktree, base: Snapshot | None) -> dict[str, Snapshot]:
    """The submodules that have files; one that an attempt broke is left out."""
    before = base.submodules if base else {}
    result = {}
    for path in sorted({*list_submodule_paths(worktree.toplevel), *before}):
        populated = os.path.lexists(worktree.toplevel / path / ".git")
        if (
            not populated
            or worktree.is_excluded(path)
            or get_file_type(worktree.toplevel, path) != stat.S_IFDIR
        ):
            continue
        try:
            result[path] = take_snapshot(worktree.submodule(path), before.get(path))
        except CubError:
            if base is None:
                raise
    return result
