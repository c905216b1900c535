"""Commit or restore the files of the checkout that attempts work on."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cub import git
from cub.actions.managed_files import map_local_files
from cub.actions.tasks.stores import Stores
from cub.files.read_files import read_prefix
from cub.git import branches, repository_settings
from cub.git.commit import BeforeCommit, CheckedTree, commit_paths
from cub.git.folder_entries import FileCopies
from cub.git.ignored_files import IgnoredFilesReport, back_up_ignored, restore_ignored
from cub.git.refs import restore_snapshot_refs
from cub.git.repository_backup import back_up_repository
from cub.git.restore_snapshot import restore_snapshot, restore_snapshot_modes
from cub.git.restore_untracked import UntrackedReport, restore_untracked
from cub.git.snapshot import Snapshot, count_changed_lines, list_changes
from cub.git.worktree import Worktree, require_repository
from cub.processes.command import TimeLimits
from cub.store.store_paths import STORE_FILES
from cub.text import join_first

_LOCAL_FILES = (
    ".cub/state.json", ".cub/journal.jsonl", ".cub/lock", ".cub/runs/", ".cub/worktrees/",
    ".cub/cache/", ".cub/logs/", ".cub/backups/",
)  # fmt: skip

# In an attempt's folder.
UNTRACKED_PATCH, IGNORED_FILES_FOLDER = "untracked.patch", "ignored"


class CommitResult(NamedTuple):
    """Hold the commit of an accepted attempt, or the reason why there is none; "" for neither."""

    head: str = ""
    failure: str = ""


class PrivateFilesReport(NamedTuple):
    """List the untracked files that were restored, and what to report of them and of others."""

    files: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GitWorkspace:
    """Hold the checkout of a run; agents and checks are started in `folder`.

    `store_paths` are the stores that belong in its commits, `hook_environment` is for hooks, and
    `settings_copies` has copies of large files among git's settings.
    """

    folder: Path
    worktree: Worktree
    store_paths: tuple[str, ...]
    hook_environment: Mapping[str, str]
    settings_copies: FileCopies = field(default_factory=FileCopies, compare=False)

    @property
    def toplevel(self) -> Path:
        """Return the top folder of the checkout."""
        return self.worktree.toplevel

    @property
    def prefix(self) -> str:
        """Return the path of `folder` in the checkout, with a slash after it; "" for the top."""
        inner = self.folder.relative_to(self.toplevel).as_posix()
        return "" if inner == "." else f"{inner}/"

    def read_file(self, path: str, max_bytes: int) -> bytes:
        """Read a file as it is now; b"" for a larger one, and for what can't be read."""
        try:
            data = read_prefix(os.fspath(self.toplevel), path, max_bytes + 1)
        except (OSError, ValueError):
            return b""
        return data if len(data) <= max_bytes else b""

    def read_file_before(self, before: Snapshot, path: str) -> bytes:
        """Read a file as it is in `before`; b"" if it is not there."""
        return self.read_files_before(before, [path])[path]

    def read_project_files_before(self, before: Snapshot, paths: Sequence[str]) -> dict[str, bytes]:
        """Read files as they are in `before`, by their paths in `folder`."""
        data = self.read_files_before(before, [self.prefix + path for path in paths])
        return {path: data[self.prefix + path] for path in paths}

    def read_files_before(self, before: Snapshot, paths: Iterable[str]) -> dict[str, bytes]:
        """Read files as they are in `before`; b"" for those that are not there."""
        with git.ObjectReader(self.toplevel) as objects:
            blobs = {path: objects.find_object(f"{before.tree}:{path}") for path in paths}
        return {path: blob.data if blob else b"" for path, blob in blobs.items()}

    def summarize_change(self, before: Snapshot, after: Snapshot) -> dict[str, Any]:
        """Return `git` of an attempt_end event: the base commit, the files, and lines changed."""
        changes = list_changes(self.worktree, before, after)
        added, removed = count_changed_lines(self.worktree, before, after) if changes else (0, 0)
        names = [change.path.encode("utf-8", "replace").decode() for change in changes]
        return {"base": before.head, "files": names, "ins": added, "del": removed}

    def back_up(self, before: Snapshot, max_ignored_bytes: int) -> list[str]:
        """Copy the repository and ignored files to where no attempt reaches; return messages."""
        back_up_ignored(self.worktree, before.ignored_paths, max_ignored_bytes)
        return back_up_repository(self.worktree)

    def read_git_settings(self) -> repository_settings.GitSettings:
        """Read the files that decide how git behaves in this checkout."""
        return repository_settings.read_git_settings(
            self.toplevel, self.settings_copies, self.worktree.index_file.parent
        )

    def restore_private_files(
        self,
        before: Snapshot,
        rescue_folder: Path,
        excluded_paths: Collection[str] = (),
        *,
        restores_modes: bool = False,
    ) -> PrivateFilesReport:
        """Restore refs, the stash, untracked and ignored files, whatever happens to the attempt.

        What the attempt made of them is kept in `rescue_folder`. `excluded_paths` are the work of
        other attempts. `restores_modes` includes the permissions of all files, which takes time.
        """
        messages = restore_snapshot_refs(self.worktree, before)
        if restores_modes and (
            paths := restore_snapshot_modes(self.worktree, before, exactly=False)
        ):
            what = f"the permissions of {join_first(paths)} were changed by the attempt"
            messages.append(f"{what}, and restored")
        patch = rescue_folder / UNTRACKED_PATCH
        report = restore_untracked(self.worktree, before, patch, excluded_paths)
        messages += _describe_untracked(report, has_patch=patch.exists())
        ignored = restore_ignored(self.worktree, rescue_folder / IGNORED_FILES_FOLDER)
        messages += _describe_ignored(ignored)
        return PrivateFilesReport(report.restored_files, tuple(messages))

    def classify_head_move(self, before: Snapshot, after: Snapshot) -> str:
        """Return where HEAD went: "" for nowhere, "forward", or "away" from its branch."""
        if (before.head, before.branch) == (after.head, after.branch):
            return ""
        return branches.classify_head_move(self.toplevel, before)

    def adopt_commits(self, before: Snapshot, secrets: Collection[str] = ()) -> list[str]:
        """Take over commits made since `before`, except those with private files; return messages.

        A file is private if it was untracked before, or is one of the `secrets`.
        """
        rescued_refs, private_files = branches.reattach_branch(self.worktree, before, secrets)
        if not private_files:
            return []
        why = "which git did not know before"
        if not set(private_files).isdisjoint(secrets):
            why = "which git did not know before or which looks like a secret"
        what = f"the agent's commits held {join_first(private_files)}, {why}"
        refs = ", ".join(rescued_refs)
        where = f"are kept as {refs}" if rescued_refs else "are on another branch"
        return [f"{what}: the run commits their work without it, and they {where}"]

    def restore_files(
        self, before: Snapshot, current: Snapshot, excluded_paths: Collection[str] = ()
    ) -> list[str]:
        """Make HEAD and the files what they were in `before`; return messages."""
        report = restore_snapshot(self.worktree, before, current, excluded_paths)
        messages = [f"the agent's commits are kept as {ref}" for ref in report.rescued_refs]
        return messages + [f"{path} could not be restored" for path in report.failed_paths]

    def commit(
        self,
        before: Snapshot,
        after: Snapshot,
        message: str,
        limits: TimeLimits,
        before_commit: BeforeCommit | None = None,
    ) -> CommitResult:
        """Commit what an attempt changed, as it is in `after`, with the stores as they are now.

        `before_commit` is called with the commit's parent and tree. Untracked files stay
        untracked: a snapshot has their raw bytes, which are not what git would store.
        """
        changes = list_changes(self.worktree, before, after)
        paths = [change.path for change in changes if not change.is_untracked]
        checked_tree = CheckedTree(before.head, after.tree)
        report = commit_paths(
            self.worktree, paths, self.store_paths, message, self.hook_environment, limits,
            checked_tree, before_commit,
        )  # fmt: skip
        if report.is_ok:
            return CommitResult(report.head)
        output = report.output.strip()
        if report.cause:
            late = f"it did not end within {limits.wall:.0f} s"
            return CommitResult(failure=f"{late}: {output}".rstrip(": "))
        return CommitResult(failure=output or "a hook or git itself refused it without a word")


def _describe_untracked(report: UntrackedReport, *, has_patch: bool) -> list[str]:
    messages = []
    if report.restored_files:
        were = "was" if len(report.restored_files) == 1 else "were"
        files = join_first(report.restored_files)
        what = f"{files} (untracked) {were} changed by the attempt"
        where = f"; what it had made of that is in {UNTRACKED_PATCH}" if has_patch else ""
        messages.append(f"{what}, and restored{where}")
    return messages + [f"{path} could not be restored" for path in report.failed_paths]


def _describe_ignored(report: IgnoredFilesReport) -> list[str]:
    paths_by_text = {
        "ignored by git and deleted by the attempt, now restored": report.restored_files,
        "ignored by git and deleted by the attempt, cannot be restored": report.lost_files,
        "ignored by git and changed by the attempt; "
        f"what it was is in {IGNORED_FILES_FOLDER}/": report.overwritten_files,
    }
    return [f"{what}: {join_first(paths)}" for what, paths in paths_by_text.items() if paths]


def open_git_workspace(
    folder: Path,
    index: Path,
    environ: Mapping[str, str],
    *,
    stores: Sequence[str] = (),
    size_limit: int = 1 << 30,
) -> GitWorkspace:
    """Open the checkout around `folder`. Raises CubError if there is no git repository.

    `index` is where the run's own index belongs. `stores` are the project's files of tasks and
    ledger to commit. Files of more than `size_limit` bytes are not read.
    """
    toplevel = require_repository(folder)
    inner = folder.relative_to(toplevel).as_posix()
    prefix = "" if inner == "." else f"{inner}/"
    excluded_paths = tuple(prefix + name for name in (*STORE_FILES, *_LOCAL_FILES))
    store_paths = tuple(prefix + name for name in stores)
    worktree = Worktree(toplevel, index, excluded_paths, size_limit)
    return GitWorkspace(folder, worktree, store_paths, environ)


def list_committed_stores(stores: Stores) -> list[str]:
    """Return the files of tasks and ledger that git does not ignore; none outside of the root."""
    local = map_local_files(stores.project.config)
    is_root = stores.root == stores.project.root
    return [name for name in STORE_FILES if is_root and name not in local]


def remove_run_worktree(root: Path, folder: Path) -> None:
    """Remove the linked worktree at `folder` if all that is in it is committed."""
    if toplevel := git.find_toplevel(root):
        branches.remove_worktree(toplevel, folder)
