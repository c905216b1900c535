"""A person's checkout in which an agent works: looked at before and after, kept or put back."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cub.git import (
    branches,
    ignored_files,
    private_index,
    refs,
    repository_backup,
    restore_snapshot,
    take_snapshot,
)
from cub.git import restore_untracked as untracked
from cub.git import snapshot as differing
from cub.git.branches import ReattachResult
from cub.git.commit import (
    BeforeCommit,
    CheckedTree,
    CommitReport,
    commit_paths,
    explain_missing_identity,
)
from cub.git.ignored_files import IgnoredFilesReport
from cub.git.objects import list_tree_files
from cub.git.process import split_nul, try_git
from cub.git.restore_snapshot import RestoreReport
from cub.git.restore_untracked import UntrackedReport as RestoredUntracked
from cub.git.snapshot import FileChange, Snapshot
from cub.git.worktree import Worktree, get_file_type
from cub.git.worktree_status import read_worktree_status
from cub.processes.command import StopRequest, TimeLimits


@dataclass(frozen=True, slots=True)
class Checkout(Worktree):
    """The work tree at `toplevel`, looked at with the index file `index_file`; see Place for
    `excluded_paths`.

    Every method raises CubError if git fails.
    """

    def snapshot(self, base: Snapshot | None = None) -> Snapshot:
        """What it holds now; after an attempt, give the snapshot before it as `base`.

        Raises UnmergedError for an index with conflicts, unless there is a `base`.
        """
        return take_snapshot.take_snapshot(self, base)

    def release(self) -> None:
        """Let git forget the files of the last snapshot, once nobody restores it any more."""
        repository_backup.delete_repository_backup(self)
        ignored_files.delete_ignored_backup(self)
        try_git(self.toplevel, "update-ref", "-d", take_snapshot.SNAPSHOT_REF)

    def keep_repository(self) -> list[str]:
        """Have a copy of the repository's folder, before an attempt; what there is to tell."""
        return repository_backup.back_up_repository(self)

    def repair_repository(self, rescue_folder: Path) -> str:
        """Put back what is missing of it; what was wrong, "" if nothing was. What stands in its
        place is moved `rescue_folder`.
        """
        return repository_backup.repair_repository(self, rescue_folder)

    def remove_new_files(self, before: Snapshot) -> list[str]:
        """Remove files that were not there before and that git does not ignore; their paths.

        Nothing is written for that: there may be no room. What is in folders stays as it was made.
        """
        known = {*before.untracked_paths, *list_tree_files(self.toplevel, before.tree)}
        words = ("ls-files", "-z", "--others", "--exclude-standard")
        found = split_nul(try_git(self.toplevel, *words).stdout)
        new = [path for path in found if path not in known and not self.is_excluded(path)]
        new = [path for path in new if get_file_type(self.toplevel, path) == stat.S_IFREG]
        for path in new:
            (self.toplevel / path).unlink(missing_ok=True)
        return new

    def changes(self, before: Snapshot, after: Snapshot) -> list[FileChange]:
        """The paths that differ; of submodules only whether their commit does."""
        return differing.list_changes(self, before, after)

    def counts(self, before: Snapshot, after: Snapshot) -> tuple[int, int]:
        """Lines added and removed; binary files have none."""
        return differing.count_changed_lines(self, before, after)

    def write_patch(self, before: Snapshot, after: Snapshot, target: Path) -> bool:
        """Write what `git apply` takes; no file, and False, if nothing differs."""
        return differing.write_patch(self, before, after, target)

    def submodules_with_changes(self, before: Snapshot, after: Snapshot) -> list[str]:
        """Submodules whose files differ although their commit does not."""
        return differing.list_changed_submodules(before, after)

    def restore(
        self, before: Snapshot, current: Snapshot, excluded_paths: Collection[str] = ()
    ) -> RestoreReport:
        """Undo what came between: files but for `excluded_paths`, HEAD, and what git is amid.

        Nothing stays staged.
        """
        return restore_snapshot.restore_snapshot(self, before, current, excluded_paths)

    def restore_refs(self, before: Snapshot) -> list[str]:
        """Put back branches, tags, notes and stash entries that are gone; what there is to tell."""
        return refs.restore_snapshot_refs(self, before)

    def restore_rights(self, before: Snapshot) -> list[str]:
        """Give files and folders the permission bits they had; the paths that had others. Whether
        a file is a program stays: that is a change like any other.
        """
        return restore_snapshot.restore_snapshot_modes(self, before, exactly=False)

    def restore_untracked(
        self, before: Snapshot, patch: Path, excluded_paths: Collection[str] = ()
    ) -> RestoredUntracked:
        """Make the files that were untracked what they were; `patch` gets what they were made."""
        return untracked.restore_untracked(self, before, patch, excluded_paths)

    def unstage(self) -> None:
        """Make the person's index hold what HEAD does, and nothing that an attempt wrote there."""
        private_index.reset_user_index(self)

    def keep_ignored(self, before: Snapshot, most: int) -> None:
        """Have copies of the files that git ignores, of up to `most` bytes in all."""
        ignored_files.back_up_ignored(self, before.ignored_paths, most)

    def restore_ignored(self, rescue_folder: Path) -> IgnoredFilesReport:
        """Put back those that are gone; the old content of others that changed goes
        `rescue_folder`.
        """
        return ignored_files.restore_ignored(self, rescue_folder)

    def took_over(self, before: Snapshot) -> Literal["", "forward", "away"]:
        """Whether HEAD is where it was, on a commit that came after, or anywhere else."""
        return branches.classify_head_move(self.toplevel, before)

    def settle(self, before: Snapshot) -> ReattachResult:
        """Bring the branch of before to the commit that is checked out, and HEAD to the branch;
        back to where it was if a commit since holds what was untracked before.
        """
        return branches.reattach_branch(self, before)

    def dirt(self) -> list[str]:
        """The tracked files that are not what HEAD says, staged or not."""
        options = ("--untracked-files=no", "--ignore-submodules=untracked")
        found = read_worktree_status(self, *options, environ={"GIT_OPTIONAL_LOCKS": "0"})
        return sorted({*found.changed_paths, *found.staged_paths})

    def commit(
        self,
        paths: Sequence[str],
        along: Sequence[str],
        message: str,
        environ: Mapping[str, str],
        limits: TimeLimits,
        stop: StopRequest | None = None,
        checked_tree: CheckedTree | None = None,
        before_commit: BeforeCommit | None = None,
    ) -> CommitReport:
        """Commit exactly `paths`, as they were `checked_tree` if they were, and those of `along`
        that git does not ignore; `before_commit` gets the parent and the tree before that.
        """
        return commit_paths(
            self, paths, along, message, environ, limits, stop, checked_tree, before_commit
        )

    def identity(self, environ: Mapping[str, str] | None = None) -> str:
        """What git says if it does not know who commits; "" if it does."""
        return explain_missing_identity(self, os.environ if environ is None else environ)
