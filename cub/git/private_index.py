"""Keep cub's own index of a work tree: a copy of the person's, with its origin noted beside it.

It stays from one snapshot to the next, so that files which did not change are not read again. What
an attempt may have written into the person's index is never copied: it could hide an edit.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cub.errors import CubError
from cub.files.stat_signature import StatSignature
from cub.git.lock_files import is_folder_lock
from cub.git.process import decode_output, join_nul, run_git
from cub.git.snapshot import Snapshot
from cub.git.untracked_blobs import UntrackedBlob
from cub.git.worktree import Worktree, find_git_dir, make_index_environment
from cub.git.worktree_status import list_flagged_paths
from cub.text import describe_os_error

_PATIENCE = 2.0  # seconds: another git holds a lock for milliseconds
_ADD = ("--add", "--remove", "--replace", "--ignore-skip-worktree-entries")


@dataclass(frozen=True, slots=True)
class IndexState:
    """Describe what the index was copied from, and what has been added to it since; `blobs` are
    byte for byte. In a fresh copy, `known_blobs` are the `blobs` of the one before.
    """

    source: StatSignature | None = None
    head: str = ""
    untracked_paths: tuple[str, ...] = ()
    tree: str = ""
    missing_paths: tuple[str, ...] = ()
    blobs: Mapping[str, UntrackedBlob] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    is_fresh: bool = False
    known_blobs: Mapping[str, UntrackedBlob] = field(default_factory=dict)


def open_index(worktree: Worktree, base: Snapshot | None, *, rebuild: bool = False) -> IndexState:
    """Return the state of the last index, or of a fresh copy if the person's has changed.

    With a `base` that an attempt started from, the person's index is not read: if the last one is
    lost, it is made from that snapshot. The state is deleted until it is saved again, so that a
    crash leads to a fresh copy.
    """
    state = _read_state(worktree)
    _get_state_path(worktree).unlink(missing_ok=True)
    is_there = worktree.index_file.exists() or _read_signature(worktree) is None
    is_usable = state is not None and is_there and not rebuild
    if state is not None and is_usable and (base or not has_user_index_changed(worktree, state)):
        return state
    if base and base.flagged_paths is not None:
        return _build_index(worktree, base)
    source, blobs = _copy_user_index(worktree), {} if state is None or rebuild else state.blobs
    flags = list_flagged_paths(worktree, worktree.index_file, make_index_environment(worktree))
    return IndexState(source, flags=flags, is_fresh=True, known_blobs=blobs)


def save_index_state(worktree: Worktree, state: IndexState) -> None:
    """Save how the index was left."""
    value = [
        state.source, state.head, state.untracked_paths, state.tree, state.missing_paths,
        state.blobs, state.flags,
    ]  # fmt: skip
    _get_state_path(worktree).write_text(json.dumps(value), encoding="utf-8")


def has_user_index_changed(worktree: Worktree, state: IndexState) -> bool:
    """Return whether the person's index is another one than that which ours was copied from."""
    return state.source != _read_signature(worktree)


def read_untracked_blobs(worktree: Worktree) -> Mapping[str, UntrackedBlob]:
    """Return the untracked files of the last snapshot."""
    state = _read_state(worktree)
    return state.blobs if state else {}


def discard_index(worktree: Worktree) -> None:
    """Delete the index: the next snapshot makes a fresh copy."""
    _get_state_path(worktree).unlink(missing_ok=True)
    _remove(worktree.index_file)


def reset_user_index(worktree: Worktree, *, ends_operations: bool = False) -> None:
    """Make the person's index hold what HEAD does; no file changes, nor a merge and the like that
    is under way, unless that `ends_operations`.

    What it knows of files is what cub has seen, and not what an attempt may have written there. It
    changes in one step: ours has files that are untracked, and a crash must not leave them staged.

    Raises CubError while another git holds the lock, or a folder has its name.
    """
    words = ("reset", "--quiet", *(() if ends_operations else ("--", ".")))
    copy = worktree.index_file.with_name(f"{worktree.index_file.name}.reset")
    try:
        _remove(copy)
        # With its time: git reads files again that changed after it.
        shutil.copy2(worktree.index_file, copy)
    except FileNotFoundError:  # without a snapshot there was no attempt
        run_git(worktree.toplevel, *words)
        return
    except OSError as error:
        reason = describe_os_error(error)
        raise CubError(f"git's index can't be copied: {reason}") from error
    run_git(worktree.toplevel, *words, environ={"GIT_INDEX_FILE": str(copy)})
    _install(copy, find_git_dir(worktree.toplevel) / "index")
    _remove(copy)


def stage_files(
    worktree: Worktree,
    present: Sequence[str],
    gone: Sequence[str],
    environ: Mapping[str, str] | None,
) -> None:
    """Make an index (the person's without `environ`) hold files as they are, ignored or not.

    Paths that are gone are removed from it, and passed over if it does not have them.
    """
    # update-index obeys its options in turn. What goes makes room for what comes.
    for paths, options in ((gone, ("--force-remove",)), (present, _ADD)):
        if paths:
            words = ("update-index", *options, "-z", "--stdin")
            run_git(worktree.toplevel, *words, stdin=join_nul(paths), environ=environ)


def stage_objects(
    worktree: Worktree,
    objects: Mapping[str, tuple[str, str]],
    gone: Sequence[str],
    environ: Mapping[str, str] | None,
) -> None:
    """Make an index hold objects (mode and id by path), whatever the files are."""
    if not objects:
        stage_files(worktree, [], gone, environ)
        return
    null_oid = "0" * len(next(iter(objects.values()))[1])
    rows = [f"0 {null_oid}\t{path}" for path in gone]
    rows += [f"{mode} {oid}\t{path}" for path, (mode, oid) in objects.items()]
    words = ("update-index", "-z", "--index-info")
    run_git(worktree.toplevel, *words, stdin=join_nul(rows), environ=environ)


def write_tree_without(worktree: Worktree, tree: str, paths: Sequence[str]) -> str:
    """Return a tree that lacks some paths of `tree`; it is `tree` if there are none."""
    if not paths:
        return tree
    environ = {"GIT_INDEX_FILE": f"{worktree.index_file}.part"}
    run_git(worktree.toplevel, "read-tree", tree, environ=environ)
    stage_files(worktree, [], paths, environ)
    written = run_git(worktree.toplevel, "write-tree", environ=environ)
    _remove(Path(environ["GIT_INDEX_FILE"]))
    return decode_output(written).strip()


def _install(source: Path, target: Path) -> None:
    """Make one index a copy of another, times included: git compares those of files with it."""
    lock = target.with_name("index.lock")
    try:
        handle = _take_lock(lock)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(source.read_bytes())
            with suppress(FileNotFoundError):
                lock.chmod(stat.S_IMODE(target.stat().st_mode))
            status = source.stat()
            os.utime(lock, ns=(status.st_atime_ns, status.st_mtime_ns))
            lock.replace(target)
        except OSError:
            lock.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = describe_os_error(error)
        raise CubError(f"git's index can't be written: {reason}", where=lock.as_posix()) from error


def _take_lock(lock: Path) -> int:
    """Create the lock of the index, once no other process has it; return its handle."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError as error:
            if is_folder_lock(lock):
                raise CubError(
                    "git's index can't be written: a directory blocks git's lock file",
                    where=lock.as_posix(),
                    hint="move it away",
                ) from error
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)


def _build_index(worktree: Worktree, base: Snapshot) -> IndexState:
    """Make the index of a snapshot; git has to read all files again."""
    _remove(worktree.index_file)
    worktree.index_file.parent.mkdir(parents=True, exist_ok=True)
    environ = make_index_environment(worktree)
    run_git(worktree.toplevel, "read-tree", base.tree, environ=environ)
    flags = dict.fromkeys(base.flagged_paths or (), True)
    if flags:
        words = ("update-index", "--skip-worktree", "-z", "--stdin")
        run_git(worktree.toplevel, *words, stdin=join_nul(flags), environ=environ)
    untracked, missing = base.untracked_paths, base.missing_paths
    return IndexState(None, base.head, untracked, base.tree, missing, {}, flags)


def _read_state(worktree: Worktree) -> IndexState | None:
    try:
        value = json.loads(_get_state_path(worktree).read_bytes())
        source, head, untracked, tree, missing, files, flags = value
        signature = StatSignature(*source) if source else None
        rows = ((path, *row) for path, row in files.items())
        blobs = {
            path: UntrackedBlob(oid, mode, StatSignature(*stat_row), is_settled)
            for path, oid, mode, stat_row, is_settled in rows
        }
        paths = tuple(map(str, untracked)), str(tree), tuple(map(str, missing))
        return IndexState(signature, str(head), *paths, blobs, dict(flags))
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def _get_state_path(worktree: Worktree) -> Path:
    return worktree.index_file.with_name(f"{worktree.index_file.name}.json")


def _read_signature(worktree: Worktree) -> StatSignature | None:
    try:
        return StatSignature.from_stat((find_git_dir(worktree.toplevel) / "index").stat())
    except OSError:
        return None


def _copy_user_index(worktree: Worktree) -> StatSignature | None:
    """Copy the person's index with its time: git compares those of files with it."""
    try:
        worktree.index_file.parent.mkdir(parents=True, exist_ok=True)
        _remove(worktree.index_file)
        index = find_git_dir(worktree.toplevel) / "index"
        with suppress(FileNotFoundError), index.open("rb") as source:
            status = os.fstat(source.fileno())
            with worktree.index_file.open("wb") as target:
                shutil.copyfileobj(source, target)
            os.utime(worktree.index_file, ns=(status.st_atime_ns, status.st_mtime_ns))
            return StatSignature.from_stat(status)
    except OSError as error:
        reason = describe_os_error(error)
        raise CubError(f"cub's index of this checkout can't be made: {reason}") from error
    return None


def _remove(index: Path) -> None:
    for path in (index, index.with_name(f"{index.name}.lock")):
        path.unlink(missing_ok=True)
