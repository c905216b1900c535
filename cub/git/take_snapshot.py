"""Take a snapshot of a work tree, with cub's own index and no change to the person's."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, NoReturn

from cub.errors import CubError
from cub.git.file_modes import make_folders_readable, read_file_modes
from cub.git.private_index import (
    IndexState,
    has_user_index_changed,
    open_index,
    save_index_state,
    stage_files,
    stage_objects,
)
from cub.git.process import decode_output, run_git, split_nul
from cub.git.refs import read_refs
from cub.git.snapshot import Snapshot
from cub.git.tool_artifacts import is_tool_artifact
from cub.git.untracked_blobs import UntrackedBlob, is_readable, store_blobs
from cub.git.worktree import (
    Worktree,
    find_git_dir,
    get_file_type,
    is_oversized,
    list_submodule_paths,
    make_index_environment,
)
from cub.git.worktree_status import (
    IndexChanges,
    WorktreeStatus,
    clear_flags,
    find_index_changes,
    read_worktree_status,
)

# Files and folders in a repository while an operation is under way.
OPERATION_FILES = (
    "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE",
    "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "rebase-merge", "rebase-apply",
    "sequencer", "BISECT_START", "BISECT_LOG", "BISECT_NAMES", "BISECT_TERMS",
    "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK",
)  # fmt: skip
# Flagged or ignored paths; in a sparse checkout of a giant there are far more.
_MAX_LISTED_PATHS = 10_000
# A ref of this work tree alone, that keeps `git gc` from the files of a snapshot.
SNAPSHOT_REF = "refs/worktree/cub/snapshot"


class UnmergedError(CubError):
    """Report an index that holds conflicts, so that there is no tree of it."""


class OversizedError(CubError):
    """Report a file, not ignored, that is too large to be read."""


class _IndexEdits(NamedTuple):
    """List paths to put into the index, to take out of it (the `oversized` among them), and the
    untracked files to put there byte for byte.
    """

    present: list[str]
    gone: list[str]
    oversized: list[str]
    blobs: Mapping[str, UntrackedBlob] = {}


def take_snapshot(worktree: Worktree, base: Snapshot | None = None) -> Snapshot:
    """Take a snapshot of what the work tree holds now. Raises CubError if git fails.

    `base` is the snapshot before an attempt: what was untracked then is read even if git ignores it
    now, and conflicts are content like any other. Without it they are an UnmergedError, a file that
    is too large is an OversizedError, and git keeps the files of the snapshot until the next one.
    """
    for rebuild in (False, True):
        try:
            return _take(worktree, base, rebuild=rebuild)
        except (UnmergedError, OversizedError):
            raise
        except CubError:  # a broken index of ours, or files that changed just now
            continue
    return _take(worktree, base, rebuild=True)


def list_operations(worktree: Worktree) -> tuple[str, ...]:
    """List git's operations that are under way, by the names of their files."""
    folder = find_git_dir(worktree.toplevel)
    return tuple(name for name in OPERATION_FILES if os.path.lexists(folder / name))


def _take(worktree: Worktree, base: Snapshot | None, *, rebuild: bool) -> Snapshot:
    state, status = _compare_with_index(worktree, base, rebuild=rebuild)
    if status.conflicts and base is None:
        raise UnmergedError(
            f"git is in the middle of a merge with conflicts in {len(status.conflicts)} files",
            where=status.conflicts[0],
            hint="resolve them and commit, or give it up with `git merge --abort` and the like",
        )
    included = [path for path in status.untracked_paths if _is_included(worktree, path)]
    exposed = base.select_ignored(included) if base else set[str]()
    new = [path for path in included if path not in exposed]
    if base:
        new += _list_newly_ignored(worktree, base, {*state.untracked_paths, *new})
    untracked = {*state.untracked_paths, *new} - status.removed_paths
    named = IndexChanges({}, [])
    if base:
        is_changed = has_user_index_changed(worktree, state)
        named = find_index_changes(worktree, base, status.removed_paths, is_changed=is_changed)
    private = base.untracked_modes if base else untracked
    edits = _plan_edits(worktree, state, status.changed_paths, named, new, private)
    if edits.oversized and base is None:
        _raise_oversized(worktree, edits.oversized[0])
    tree = _write_tree(worktree, state, edits)
    is_dirty = new or state.untracked_paths or status.changed_paths or status.staged_paths
    if base is None and is_dirty:
        run_git(worktree.toplevel, "update-ref", SNAPSHOT_REF, tree)
    absent = {*state.missing_paths, *status.removed_paths, *edits.gone} - set(state.untracked_paths)
    missing = sorted(path for path in absent if not get_file_type(worktree.toplevel, path))
    snapshot = Snapshot(
        status.head,
        status.branch,
        tree,
        tuple(sorted(untracked - set(edits.gone))),
        _take_submodules(worktree, base),
        list_operations(worktree),
        tuple(missing),
        {path: blob.mode for path, blob in edits.blobs.items()},
        tuple(state.flags) if len(state.flags) <= _MAX_LISTED_PATHS else None,
        None if base else read_file_modes(worktree, tree),
        None if base else read_refs(worktree.toplevel),
        tuple(_list_ignored(status, base)[:_MAX_LISTED_PATHS]),
        status.conflicts or named.conflicts,
        tuple(edits.oversized),
        tuple(sorted(exposed)),
    )
    if not status.conflicts:
        paths = snapshot.untracked_paths, tree, snapshot.missing_paths
        new_state = IndexState(state.source, status.head, *paths, edits.blobs, state.flags)
        save_index_state(worktree, new_state)
    return snapshot


def _list_ignored(status: WorktreeStatus, base: Snapshot | None) -> list[str]:
    """List what git passes over, as `Snapshot.ignored_paths` does."""
    repositories = [path for path in status.untracked_paths if path.endswith("/")]
    ignored = [p for p in (*status.ignored_paths, *repositories) if not is_tool_artifact(p)]
    known = {*base.untracked_paths, *base.select_ignored(ignored)} if base else set[str]()
    return [path for path in ignored if path not in known]


def _compare_with_index(
    worktree: Worktree, base: Snapshot | None, *, rebuild: bool
) -> tuple[IndexState, WorktreeStatus]:
    environ = make_index_environment(worktree)
    options = ("--untracked-files=all", "--ignored=matching", "--ignore-submodules=dirty")
    state = open_index(worktree, base, rebuild=rebuild)
    if base and base.flagged_paths is not None:  # flags that are new would hide edits
        flags = clear_flags(worktree, state.flags, base.flagged_paths, environ)
        state = replace(state, flags=flags)
    status = read_worktree_status(worktree, *options, environ=environ)
    # An attempt could hide what is in folders.
    if base and make_folders_readable(worktree, status.unreadable_paths):
        status = read_worktree_status(worktree, *options, environ=environ)
    if base or state.is_fresh or state.head == status.head:
        return state, status
    return _compare_with_index(worktree, base, rebuild=True)  # HEAD moved, the index did not change


def _plan_edits(
    worktree: Worktree,
    state: IndexState,
    changed: Mapping[str, bool],
    named: IndexChanges,
    new: Sequence[str],
    private: Iterable[str],
) -> _IndexEdits:
    """Sort the paths that may differ from the index; `private` are the paths whose bytes count."""
    readable = sorted(
        path for path in private if _is_included(worktree, path) and is_readable(worktree, path)
    )
    blobs = store_blobs(worktree, readable, state.blobs or state.known_blobs)
    others = dict.fromkeys([*new, *(path for path in state.blobs if path not in blobs)], False)
    edits = _IndexEdits([], named.dropped_paths, [], blobs)
    for path, is_submodule in {**changed, **(named.added_paths | others)}.items():
        if path in blobs or path in named.dropped_paths or worktree.is_excluded(path):
            continue
        match get_file_type(worktree.toplevel, path):
            case stat.S_IFREG if is_oversized(worktree, path):
                edits.gone.append(path)
                edits.oversized.append(path)
            case stat.S_IFREG if not os.access(worktree.toplevel / path, os.R_OK):
                pass  # it stays in the index as it was
            case stat.S_IFREG | stat.S_IFLNK:
                edits.present.append(path)
            case stat.S_IFDIR if is_submodule:
                edits.present.append(path)
            case _:  # nothing, or what git can't store
                edits.gone.append(path)
    return edits


def _write_tree(worktree: Worktree, state: IndexState, edits: _IndexEdits) -> str:
    """Bring cub's index up to date, and return its tree."""
    environ = make_index_environment(worktree)
    blobs = {
        path: (blob.git_mode, blob.oid)
        for path, blob in edits.blobs.items()
        if _is_new(blob, state.blobs.get(path))
    }
    # The tree is of what is included alone: else it would change with what is excluded.
    excluded = [name for name in worktree.excluded_paths if state.is_fresh and name[-1] != "/"]
    cleaned = [path for path in edits.present if path in state.blobs]
    stage_objects(worktree, blobs, [*edits.gone, *cleaned, *excluded], environ)
    stage_files(worktree, edits.present, [], environ)
    if state.tree and not (edits.present or edits.gone or blobs):
        return state.tree
    return decode_output(run_git(worktree.toplevel, "write-tree", environ=environ)).strip()


def _raise_oversized(worktree: Worktree, path: str) -> NoReturn:
    raise OversizedError(
        f"this file has more than {worktree.max_file_size} bytes, and git does not ignore it",
        where=path,
        hint="have git ignore it, or set run.max_file_size",
    )


def _is_included(worktree: Worktree, path: str) -> bool:
    is_repository = path.endswith("/")
    return not (is_repository or worktree.is_excluded(path) or is_tool_artifact(path))


def _list_newly_ignored(worktree: Worktree, base: Snapshot, known: set[str]) -> list[str]:
    """List the files that were untracked before, are still there, and are ignored by now."""
    file_types = (stat.S_IFREG, stat.S_IFLNK)
    paths = [path for path in base.untracked_paths if path not in known]
    paths = [path for path in paths if _is_included(worktree, path)]
    paths = [path for path in paths if get_file_type(worktree.toplevel, path) in file_types]
    if not paths:
        return []
    environ = make_index_environment(worktree)
    tracked = set(split_nul(run_git(worktree.toplevel, "ls-files", "-z", environ=environ)))
    return [path for path in paths if path not in tracked]


def _is_new(blob: UntrackedBlob, old: UntrackedBlob | None) -> bool:
    return old is None or (blob.oid, blob.git_mode) != (old.oid, old.git_mode)


def _take_submodules(worktree: Worktree, base: Snapshot | None) -> dict[str, Snapshot]:
    """Take snapshots of the submodules that have files; skip one that an attempt broke."""
    before = base.submodules if base else {}
    result = {}
    for path in sorted({*list_submodule_paths(worktree.toplevel), *before}):
        is_populated = os.path.lexists(worktree.toplevel / path / ".git")
        is_folder = get_file_type(worktree.toplevel, path) == stat.S_IFDIR
        if not is_populated or not is_folder or worktree.is_excluded(path):
            continue
        try:
            result[path] = take_snapshot(worktree.submodule(path), before.get(path))
        except CubError:
            if base is None:
                raise
    return result
