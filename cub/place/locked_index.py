"""Hold the lock of the person's index during a merge, and read and write entries of an index."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cub.git.process import join_nul, run_git, split_nul, try_git
from cub.git.worktree import get_file_type
from cub.place.checkout import Checkout

_STEP = 0.02  # seconds between two looks at a lock


@dataclass(frozen=True, slots=True)
class FastForward:
    """Hold what is to be merged: `ref` (HEAD if detached) goes from the commit `old` to `commit`.

    The files go from `start`: `old`, or the commit that cub made of the person's changes on it.
    Nothing is written at `own_paths`, which cub itself has written already. `started` is in seconds
    since 1970: a lock that is older is not ours.
    """

    ref: str
    old: str
    commit: str
    start: str
    own_paths: tuple[str, ...] = ()
    started: float = field(default_factory=time.time)


class IndexEntry(NamedTuple):
    """Hold an entry of the index, and whether the file is left out of a sparse checkout."""

    mode: str
    oid: str
    is_sparse: bool


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
        value = {"merge": asdict(merge), "is_writing": is_writing}
        new = self.mark.with_name("cub-merge.new")
        new.write_text(json.dumps(value), encoding="utf-8")
        new.replace(self.mark)

    def read_mark(self) -> tuple[FastForward, bool] | None:
        """Return a merge that was noted, and whether it was writing; None if there is none."""
        try:
            value = json.loads(self.mark.read_bytes())
            fields = {**value["merge"], "own_paths": tuple(value["merge"]["own_paths"])}
            return FastForward(**fields), value["is_writing"]
        except (FileNotFoundError, ValueError, KeyError, TypeError):  # a power cut empties files
            return None

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
        """Make the copy the person's index, which ends the lock, and remove the mark."""
        self.lock.replace(self.index)
        self.mark.unlink()

    def release_lock(self) -> None:
        """End the lock; the index stays as it is."""
        self._remove_inner_lock()
        self.lock.unlink(missing_ok=True)

    def release(self, merge: FastForward) -> None:
        """End the lock and remove the mark: nothing is left to finish.

        The mark says so before the lock ends: from then on, what is on disk may be the person's.
        """
        self.write_mark(merge, is_writing=False)
        self.release_lock()
        self.mark.unlink()

    def _remove_inner_lock(self) -> None:
        """Remove the lock of the copy, which only a killed git of cub's can have left."""
        self.lock.with_name("index.lock.lock").unlink(missing_ok=True)


def read_index_entries(
    toplevel: Path, paths: Iterable[str], environ: Mapping[str, str] | None = None
) -> dict[str, IndexEntry]:
    """Return the entries of the index at some paths."""
    entries, wanted = {}, set(paths)
    for line in split_nul(run_git(toplevel, "ls-files", "-t", "--stage", "-z", environ=environ)):
        description, _, path = line.partition("\t")
        if path in wanted:
            tag, mode, oid, _ = description.split(" ")
            entries[path] = IndexEntry(mode, oid, tag == "S")
    return entries


def write_index_entries(
    toplevel: Path, entries: Iterable[tuple[str, str, str]], environ: Mapping[str, str]
) -> None:
    """Set entries of an index (path, mode, oid; mode "" removes), whatever the files are."""
    if data := join_nul(f"{mode or 0} {oid}\t{path}" for path, mode, oid in entries):
        run_git(toplevel, "update-index", "-z", "--index-info", stdin=data, environ=environ)


def is_same(entry: IndexEntry | None, mode: str, oid: str) -> bool:
    """Return whether an entry holds this object; mode "" means that there is none."""
    return (entry.mode, entry.oid) == (mode, oid) if entry else not mode


def list_differing(toplevel: Path, entries: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Return the paths that are not on disk as these entries (path, mode, oid) say.

    The letter is git's: D if there is no such file. Mode "" asks that there is none.
    """
    differing = {
        path: "A" for path, mode, _ in entries if not mode and get_file_type(toplevel, path)
    }
    files = [entry for entry in entries if entry[1]]
    if not files:
        return differing
    with TemporaryDirectory() as folder:
        environ = {"GIT_INDEX_FILE": f"{folder}/index"}
        write_index_entries(toplevel, files, environ)
        try_git(toplevel, "update-index", "-q", "--refresh", environ=environ)
        words = ("diff-files", "-z", "--name-status", "--no-ext-diff")
        fields = split_nul(run_git(toplevel, *words, environ=environ))
    return differing | dict(zip(fields[1::2], fields[::2], strict=True))
