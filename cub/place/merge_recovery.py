"""Finish a merge into the person's checkout that was interrupted, or take it back.

Once the branch is moved, the merge is finished; before that, it is taken back: a file that equals
the commit's, is missing, or is a true prefix of it is the merge's, and all else is the person's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from cub.git.process import decode_output, join_nul, run_git, try_git
from cub.git.worktree import get_file_type
from cub.place.checkout import Checkout
from cub.place.fast_forward import (
    GITLINK,
    Change,
    advance_entries,
    find_blocking_parent,
    list_changes,
)
from cub.place.locked_index import (
    FastForward,
    LockedIndex,
    is_same,
    list_differing,
    read_index_entries,
    write_index_entries,
)

_SLACK = 1.0  # seconds by which clocks of files and of processes may differ
_PATIENCE = 0.5  # seconds: another git holds a lock for milliseconds
_STEP = 0.02


def finish_interrupted_merge(checkout: Checkout, patience: float = 2.0) -> bool:
    """Finish or take back the merge that a killed process left, if there is one.

    Return False while another git may be in the way.
    """
    index = LockedIndex(checkout)
    noted = index.read_mark()
    if noted is None:
        return True
    merge, is_writing = noted
    remove_stale_locks(checkout, merge.ref, merge.started)
    if not index.acquire(patience):
        return False
    try:
        if is_writing:
            settle_merge(index, merge, is_writer=False)
        else:
            index.release(merge)
    except BaseException:
        index.release_lock()
        raise
    return True


def remove_stale_locks(checkout: Checkout, ref: str, since: float) -> None:
    """Remove the locks of the index, of HEAD and of `ref` that were made after `since` (seconds
    since 1970), last for half a second, and can't be those of a git at work.
    """
    files = {checkout.git_dir / "HEAD", checkout.common_dir / ref}
    names = [LockedIndex(checkout).lock, *(file.with_name(f"{file.name}.lock") for file in files)]
    deadline = time.monotonic() + _PATIENCE
    while locks := [lock for lock in names if _get_time_made(lock) >= since - _SLACK]:
        if time.monotonic() < deadline:
            time.sleep(_STEP)
            continue
        for lock in locks if not _is_git_at_work(checkout) else ():
            with suppress(OSError):
                lock.unlink()
        return


def settle_merge(index: LockedIndex, merge: FastForward, *, is_writer: bool) -> bool:
    """Finish a merge whose branch is moved, else take it back; return whether it is merged.

    The index must be locked, and is not any more afterwards. `is_writer`: it has been locked since
    before a file was written, so that only a commit can have moved the branch. Else, if HEAD has
    left the commit that the merge started from, the files are the person's, and stay.
    """
    top = index.checkout.toplevel
    if is_merged := read_commit(top, merge.ref) == merge.commit:
        index.copy_index()
        advance_entries(index, merge.old, merge.commit)
        try_git(top, "update-index", "-q", "--refresh", environ=index.environ)
        index.install()
    else:
        if is_writer or read_commit(top, "HEAD") == merge.old:
            _take_back_files(top, merge)
        index.release(merge)
    return is_merged


def read_commit(toplevel: Path, ref: str) -> str:
    """Return the commit of a ref; "" if there is none."""
    words = ("rev-parse", "--quiet", "--verify", f"{ref}^{{commit}}")
    return decode_output(try_git(toplevel, *words).stdout).strip()


def _get_time_made(lock: Path) -> float:
    try:
        status = lock.lstat()
    except OSError:
        return 0.0
    return max(status.st_mtime, status.st_ctime)  # only the first can be set at will


def _is_git_at_work(checkout: Checkout) -> bool:
    """Return whether this user started a git in the work tree or the repository that still runs."""
    from psutil import STATUS_ZOMBIE, Error, process_iter

    roots = (Path(os.path.realpath(checkout.toplevel)), checkout.git_dir, checkout.common_dir)
    for process in process_iter():
        try:
            if not process.name().startswith("git") or process.status() == STATUS_ZOMBIE:
                continue
            folder = Path(os.path.realpath(process.cwd()))
        except (Error, OSError):  # it has gone, or is none of ours
            continue
        if any(map(folder.is_relative_to, roots)):
            return True
    return False


def _take_back_files(toplevel: Path, merge: FastForward) -> None:
    """Make what the merge has written what it was."""
    changes = list_changes(toplevel, merge.start, merge.commit)
    staged = read_index_entries(toplevel, [change.path for change in changes])
    changes = tuple(
        c
        for c in changes
        if c.path not in merge.own_paths
        and GITLINK not in (c.old_mode, c.mode)
        and not is_same(staged.get(c.path), c.mode, c.oid)
    )
    for change in _select_written(toplevel, changes):
        (toplevel / change.path).unlink(missing_ok=True)
    for change in changes:
        if not find_blocking_parent(toplevel, change.path):
            _remove_empty_parents(toplevel, change.path)
    sparse = {path for path, entry in staged.items() if entry.is_sparse}
    _restore_missing(toplevel, [c for c in changes if c.old_mode and c.path not in sparse])


def _select_written(toplevel: Path, changes: Sequence[Change]) -> list[Change]:
    """Return the changes whose file is on disk as the merge wrote it, whole or in part."""
    new = list_differing(toplevel, [(c.path, c.mode, c.oid) for c in changes])
    old = list_differing(toplevel, [(c.path, c.old_mode, c.old_oid) for c in changes])
    here = [c for c in changes if c.mode and not find_blocking_parent(toplevel, c.path)]
    whole = [c for c in here if c.path not in new]
    others = [c for c in changes if c.path in new and c.path in old]
    others = [c for c in others if get_file_type(toplevel, c.path)]
    parts = [c for c in others if _is_part(toplevel, c.path, c.mode, c.oid)]
    # A kill while files are taken back leaves a part of the old content.
    backs = [c for c in others if _is_part(toplevel, c.path, c.old_mode, c.old_oid)]
    # git writes one file after the other, so only one can be half written.
    return whole + [c for found in (parts, backs) if len(found) == 1 for c in found]


def _is_part(toplevel: Path, path: str, mode: str, oid: str) -> bool:
    """Return whether the file is a true prefix of what git writes there for this object."""
    file = toplevel / path
    if not mode.startswith("100") or file.is_symlink() or not file.is_file():
        return False
    words = ("cat-file", "--filters", f"--path={path}", oid)
    whole = run_git(toplevel, *words)
    size = file.stat().st_size
    return size < len(whole) and file.read_bytes() == whole[:size]


def _remove_empty_parents(toplevel: Path, path: str) -> None:
    for parent in (toplevel / path).parents:
        if parent == toplevel or not _remove_folder(parent):
            return


def _remove_folder(folder: Path) -> bool:
    """Remove a folder; return False, and keep it, if it has something in it or is a link."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True  # an outer one may be there
    except OSError:
        return False
    return True


def _restore_missing(toplevel: Path, changes: Sequence[Change]) -> None:
    """Write the files of before that are missing, where nothing of the person's is in the way."""
    missing = [
        c
        for c in changes
        if not os.path.lexists(toplevel / c.path) and not find_blocking_parent(toplevel, c.path)
    ]
    if not missing:
        return
    with TemporaryDirectory() as folder:
        environ = {"GIT_INDEX_FILE": f"{folder}/index"}
        entries = [(c.path, c.old_mode, c.old_oid) for c in missing]
        write_index_entries(toplevel, entries, environ)
        words = ("checkout-index", "-q", "-z", "--stdin")
        stdin = join_nul(c.path for c in missing)
        run_git(toplevel, *words, stdin=stdin, environ=environ)
