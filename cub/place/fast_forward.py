"""Bring the person's checkout from one commit to a later one, or leave it exactly as it is.

This is `git merge --ff-only --no-overwrite-ignore` on a copy of the index, which is the lock file
itself: what blocks is found before anything is written. Files that cub keeps, and changes of the
person's that cub has committed, are brought into that copy first, so that they do not block.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cub.git.process import decode_output, run_git, split_nul, try_git
from cub.git.worktree import get_file_type
from cub.place.checkout import Checkout

GITLINK = "160000"
_STEP = 0.02  # seconds between two looks at a lock
_MAX_ARGUMENTS = 500  # paths on a command line
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


class IndexEntry(NamedTuple):
    """Hold an entry of the index, and whether the file is left out of a sparse checkout."""

    mode: str
    oid: str
    is_sparse: bool


@dataclass(frozen=True, slots=True)
class FastForward:
    """Hold what is to be merged: `ref` (HEAD if detached) goes from the commit `old` to `commit`.

    The files go from `start`: `old`, or the commit that cub made of the person's changes on it.
    Nothing is written at `own_paths`, which cub itself has written already.
    """

    ref: str
    old: str
    commit: str
    start: str
    own_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LockedIndex:
    """Hold the lock of the person's index, which becomes the next index as git's own does.

    A mark beside it says what is being merged, and whether files are being written, so that a later
    process can finish what a kill interrupted.
    """

    checkout: Checkout

    @property
    def index(self) -> Path:
        """Return the person's index."""
        return Path(os.path.realpath(self.checkout.git_dir / "index"))

    @property
    def lock(self) -> Path:
        """Return git's lock of it."""
        return self.index.with_name("index.lock")

    @property
    def mark(self) -> Path:
        """Return the file that says what is being merged."""
        return self.checkout.git_dir / "cub-merge.json"

    @property
    def environ(self) -> dict[str, str]:
        """Return the variable that makes git use the copy."""
        return {"GIT_INDEX_FILE": os.fspath(self.lock)}

    def write_mark(self, merge: FastForward, *, is_writing: bool) -> None:
        """Note a merge, before the lock is taken, and again before a file is written."""
        value = {**asdict(merge), "is_writing": is_writing, "time": time.time()}
        new = self.mark.with_name("cub-merge.new")
        new.write_text(json.dumps(value), encoding="utf-8")
        new.replace(self.mark)

    def acquire(self, patience: float) -> bool:
        """Lock the index and copy it; return False if another git keeps the lock."""
        deadline = time.monotonic() + patience
        while True:
            try:
                os.close(os.open(self.lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            except FileExistsError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(_STEP)
            else:
                break
        try:
            self.copy_index()
        except BaseException:
            self.release_lock()
            raise
        return True

    def copy_index(self) -> None:
        """Make the copy what the index is; its time says which files git has to read again."""
        self._remove_inner_lock()
        with suppress(FileNotFoundError):
            shutil.copy2(self.index, self.lock)

    def install(self) -> None:
        """Make the copy the person's index, and end the lock."""
        self.lock.replace(self.index)

    def release_lock(self) -> None:
        """End the lock; the index stays as it is."""
        self._remove_inner_lock()
        self.lock.unlink(missing_ok=True)

    def release(self) -> None:
        """End the lock and remove the mark: nothing is left to finish."""
        self.release_lock()
        self.mark.unlink(missing_ok=True)

    def _remove_inner_lock(self) -> None:
        """Remove the lock of the copy, which only a killed git of cub's can have left."""
        self.lock.with_name("index.lock.lock").unlink(missing_ok=True)


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


def read_index_entries(
    toplevel: Path, paths: Sequence[str], environ: Mapping[str, str] | None = None
) -> dict[str, IndexEntry]:
    """Return the entries of the index at some paths."""
    entries, wanted = {}, set(paths)
    variables = {**(environ or {}), "GIT_LITERAL_PATHSPECS": "1"}
    for start in range(0, len(paths), _MAX_ARGUMENTS):
        some = paths[start : start + _MAX_ARGUMENTS]
        words = ("ls-files", "-t", "--stage", "-z", "--", *some)
        for line in split_nul(run_git(toplevel, *words, environ=variables)):
            description, _, path = line.partition("\t")
            tag, mode, oid, _ = description.split(" ")
            if path in wanted:
                entries[path] = IndexEntry(mode, oid, tag == "S")
    return entries


def write_index_entries(
    toplevel: Path, entries: Iterable[tuple[str, str, str]], environ: Mapping[str, str]
) -> None:
    """Set entries of an index (path, mode, oid; mode "" removes), whatever the files are."""
    lines = [f"{mode or 0} {oid}\t{path}\0" for path, mode, oid in entries]
    data = "".join(lines).encode("utf-8", "surrogateescape")
    run_git(toplevel, "update-index", "-z", "--index-info", stdin=data, environ=environ)


def is_same(entry: IndexEntry | None, mode: str, oid: str) -> bool:
    """Return whether an entry holds this object; mode "" means that there is none."""
    return (entry.mode, entry.oid) == (mode, oid) if entry else not mode


def find_operation(checkout: Checkout) -> str:
    """Return which merge or the like the person has not ended yet; "" for none."""
    names = (name for name in _OPERATIONS if os.path.lexists(checkout.git_dir / name))
    return _OPERATIONS.get(next(names, ""), "")


def prepare_index(index: LockedIndex, merge: FastForward) -> None:
    """Bring into the copy of the index what is on disk already: cub's own files, and changes of the
    person's that `start` holds.

    An entry that the person staged since stays, unless the file is as in `start`.
    """
    top = index.checkout.toplevel
    entries = []
    if merge.start != merge.old:
        changes = list_changes(top, merge.old, merge.start)
        staged = read_index_entries(top, [change.path for change in changes])
        others = [c for c in changes if not is_same(staged.get(c.path), c.old_mode, c.old_oid)]
        edited = list_differing(top, [(c.path, c.mode, c.oid) for c in others])
        entries = [(c.path, c.mode, c.oid) for c in changes if c.path not in edited]
    if merge.own_paths:
        own = set(merge.own_paths)
        changes = list_changes(top, merge.old, merge.commit)
        entries += [(c.path, c.mode, c.oid) for c in changes if c.path in own]
    if entries:
        write_index_entries(top, entries, index.environ)


def list_differing(toplevel: Path, entries: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Return the paths that are not on disk as these entries (path, mode, oid) say.

    The letter is git's: D if there is no such file. Mode "" asks that there is none.
    """
    from tempfile import TemporaryDirectory

    differing = {path: "A" for path, mode, _ in entries if not mode and _exists(toplevel, path)}
    files = [entry for entry in entries if entry[1]]
    if not files:
        return differing
    with TemporaryDirectory() as folder:
        environ = {"GIT_INDEX_FILE": os.path.join(folder, "index")}  # noqa: PTH118
        write_index_entries(toplevel, files, environ)
        try_git(toplevel, "update-index", "-q", "--refresh", environ=environ)
        words = ("diff-files", "-z", "--name-status", "--no-ext-diff")
        fields = split_nul(run_git(toplevel, *words, environ=environ))
    return differing | dict(zip(fields[1::2], fields[::2], strict=True))


def find_obstacle(index: LockedIndex, merge: FastForward) -> str:
    """Return why the checkout can't be brought to the commit without loss; "" if it can."""
    top = index.checkout.toplevel
    own = set(merge.own_paths)
    changes = [c for c in list_changes(top, merge.start, merge.commit) if c.path not in own]
    suspects = {path: change for change in changes for path in _find_suspects(top, change)}
    tracked = read_index_entries(top, list(suspects), index.environ) if suspects else {}
    for path, change in suspects.items():
        if not _is_justified(top, path, change, tracked.get(path)):
            return _describe_obstacle(top, path)
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
    names = path.split("/")
    for parent in ("/".join(names[:n]) for n in range(1, len(names))):
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
    words = "is in the way" if _exists(toplevel, path) else "is deleted in your checkout"
    return f"{path} {words}"


def _describe_refusal(stderr: bytes) -> str:
    text = decode_output(stderr)
    if match := _REFUSAL.search(text):
        return f"your changes to {match[1]} are in the way"
    lines = text.strip().splitlines() or ["git refused without a reason"]
    return lines[0].removeprefix("error: ").removeprefix("fatal: ")
