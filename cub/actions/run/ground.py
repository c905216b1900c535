"""The files that attempts work on: a checkout of git's, or a folder without git."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cub import git
from cub.errors import name_first
from cub.files.regular import read_start
from cub.git import branches, own_settings
from cub.git.checkout import Checkout
from cub.git.committing import Announce, Checked
from cub.git.entries import Copies
from cub.git.ignored_files import Lost
from cub.git.locked import remove_stale_locks
from cub.git.snapshot import FileChange, Snapshot
from cub.git.untracked import Restored as RestoredUntracked
from cub.processes.command import Limits
from cub.store.place import ARCHIVE, LEDGER, REJECTED, TASKS

STORES = (TASKS, REJECTED, LEDGER, ARCHIVE)
_LOCAL = (
    ".cub/state.json", ".cub/journal.jsonl", ".cub/lock", ".cub/runs/", ".cub/worktrees/",
    ".cub/cache/", ".cub/logs/", ".cub/backups/",
)  # fmt: skip

_MANY = 5  # files that are named
# In an attempt's folder.
UNTRACKED, IGNORED = "untracked.patch", "ignored"


class Saved(NamedTuple):
    """What became of an accepted attempt's files: the commit that holds them, or why none does."""

    head: str = ""
    failure: str = ""


class PutBack(NamedTuple):
    """What was put back of the person's: `files` that git does not know; what there is to tell."""

    files: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


class Ground(Protocol):
    """Where a client works. What `snapshot` gives is the ground's own; `.tree` names it."""

    @property
    def folder(self) -> Path:
        """Where clients and checks are started."""

    @property
    def top(self) -> Path:
        """The top of the checkout, or the folder itself."""

    def snapshot(self, since: Any = None) -> Any:
        """How the files are now; after an attempt, `since` is how they were before it."""

    def changes(self, before: Any, after: Any) -> list[FileChange]:
        """What is different."""

    def read(self, path: str, most: int) -> bytes:
        """Read a changed file as it is now; b"" for one that is larger, or no regular file."""

    def read_before(self, before: Any, path: str) -> bytes:
        """Read a changed file as it was; where nobody kept that, what is there now."""

    def told(self, before: Any, after: Any) -> dict[str, Any]:
        """What the ledger is told of a change."""

    def patch(self, before: Any, after: Any, into: Path) -> bool:
        """Keep a change as a file; whether there was one to keep."""

    def keep(self, before: Any, ignored: int) -> list[str]:
        """Have a copy of what git keeps, and of up to `ignored` bytes of the files that it ignores,
        out of an attempt's reach; what there is to tell.
        """

    def repair_repository(self, aside: Path) -> str:
        """Put back what is missing of it; what was wrong, "" if nothing was. What stands in its
        place is moved `aside`.
        """

    def settings(self) -> Any:
        """What decides how git behaves."""

    def restore_settings(self, before: Any, aside: Path) -> list[str]:
        """Put back what decides that; the names of what differed, which is kept in `aside`."""

    def remove_stale_locks(self, since: float) -> None:
        """Take away what a process that was ended left locked; none of them is there any more."""

    def restore_persons(
        self, before: Any, aside: Path, spared: Collection[str] = (), *, rights: bool = False
    ) -> PutBack:
        """Put back what is the person's alone, whatever comes of the attempt; what it had made of
        that is kept in `aside`. Files that are `spared` are the work of other attempts. `rights`
        are the permissions of all files, which take time to look at.
        """

    def make_room(self, before: Any) -> list[str]:
        """Remove the files that an attempt has made, for a full disk; what there is to tell."""

    def unstage(self) -> None:
        """Have nothing staged, and nothing else in git's index that an attempt wrote."""

    def moved(self, before: Any, after: Any) -> str:
        """Whether somebody committed meanwhile: "", "forward", or "away" from where it began."""

    def settle(self, before: Any) -> list[str]:
        """Take over commits that were made meanwhile, on the branch of before, but for those that
        hold what is the person's alone; what there is to tell about it.
        """

    def unreachable(self, before: Any, after: Any) -> list[str]:
        """Changes that no commit of this ground can hold: those inside of submodules."""

    def restore(self, before: Any, now: Any, spared: Collection[str] = ()) -> list[str]:
        """Put the files back, but for those `spared`; what there is to tell about it."""

    def head(self, before: Any, after: Any) -> str:
        """The commit that is checked out when an attempt has been taken over; "" for none."""

    def commit(
        self,
        before: Any,
        after: Any,
        message: str,
        limits: Limits,
        announce: Announce | None = None,
    ) -> Saved:
        """Commit what an attempt changed, as it was in `after`, and what the stores say by now.

        `announce` is told the parent and the tree of the commit before it is made.
        """

    def commit_stores(self, message: str, limits: Limits) -> Saved:
        """Commit the stores alone."""


@dataclass(frozen=True, slots=True)
class GitGround:
    """A checkout. `along` are the stores that go with its commits; `environ` is for hooks, and
    `copies` are of large files among git's settings.
    """

    folder: Path
    checkout: Checkout
    along: tuple[str, ...]
    environ: Mapping[str, str]
    copies: Copies = field(default_factory=Copies, compare=False)

    @property
    def top(self) -> Path:
        """See `Ground`."""
        return self.checkout.top

    def snapshot(self, since: Snapshot | None = None) -> Snapshot:
        """See `Ground`."""
        return self.checkout.snapshot(since)

    def changes(self, before: Snapshot, after: Snapshot) -> list[FileChange]:
        """See `Ground`."""
        return self.checkout.changes(before, after)

    def read(self, path: str, most: int) -> bytes:
        """See `Ground`."""
        return read_whole(self.checkout.top, path, most)

    def read_before(self, before: Snapshot, path: str) -> bytes:
        """See `Ground`."""
        with git.Objects(self.checkout.top) as objects:
            found = objects.get(f"{before.tree}:{path}")
        return found.data if found else b""

    def told(self, before: Snapshot, after: Snapshot) -> dict[str, Any]:
        """See `Ground`."""
        changed = self.changes(before, after)
        added, removed = self.checkout.counts(before, after) if changed else (0, 0)
        names = [one.path.encode("utf-8", "replace").decode() for one in changed]
        return {"base": before.head, "files": names, "ins": added, "del": removed}

    def patch(self, before: Snapshot, after: Snapshot, into: Path) -> bool:
        """See `Ground`."""
        return self.checkout.write_patch(before, after, into)

    def keep(self, before: Snapshot, ignored: int) -> list[str]:
        """See `Ground`."""
        self.checkout.keep_ignored(before, ignored)
        return self.checkout.keep_repository()

    def repair_repository(self, aside: Path) -> str:
        """See `Ground`."""
        return self.checkout.repair_repository(aside)

    def settings(self) -> own_settings.Settings:
        """See `Ground`."""
        return own_settings.read_settings(
            self.checkout.top, self.copies, self.checkout.index.parent
        )

    def restore_settings(self, before: own_settings.Settings, aside: Path) -> list[str]:
        """See `Ground`."""
        return own_settings.restore_settings(before, aside)

    def remove_stale_locks(self, since: float) -> None:
        """See `Ground`."""
        remove_stale_locks(self.checkout.top, since)

    def restore_persons(
        self, before: Snapshot, aside: Path, spared: Collection[str] = (), *, rights: bool = False
    ) -> PutBack:
        """See `Ground`."""
        said = self.checkout.restore_refs(before)
        said += _told_rights(self.checkout.restore_rights(before) if rights else [])
        done = self.checkout.restore_untracked(before, aside / UNTRACKED, spared)
        said += _told_untracked(done, has_patch=(aside / UNTRACKED).exists())
        said += _told_ignored(self.checkout.restore_ignored(aside / IGNORED))
        return PutBack(done.files, tuple(said))

    def make_room(self, before: Snapshot) -> list[str]:
        """See `Ground`."""
        gone = self.checkout.remove_new_files(before)
        return [f"{path} was removed: the disk was full" for path in gone[:_MANY]]

    def unstage(self) -> None:
        """See `Ground`."""
        self.checkout.unstage()

    def moved(self, before: Snapshot, after: Snapshot) -> str:
        """See `Ground`."""
        if (before.head, before.branch) == (after.head, after.branch):
            return ""
        return self.checkout.took_over(before)

    def settle(self, before: Snapshot) -> list[str]:
        """See `Ground`."""
        kept, private = self.checkout.settle(before)
        if not private:
            return []
        what = f"the agent's commits held {name_first(private)}, which git did not know before"
        where = f"are kept as {', '.join(kept)}" if kept else "are on another branch"
        return [f"{what}: the run commits their work without it, and they {where}"]

    def unreachable(self, before: Snapshot, after: Snapshot) -> list[str]:
        """See `Ground`."""
        return list(self.checkout.submodules_with_changes(before, after))

    def restore(self, before: Snapshot, now: Snapshot, spared: Collection[str] = ()) -> list[str]:
        """See `Ground`."""
        done = self.checkout.restore(before, now, spared)
        kept = [f"the agent's commits are kept as {ref}" for ref in done.kept]
        return kept + [f"{path} could not be put back" for path in done.failed]

    def head(self, before: Snapshot, after: Snapshot) -> str:
        """See `Ground`."""
        return before.head if before.head == after.head else branches.head(self.checkout.top)

    def commit(
        self,
        before: Snapshot,
        after: Snapshot,
        message: str,
        limits: Limits,
        announce: Announce | None = None,
    ) -> Saved:
        """See `Ground`. What was a file of the person's that git did not know stays so: a snapshot
        has its raw bytes, which are not what git would store.
        """
        paths = [one.path for one in self.changes(before, after) if not one.untracked]
        checked = Checked(before.head, after.tree)
        return self._commit(paths, message, limits, checked, announce)

    def commit_stores(self, message: str, limits: Limits) -> Saved:
        """See `Ground`."""
        return self._commit([], message, limits) if self.along else Saved()

    def _commit(
        self,
        paths: list[str],
        message: str,
        limits: Limits,
        checked: Checked | None = None,
        announce: Announce | None = None,
    ) -> Saved:
        done = self.checkout.commit(
            paths, self.along, message, self.environ, limits, None, checked, announce
        )
        if done.ok:
            return Saved(done.head)
        late = f"it did not end within {limits.wall:.0f} s" if done.cause else ""
        said = done.output.strip() or "a hook or git itself refused it without a word"
        return Saved(failure=f"{late}: {done.output.strip()}".rstrip(": ") if late else said)


def _told_rights(paths: Sequence[str]) -> list[str]:
    what = f"the permissions of {name_first(paths)} were changed by the attempt, and put back"
    return [what] if paths else []


def _told_untracked(done: RestoredUntracked, *, has_patch: bool) -> list[str]:
    said = []
    if done.files:
        were = "was" if len(done.files) == 1 else "were"
        what = f"{name_first(done.files)}, which git does not know, {were} changed by the attempt"
        kept = f"; what it had made of that is in {UNTRACKED}" if has_patch else ""
        said.append(f"{what}, and put back{kept}")
    return said + [f"{path} could not be put back" for path in done.failed]


def _told_ignored(lost: Lost) -> list[str]:
    told = {
        "ignored by git and deleted by the attempt, now back": lost.back,
        "ignored by git and deleted by the attempt, not to be put back": lost.gone,
        f"ignored by git and changed by the attempt; what it was is in {IGNORED}/": lost.changed,
    }
    return [f"{what}: {name_first(paths)}" for what, paths in told.items() if paths]


def read_whole(root: Path, path: str, most: int) -> bytes:
    """Read a regular file; b"" for one of more than `most` bytes, and for what can't be read."""
    try:
        data = read_start(os.fspath(root), path, most + 1)
    except (OSError, ValueError):
        return b""
    return data if len(data) <= most else b""


def git_ground(
    folder: Path,
    index: Path,
    environ: Mapping[str, str],
    *,
    stores: Sequence[str] = (),
    largest: int = 1 << 30,
) -> GitGround | None:
    """The checkout around `folder`; None where there is no git. `stores` are the project's files
    of tasks and ledger that go with its commits. Files of more than `largest` bytes are not read.
    """
    top = git.top_level(folder)
    if top is None:
        return None
    inner = folder.relative_to(top).as_posix()
    prefix = "" if inner == "." else f"{inner}/"
    apart = tuple(prefix + name for name in (*STORES, *_LOCAL))
    along = tuple(prefix + name for name in stores)
    return GitGround(folder, Checkout(top, index, apart, largest), along, environ)
