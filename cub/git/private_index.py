"""cub's own index of a checkout: a copy of the person's, with what it was made from noted beside.

It is kept from one look to the next, so that files which did not change are not read again. What
an attempt may have written into the person's index is never taken over: it could hide an edit.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cub.errors import CubError
from cub.git.lock_files import is_folder_lock
from cub.git.process import join_nul, run_git
from cub.git.snapshot import Snapshot
from cub.git.untracked_blobs import UntrackedBlob
from cub.git.worktree import Worktree, find_git_dir
from cub.git.worktree_status import list_flagged_paths
from cub.text import describe_os_error

_PATIENCE = 2.0  # seconds: somebody else's git holds a lock for milliseconds
_ADD = ("--add", "--remove", "--replace", "--ignore-skip-worktree-entries")


@dataclass(frozen=True, slots=True)
class IndexState:
    """What the index was copied from, and what has been added to it since; `blobs` byte for byte.
    Of a fresh copy, `known_blobs` is what was `blobs` in the one before.
    """

    source: tuple[int, ...] = ()
    head: str = ""
    untracked_paths: tuple[str, ...] = ()
    tree: str = ""
    missing_paths: tuple[str, ...] = ()
    blobs: Mapping[str, UntrackedBlob] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    is_fresh: bool = False
    known_blobs: Mapping[str, UntrackedBlob] = field(default_factory=dict)


def make_index_environment(worktree: Worktree) -> dict[str, str]:
    """What makes git use this index."""
    return {"GIT_INDEX_FILE": str(worktree.index_file)}


def open_index(worktree: Worktree, base: Snapshot | None, *, rebuild: bool = False) -> IndexState:
    """Have the index ready: the one of last time, or a fresh copy if the person's has changed.

    `base` an attempt began, the person's is not looked at: if the last one is lost, it is made
    anew from that snapshot.

    The note is taken away meanwhile, so that a crash leads to a fresh one.
    """
    note = _read_state(worktree)
    _get_state_path(worktree).unlink(missing_ok=True)
    if (
        note is not None
        and not rebuild
        and _is_there(worktree)
        and (base or not has_user_index_changed(worktree, note))
    ):
        return note
    if base and base.flagged_paths is not None:
        return _build_index(worktree, base)
    source, known = _copy_user_index(worktree), {} if note is None or rebuild else note.blobs
    flags = list_flagged_paths(worktree, worktree.index_file, make_index_environment(worktree))
    return IndexState(source, flags=flags, is_fresh=True, known_blobs=known)


def has_user_index_changed(worktree: Worktree, state: IndexState) -> bool:
    """Whether the person's index is another one than that which ours was copied from."""
    return state.source != _signature(worktree)


def read_untracked_blobs(worktree: Worktree) -> Mapping[str, UntrackedBlob]:
    """What was found of untracked files at the last look."""
    note = _read_state(worktree)
    return note.blobs if note else {}


def discard_index(worktree: Worktree) -> None:
    """Have the index made anew for the next look."""
    _get_state_path(worktree).unlink(missing_ok=True)
    _remove(worktree.index_file)


def reset_user_index(worktree: Worktree, *, ends_operations: bool = False) -> None:
    """Make the person's index hold what HEAD does; no file changes, nor what git is amid, unless
    that `ends_operations`, such as a merge.

    What it knows of files is what cub has seen, and not what an attempt may have written there. It
    changes in one step: ours has files that are untracked, and a crash must not leave them staged.

    Raises CubError while another git holds the lock, or a folder has its name.
    """
    words = ("reset", "--quiet", *(() if ends_operations else ("--", ".")))
    copy = worktree.index_file.with_name(f"{worktree.index_file.name}.reset")
    try:
        _remove(copy)
        found = worktree.index_file.stat()
        shutil.copyfile(worktree.index_file, copy)
        # Files that changed after that may have been noted too early: git reads those again.
        os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))
    except FileNotFoundError:  # nobody has looked, so there was no attempt
        run_git(worktree.toplevel, *words)
        return
    except OSError as error:
        raise CubError(f"git's index can't be copied: {_reason(error)}") from error
    run_git(worktree.toplevel, *words, environ={"GIT_INDEX_FILE": str(copy)})
    _install(copy, find_git_dir(worktree.toplevel) / "index")
    _remove(copy)


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
            found = source.stat()
            os.utime(lock, ns=(found.st_atime_ns, found.st_mtime_ns))
            lock.replace(target)
        except OSError:
            lock.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CubError(
            f"git's index can't be written: {_reason(error)}", where=lock.as_posix()
        ) from error


def _take_lock(lock: Path) -> int:
    """Make the lock of the index, once nobody else has it; its handle."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError as error:
            if is_folder_lock(lock):
                raise CubError(
                    "git's index can't be written: a folder stands where git makes its lock",
                    where=lock.as_posix(),
                    hint="move it away",
                ) from error
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.02)


def _build_index(worktree: Worktree, base: Snapshot) -> IndexState:
    """The index of a snapshot; git has to read all files again."""
    _remove(worktree.index_file)
    worktree.index_file.parent.mkdir(parents=True, exist_ok=True)
    run_git(worktree.toplevel, "read-tree", base.tree, environ=make_index_environment(worktree))
    flags = dict.fromkeys(base.flagged_paths or (), True)
    if flags:
        words = ("update-index", "--skip-worktree", "-z", "--stdin")
        run_git(
            worktree.toplevel,
            *words,
            stdin=join_nul(flags),
            environ=make_index_environment(worktree),
        )
    return IndexState((), base.head, base.untracked_paths, base.tree, base.missing_paths, {}, flags)


def save_index_state(worktree: Worktree, state: IndexState) -> None:
    """Note how it was left."""
    state = replace(state, is_fresh=False, known_blobs={})
    value = [
        state.source,
        state.head,
        state.untracked_paths,
        state.tree,
        state.missing_paths,
        state.blobs,
        state.flags,
    ]
    _get_state_path(worktree).write_text(json.dumps(value), encoding="utf-8")


def stage_files(
    worktree: Worktree, there: Sequence[str], gone: Sequence[str], environ: Mapping[str, str] | None
) -> None:
    """Make an index (the person's without `environ`) hold files as they are, ignored or not.

    Paths that are gone are taken out of it, and passed over if it does not have them.
    """
    # update-index obeys its options in turn. What goes makes room for what comes.
    for paths, options in ((gone, ("--force-remove",)), (there, _ADD)):
        if paths:
            words = ("update-index", *options, "-z", "--stdin")
            run_git(worktree.toplevel, *words, stdin=join_nul(paths), environ=environ)


def stage_objects(
    worktree: Worktree,
    objects: Mapping[str, tuple[str, str]],
    gone: Sequence[str],
    environ: Mapping[str, str] | None,
) -> None:
    """Make an index hold objects, whatever the files are, each by its path, mode and object id."""
    if not objects:
        stage_files(worktree, [], gone, environ)
        return
    nothing = "0" * len(next(iter(objects.values()))[1])
    rows = [f"0 {nothing}\t{path}" for path in gone]
    rows += [f"{mode} {oid}\t{path}" for path, (mode, oid) in objects.items()]
    run_git(
        worktree.toplevel,
        "update-index",
        "-z",
        "--index-info",
        stdin=join_nul(rows),
        environ=environ,
    )


def _read_state(worktree: Worktree) -> IndexState | None:
    try:
        value = json.loads(_get_state_path(worktree).read_bytes())
        source, head, untracked, tree, absent, files, flags = value
        raw = {path: _parse_blob(*file) for path, file in files.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    words = tuple(map(_text, untracked)), _text(tree), tuple(map(_text, absent))
    return IndexState(tuple(source), _text(head), *words, raw, dict(flags))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _parse_blob(
    oid: str, mode: int, times: list[int], size: int, inode: int, settled: bool
) -> UntrackedBlob:
    return UntrackedBlob(oid, mode, (times[0], times[1]), size, inode, settled)


def _get_state_path(worktree: Worktree) -> Path:
    return worktree.index_file.with_name(f"{worktree.index_file.name}.json")


def _is_there(worktree: Worktree) -> bool:
    return worktree.index_file.exists() or not _signature(worktree)


def _signature(worktree: Worktree) -> tuple[int, ...]:
    try:
        found = (find_git_dir(worktree.toplevel) / "index").stat()
    except OSError:
        return ()
    return _make_signature(found)


def _make_signature(found: os.stat_result) -> tuple[int, ...]:
    return found.st_mtime_ns, found.st_size, found.st_ino


def _copy_user_index(worktree: Worktree) -> tuple[int, ...]:
    """Copy the person's index; git compares times with its own, so the copy keeps that."""
    try:
        worktree.index_file.parent.mkdir(parents=True, exist_ok=True)
        _remove(worktree.index_file)
        with (
            suppress(FileNotFoundError),
            (find_git_dir(worktree.toplevel) / "index").open("rb") as source,
        ):
            found = os.fstat(source.fileno())
            with worktree.index_file.open("wb") as target:
                shutil.copyfileobj(source, target)
            os.utime(worktree.index_file, ns=(found.st_atime_ns, found.st_mtime_ns))
            return _make_signature(found)
    except OSError as error:
        raise CubError(f"cub's index of this checkout can't be made: {_reason(error)}") from error
    return ()


def _remove(index: Path) -> None:
    for path in (index, index.with_name(f"{index.name}.lock")):
        path.unlink(missing_ok=True)


def _reason(error: OSError) -> str:
    return describe_os_error(error)
