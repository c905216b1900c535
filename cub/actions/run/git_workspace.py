"""The files that attempts work on: a checkout of git's, or a folder without git."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cub import git
from cub.actions.run.workspace import CommitResult, PrivateFilesReport, read_small_file
from cub.git import branches, repository_settings
from cub.git.branches import classify_head_move, reattach_branch
from cub.git.commit import BeforeCommit, CheckedTree, commit_paths
from cub.git.folder_entries import FileCopies
from cub.git.ignored_files import IgnoredFilesReport, back_up_ignored, restore_ignored
from cub.git.lock_files import remove_stale_locks
from cub.git.private_index import reset_user_index
from cub.git.refs import restore_snapshot_refs
from cub.git.repository_backup import back_up_repository, repair_repository
from cub.git.restore_snapshot import delete_new_files, restore_snapshot, restore_snapshot_modes
from cub.git.restore_untracked import UntrackedReport as RestoredUntracked
from cub.git.restore_untracked import restore_untracked
from cub.git.snapshot import (
    FileChange,
    Snapshot,
    count_changed_lines,
    list_changed_submodules,
    list_changes,
    write_patch,
)
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree import Worktree
from cub.processes.command import TimeLimits
from cub.store.store_paths import ARCHIVE_FILE, LEDGER_FILE, REJECTED_FILE, TASKS_FILE
from cub.text import join_first

STORE_FILES = (TASKS_FILE, REJECTED_FILE, LEDGER_FILE, ARCHIVE_FILE)
_LOCAL_FILES = (
    ".cub/state.json", ".cub/journal.jsonl", ".cub/lock", ".cub/runs/", ".cub/worktrees/",
    ".cub/cache/", ".cub/logs/", ".cub/backups/",
)  # fmt: skip

_MANY = 5  # files that are named
# In an attempt's folder.
UNTRACKED_PATCH, IGNORED_FILES_FOLDER = "untracked.patch", "ignored"


@dataclass(frozen=True, slots=True)
class GitWorkspace:
    """A checkout. `store_paths` are the stores that go with its commits; `hook_environment` is for
    hooks, and `settings_copies` are of large files among git's settings.
    """

    folder: Path
    worktree: Worktree
    store_paths: tuple[str, ...]
    hook_environment: Mapping[str, str]
    settings_copies: FileCopies = field(default_factory=FileCopies, compare=False)

    @property
    def toplevel(self) -> Path:
        """See `Workspace`."""
        return self.worktree.toplevel

    def take_snapshot(self, base: Snapshot | None = None) -> Snapshot:
        """See `Workspace`."""
        return take_snapshot(self.worktree, base)

    def list_changes(self, before: Snapshot, after: Snapshot) -> list[FileChange]:
        """See `Workspace`."""
        return list_changes(self.worktree, before, after)

    def read_file(self, path: str, max_bytes: int) -> bytes:
        """See `Workspace`."""
        return read_small_file(self.worktree.toplevel, path, max_bytes)

    def read_file_before(self, before: Snapshot, path: str) -> bytes:
        """See `Workspace`."""
        with git.ObjectReader(self.worktree.toplevel) as objects:
            found = objects.find_object(f"{before.tree}:{path}")
        return found.data if found else b""

    def summarize_change(self, before: Snapshot, after: Snapshot) -> dict[str, Any]:
        """See `Workspace`."""
        changed = self.list_changes(before, after)
        added, removed = count_changed_lines(self.worktree, before, after) if changed else (0, 0)
        names = [one.path.encode("utf-8", "replace").decode() for one in changed]
        return {"base": before.head, "files": names, "ins": added, "del": removed}

    def write_patch(self, before: Snapshot, after: Snapshot, target: Path) -> bool:
        """See `Workspace`."""
        return write_patch(self.worktree, before, after, target)

    def back_up(self, before: Snapshot, max_ignored_bytes: int) -> list[str]:
        """See `Workspace`."""
        back_up_ignored(self.worktree, before.ignored_paths, max_ignored_bytes)
        return back_up_repository(self.worktree)

    def repair_repository(self, rescue_folder: Path) -> str:
        """See `Workspace`."""
        return repair_repository(self.worktree, rescue_folder)

    def read_git_settings(self) -> repository_settings.GitSettings:
        """See `Workspace`."""
        return repository_settings.read_git_settings(
            self.worktree.toplevel, self.settings_copies, self.worktree.index_file.parent
        )

    def restore_git_settings(
        self, before: repository_settings.GitSettings, rescue_folder: Path
    ) -> list[str]:
        """See `Workspace`."""
        return repository_settings.restore_git_settings(before, rescue_folder)

    def remove_stale_locks(self, since: float) -> None:
        """See `Workspace`."""
        remove_stale_locks(self.worktree.toplevel, since)

    def restore_private_files(
        self,
        before: Snapshot,
        rescue_folder: Path,
        excluded_paths: Collection[str] = (),
        *,
        restores_modes: bool = False,
    ) -> PrivateFilesReport:
        """See `Workspace`."""
        said = restore_snapshot_refs(self.worktree, before)
        if restores_modes:
            said += _describe_modes(restore_snapshot_modes(self.worktree, before, exactly=False))
        done = restore_untracked(
            self.worktree, before, rescue_folder / UNTRACKED_PATCH, excluded_paths
        )
        said += _describe_untracked(done, has_patch=(rescue_folder / UNTRACKED_PATCH).exists())
        said += _describe_ignored(
            restore_ignored(self.worktree, rescue_folder / IGNORED_FILES_FOLDER)
        )
        return PrivateFilesReport(done.restored_files, tuple(said))

    def delete_new_files(self, before: Snapshot) -> list[str]:
        """See `Workspace`."""
        gone = delete_new_files(self.worktree, before)
        return [f"{path} was removed: the disk was full" for path in gone[:_MANY]]

    def reset_index(self) -> None:
        """See `Workspace`."""
        reset_user_index(self.worktree)

    def classify_head_move(self, before: Snapshot, after: Snapshot) -> str:
        """See `Workspace`."""
        if (before.head, before.branch) == (after.head, after.branch):
            return ""
        return classify_head_move(self.worktree.toplevel, before)

    def adopt_commits(self, before: Snapshot) -> list[str]:
        """See `Workspace`."""
        kept, private = reattach_branch(self.worktree, before)
        if not private:
            return []
        what = f"the agent's commits held {join_first(private)}, which git did not know before"
        where = f"are kept as {', '.join(kept)}" if kept else "are on another branch"
        return [f"{what}: the run commits their work without it, and they {where}"]

    def list_uncommittable(self, before: Snapshot, after: Snapshot) -> list[str]:
        """See `Workspace`."""
        return list(list_changed_submodules(before, after))

    def restore_files(
        self, before: Snapshot, current: Snapshot, excluded_paths: Collection[str] = ()
    ) -> list[str]:
        """See `Workspace`."""
        done = restore_snapshot(self.worktree, before, current, excluded_paths)
        kept = [f"the agent's commits are kept as {ref}" for ref in done.rescued_refs]
        return kept + [f"{path} could not be put back" for path in done.failed_paths]

    def find_head(self, before: Snapshot, after: Snapshot) -> str:
        """See `Workspace`."""
        return (
            before.head
            if before.head == after.head
            else branches.read_head_commit(self.worktree.toplevel)
        )

    def commit(
        self,
        before: Snapshot,
        after: Snapshot,
        message: str,
        limits: TimeLimits,
        before_commit: BeforeCommit | None = None,
    ) -> CommitResult:
        """See `Workspace`. What was a file of the person's that git did not know stays so: a
        snapshot has its raw bytes, which are not what git would store.
        """
        paths = [one.path for one in self.list_changes(before, after) if not one.is_untracked]
        checked = CheckedTree(before.head, after.tree)
        return self._commit(paths, message, limits, checked, before_commit)

    def commit_stores(self, message: str, limits: TimeLimits) -> CommitResult:
        """See `Workspace`."""
        return self._commit([], message, limits) if self.store_paths else CommitResult()

    def _commit(
        self,
        paths: list[str],
        message: str,
        limits: TimeLimits,
        checked_tree: CheckedTree | None = None,
        before_commit: BeforeCommit | None = None,
    ) -> CommitResult:
        done = commit_paths(
            self.worktree,
            paths,
            self.store_paths,
            message,
            self.hook_environment,
            limits,
            checked_tree,
            before_commit,
        )
        if done.is_ok:
            return CommitResult(done.head)
        late = f"it did not end within {limits.wall:.0f} s" if done.cause else ""
        said = done.output.strip() or "a hook or git itself refused it without a word"
        return CommitResult(failure=f"{late}: {done.output.strip()}".rstrip(": ") if late else said)


def _describe_modes(paths: Sequence[str]) -> list[str]:
    what = f"the permissions of {join_first(paths)} were changed by the attempt, and put back"
    return [what] if paths else []


def _describe_untracked(done: RestoredUntracked, *, has_patch: bool) -> list[str]:
    said = []
    if done.restored_files:
        were = "was" if len(done.restored_files) == 1 else "were"
        files = join_first(done.restored_files)
        what = f"{files}, which git does not know, {were} changed by the attempt"
        kept = f"; what it had made of that is in {UNTRACKED_PATCH}" if has_patch else ""
        said.append(f"{what}, and put back{kept}")
    return said + [f"{path} could not be put back" for path in done.failed_paths]


def _describe_ignored(lost: IgnoredFilesReport) -> list[str]:
    told = {
        "ignored by git and deleted by the attempt, now back": lost.restored_files,
        "ignored by git and deleted by the attempt, not to be put back": lost.lost_files,
        "ignored by git and changed by the attempt; "
        f"what it was is in {IGNORED_FILES_FOLDER}/": lost.overwritten_files,
    }
    return [f"{what}: {join_first(paths)}" for what, paths in told.items() if paths]


def open_git_workspace(
    folder: Path,
    index: Path,
    environ: Mapping[str, str],
    *,
    stores: Sequence[str] = (),
    largest: int = 1 << 30,
) -> GitWorkspace | None:
    """The checkout around `folder`; None where there is no git. `stores` are the project's files
    of tasks and ledger that go with its commits. Files of more than `largest` bytes are not read.
    """
    top = git.find_toplevel(folder)
    if top is None:
        return None
    inner = folder.relative_to(top).as_posix()
    prefix = "" if inner == "." else f"{inner}/"
    apart = tuple(prefix + name for name in (*STORE_FILES, *_LOCAL_FILES))
    along = tuple(prefix + name for name in stores)
    return GitWorkspace(folder, Worktree(top, index, apart, largest), along, environ)


def remove_run_worktree(root: Path, place: Path) -> None:
    """Take a work tree away, if all that is in it is committed."""
    if top := git.find_toplevel(root):
        branches.remove_worktree(top, place)
