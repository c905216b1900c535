"""Finish the files of an attempt whose run was killed: commit them after all, or restore them.

What the attempt did and what a person did since are told apart by what the run wrote down: when the
agent's last process ended, which commit it left, which commit was about to be made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.run import run_folders
from cub.actions.run.attempt_state import save_commit
from cub.actions.run.git_workspace import (
    GitWorkspace,
    list_committed_stores,
    open_git_workspace,
)
from cub.actions.run.new_files import describe_left_out_files, return_left_out_files
from cub.actions.run.run_folders import AttemptFolder, RunFolder
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.git import branches, repository_settings
from cub.git.lock_files import remove_stale_locks
from cub.git.repository_backup import repair_repository
from cub.git.snapshot import Snapshot, list_changes, write_patch
from cub.git.take_snapshot import take_snapshot
from cub.git.worktree import Worktree
from cub.processes.command import TimeLimits

_KEEPER_SECONDS = 8.0  # that the end of a killed run's processes may take
# Seconds that something may have gone on after the last sign of life if nobody recorded the end:
# a run that lives gives one each second.
_UNRECORDED_SECONDS = 2.0
_COMMIT_SECONDS = 1800.0  # that a commit and its hooks may take
_MAX_NAMED = 5  # files


class RecoveryResult(NamedTuple):
    """Say whether an accepted attempt is committed, and what to report of the files."""

    is_done: bool
    messages: list[str]


@dataclass(frozen=True, slots=True)
class InterruptedAttempt:
    """Hold an attempt of a killed run: its checkout, how that was before, and what was decided."""

    workspace: GitWorkspace
    before: Snapshot
    folder: AttemptFolder
    run_folder: RunFolder
    decision: dict[str, Any]

    def finish(self, record: Callable[[], None]) -> RecoveryResult:
        """Carry out what was decided, or restore the files. Raises CubError if git fails.

        `record` is called before a commit, which contains what it records.
        """
        start_file = self.folder.state / run_folders.START_FILE
        remove_stale_locks(self.workspace.toplevel, _read_mtime(start_file))
        messages = self._restore_surroundings()
        current = take_snapshot(self.workspace.worktree, self.before)
        if self.decision.get("ok"):
            has_commit = not self.decision.get("message") or self._is_committed(current)
            failures = [] if has_commit else self._commit(current, record)
            if not failures:
                paths = list(map(str, self.decision.get("left_out", ())))
                messages += return_left_out_files(self.workspace.toplevel, self.folder, paths)
                return RecoveryResult(True, messages)
            messages += failures
            current = take_snapshot(self.workspace.worktree, self.before)
        messages += [*self._restore_files(current), *describe_left_out_files(self.folder)]
        return RecoveryResult(False, messages)

    def _restore_surroundings(self) -> list[str]:
        """Restore git's settings, before git is called, then private files; return messages."""
        messages, toplevel = list[str](), self.workspace.toplevel
        settings = self.run_folder.read_state(run_folders.GIT_SETTINGS_FILE).get("settings")
        last_change = self._find_last_change()
        if settings is not None:
            before = repository_settings.GitSettings.from_json(toplevel, settings)
            rescue_folder = self.folder.prepare_folder(run_folders.REPLACED_SETTINGS_FOLDER)
            names = repository_settings.restore_git_settings(before, rescue_folder, last_change)
            messages += [f"{name} was changed by the attempt, and is restored" for name in names]
        untracked = self.before.untracked_paths
        newer = {path for path in untracked if _find_change_time(toplevel / path) > last_change}
        rescue_folder = self.folder.remove_links()
        report = self.workspace.restore_private_files(
            self.before, rescue_folder, newer, restores_modes=True
        )
        return [*messages, *report.messages]

    def _is_committed(self, current: Snapshot) -> bool:
        """Return whether the commit was made, or a person has committed all of it since."""
        commit = self.folder.read_state(run_folders.COMMIT_FILE)
        toplevel, head = self.workspace.toplevel, str(self.decision.get("head", ""))
        parent, tree = str(commit.get("parent")), str(commit.get("tree"))
        if commit and branches.find_commit(toplevel, parent, tree):
            return True
        message = str(self.decision["message"])
        if current.head == head or branches.is_last_commit(toplevel, head, message):
            return False  # the run's commit, changed by a hook, is not the one that was decided
        after = load_snapshot(self.decision.get("after"))
        if after is None:
            return False
        changes = list_changes(self.workspace.worktree, self.before, after)
        paths = [change.path for change in changes if not change.is_untracked]
        return bool(paths) and branches.head_has_content(toplevel, after.tree, paths)

    def _commit(self, current: Snapshot, record: Callable[[], None]) -> list[str]:
        """Commit what the checks have seen; return why that failed, [] if it did not."""
        after = load_snapshot(self.decision.get("after"))
        if after is None or current.head != self.decision.get("head"):
            return ["HEAD was moved after the run was killed: what was accepted is not committed"]
        message, limits = str(self.decision["message"]), TimeLimits(_COMMIT_SECONDS, None)
        if self.workspace.store_paths:
            record()
        before_commit = partial(save_commit, self.folder)
        failure = self.workspace.commit(self.before, after, message, limits, before_commit).failure
        return [f"what was accepted could not be committed: {failure}"] if failure else []

    def _restore_files(self, current: Snapshot) -> list[str]:
        """Keep the changes as a patch, and undo those that no person made since."""
        messages, before, excluded_paths = list[str](), self.before, set[str]()
        worktree, toplevel = self.workspace.worktree, self.workspace.toplevel
        if self._has_foreign_head(current):
            if not branches.is_ancestor(toplevel, before.head, current.head):
                return ["HEAD was led elsewhere after the run was killed: the files stay"]
            messages.append("HEAD was moved after the run was killed, and stays")
            excluded_paths.update(branches.list_paths_between(toplevel, before.head, current.head))
            before = replace(before, head=current.head, branch=current.branch)
        changes = list_changes(worktree, self.before, current)
        has_patch = bool(self.folder.find_patch())
        patch = "changes-when-killed.patch" if has_patch else run_folders.PATCH_FILE
        if changes and write_patch(worktree, self.before, current, self.folder.prepare_path(patch)):
            messages.append(f"its changes are kept in {self.folder.name}/{patch}")
        last_write = self._find_last_write()
        paths = [change.path for change in changes if change.path not in excluded_paths]
        newer = [path for path in paths if _find_change_time(toplevel / path) > last_write]
        what = "was changed after the run was killed, and stays"
        messages += [f"{path} {what}" for path in newer[:_MAX_NAMED]]
        return messages + self.workspace.restore_files(before, current, {*excluded_paths, *newer})

    def _has_foreign_head(self, current: Snapshot) -> bool:
        """Return whether a person has moved HEAD since the attempt's last process ended."""
        if (current.head, current.branch) == (self.before.head, self.before.branch):
            return False
        head = self.decision.get("head")
        agent_head = self.folder.read_state(run_folders.AGENT_HEAD_FILE).get("head")
        if (
            current.head in (self.before.head, agent_head, head)
            and current.branch == self.before.branch
        ):
            return False
        toplevel, message = self.workspace.toplevel, str(self.decision.get("message", ""))
        if message and branches.is_last_commit(toplevel, str(head or ""), message):
            return False
        agent_end = self.folder.read_end_time(run_folders.AGENT_END_FILE)
        return branches.read_head_time(toplevel) > (agent_end or self._find_last_sign_of_life())

    def _find_last_change(self) -> float:
        """Return the time after which no process of the attempt changed a file."""
        agent_end = self.folder.read_end_time(run_folders.AGENT_END_FILE)
        checks_end = self.folder.read_end_time(run_folders.CHECKS_END_FILE)
        agent_start = _read_mtime(self.folder.state / run_folders.AGENT_START_FILE)
        evidence = _read_mtime(self.folder.state / run_folders.AGENT_HEAD_FILE)
        if (agent_start and not agent_end) or evidence > checks_end:  # the keeper was killed too
            agent_end = self._find_last_sign_of_life() + _UNRECORDED_SECONDS
        return max(agent_end, checks_end)

    def _find_last_write(self) -> float:
        """Return the same for the run itself: its git may have gone on when cub was killed."""
        names = (run_folders.RESTORE_FILE, run_folders.DECISION_FILE, run_folders.SWAP_FILE)
        step = max(_read_mtime(self.folder.state / name) for name in names)
        return max(self._find_last_change(), step + _UNRECORDED_SECONDS if step else 0.0)

    def _find_last_sign_of_life(self) -> float:
        """Return when the run wrote its last file, or when the machine was started since."""
        from psutil import boot_time

        files = [
            self.run_folder.state / run_folders.STATUS_FILE,
            self.folder.state / run_folders.AGENT_START_FILE,
            self.folder.state / run_folders.START_FILE,
        ]
        return max(boot_time(), *map(_read_mtime, files))


def load_snapshot(tree: object) -> Snapshot | None:
    """Return a snapshot that was written down; None if it is missing or can't be read."""
    try:
        return Snapshot.from_json(tree)
    except CubError:
        return None


def wait_for_agent_end(files: AttemptFolder) -> None:
    """Wait for the file that the agent's keeper writes when all processes have ended."""
    deadline = time.monotonic() + _KEEPER_SECONDS
    while not files.read_end_time(run_folders.AGENT_END_FILE) and time.monotonic() < deadline:
        time.sleep(0.05)


def repair_attempt_repository(
    start: dict[str, Any], folder: RunFolder, files: AttemptFolder
) -> list[str]:
    """Restore the repository if the attempt destroyed it; return messages.

    Without it, the checkout can't be found.
    """
    toplevel = str(start.get("top", ""))
    if not toplevel or not Path(toplevel).is_dir():
        return []
    worktree = Worktree(Path(toplevel), folder.state / run_folders.INDEX_FILE, ())
    return list(filter(None, [repair_repository(worktree, files.remove_links())]))


def find_attempt_workspace(
    stores: Stores, start: dict[str, Any], folder: RunFolder, environ: Mapping[str, str]
) -> GitWorkspace | None:
    """Return the checkout that the attempt worked in; None if it is not there."""
    project_folder = Path(str(start.get("folder", "")))
    if not project_folder.is_dir():
        return None
    try:
        index, committed = folder.state / run_folders.INDEX_FILE, list_committed_stores(stores)
        is_here = project_folder == stores.project.root
        return open_git_workspace(
            project_folder, index, environ, stores=committed if is_here else ()
        )
    except CubError:
        return None


def _find_change_time(path: Path) -> float:
    """Return when a file was last changed; 0.0 for one that is gone."""
    try:
        status = path.lstat()
    except OSError:
        return 0.0
    return max(status.st_ctime, status.st_mtime)


def _read_mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
