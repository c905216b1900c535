"""A person's checkout in which an agent works: looked at before and after, kept or put back."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cub.git import (
    differing,
    heads,
    ignored_files,
    looking,
    own_index,
    refs,
    repository_backup,
    restoring,
    untracked,
)
from cub.git.calling import ask, split
from cub.git.committing import Announce, Checked, Committed, commit, identity
from cub.git.heads import Settled
from cub.git.ignored_files import Lost
from cub.git.place import Place, kind
from cub.git.restoring import Restored
from cub.git.snapshot import FileChange, Snapshot
from cub.git.status import status
from cub.git.trees import files_of
from cub.git.untracked import Restored as RestoredUntracked
from cub.processes.command import Limits
from cub.processes.stop import Stop


@dataclass(frozen=True, slots=True)
class Checkout(Place):
    """The work tree at `top`, looked at with the index file `index`; see Place for `apart`.

    Every method raises CubError if git fails.
    """

    def snapshot(self, since: Snapshot | None = None) -> Snapshot:
        """What it holds now; after an attempt, give the snapshot before it as `since`.

        Raises UnmergedError for an index with conflicts, unless there is a `since`.
        """
        return looking.look(self, since)

    def release(self) -> None:
        """Let git forget the files of the last snapshot, once nobody restores it any more."""
        repository_backup.forget_repository(self)
        ignored_files.forget_ignored(self)
        ask(self.top, "update-ref", "-d", looking.GUARD)

    def keep_repository(self) -> list[str]:
        """Have a copy of the repository's folder, before an attempt; what there is to tell."""
        return repository_backup.keep_repository(self)

    def repair_repository(self, aside: Path) -> str:
        """Put back what is missing of it; what was wrong, "" if nothing was. What stands in its
        place is moved `aside`.
        """
        return repository_backup.repair_repository(self, aside)

    def remove_new_files(self, before: Snapshot) -> list[str]:
        """Remove files that were not there before and that git does not ignore; their paths.

        Nothing is written for that: there may be no room. What is in folders stays as it was made.
        """
        known = {*before.untracked, *files_of(self.top, before.tree)}
        words = ("ls-files", "-z", "--others", "--exclude-standard")
        found = split(ask(self.top, *words).out)
        new = [path for path in found if path not in known and not self.is_apart(path)]
        new = [path for path in new if kind(self.top, path) == stat.S_IFREG]
        for path in new:
            (self.top / path).unlink(missing_ok=True)
        return new

    def changes(self, before: Snapshot, after: Snapshot) -> list[FileChange]:
        """The paths that differ; of submodules only whether their commit does."""
        return differing.changes(self, before, after)

    def counts(self, before: Snapshot, after: Snapshot) -> tuple[int, int]:
        """Lines added and removed; binary files have none."""
        return differing.counts(self, before, after)

    def write_patch(self, before: Snapshot, after: Snapshot, into: Path) -> bool:
        """Write what `git apply` takes; no file, and False, if nothing differs."""
        return differing.write_patch(self, before, after, into)

    def submodules_with_changes(self, before: Snapshot, after: Snapshot) -> list[str]:
        """Submodules whose files differ although their commit does not."""
        return differing.submodules_with_changes(before, after)

    def restore(self, before: Snapshot, now: Snapshot, spared: Collection[str] = ()) -> Restored:
        """Undo what came between: files but for `spared`, HEAD, and what git is amid.

        Nothing stays staged.
        """
        return restoring.restore(self, before, now, spared)

    def restore_refs(self, before: Snapshot) -> list[str]:
        """Put back branches, tags, notes and stash entries that are gone; what there is to tell."""
        return refs.restore_refs_of(self, before)

    def restore_rights(self, before: Snapshot) -> list[str]:
        """Give files and folders the permission bits they had; the paths that had others. Whether
        a file is a program stays: that is a change like any other.
        """
        return restoring.restore_rights_of(self, before, exactly=False)

    def restore_untracked(
        self, before: Snapshot, patch: Path, spared: Collection[str] = ()
    ) -> RestoredUntracked:
        """Make the files that were untracked what they were; `patch` gets what they were made."""
        return untracked.restore_untracked(self, before, patch, spared)

    def unstage(self) -> None:
        """Make the person's index hold what HEAD does, and nothing that an attempt wrote there."""
        own_index.reset_index(self)

    def keep_ignored(self, before: Snapshot, most: int) -> None:
        """Have copies of the files that git ignores, of up to `most` bytes in all."""
        ignored_files.keep_ignored(self, before.ignored, most)

    def restore_ignored(self, aside: Path) -> Lost:
        """Put back those that are gone; the old content of others that changed goes `aside`."""
        return ignored_files.restore_ignored(self, aside)

    def took_over(self, before: Snapshot) -> Literal["", "forward", "away"]:
        """Whether HEAD is where it was, on a commit that came after, or anywhere else."""
        return heads.took_over(self.top, before)

    def settle(self, before: Snapshot) -> Settled:
        """Bring the branch of before to the commit that is checked out, and HEAD to the branch;
        back to where it was if a commit since holds what was untracked before.
        """
        return heads.settle(self, before)

    def dirt(self) -> list[str]:
        """The tracked files that are not what HEAD says, staged or not."""
        options = ("--untracked-files=no", "--ignore-submodules=untracked")
        found = status(self, *options, environ={"GIT_OPTIONAL_LOCKS": "0"})
        return sorted({*found.differing, *found.staged})

    def commit(
        self,
        paths: Sequence[str],
        along: Sequence[str],
        message: str,
        environ: Mapping[str, str],
        limits: Limits,
        stop: Stop | None = None,
        checked: Checked | None = None,
        announce: Announce | None = None,
    ) -> Committed:
        """Commit exactly `paths`, as they were `checked` if they were, and those of `along` that
        git does not ignore; `announce` gets the parent and the tree before that.
        """
        return commit(self, paths, along, message, environ, limits, stop, checked, announce)

    def identity(self, environ: Mapping[str, str] | None = None) -> str:
        """What git says if it does not know who commits; "" if it does."""
        return identity(self, os.environ if environ is None else environ)
