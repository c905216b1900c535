"""The files of an attempt whose run was killed: committed after all, or put back.

What the attempt did and what a person did since are told apart by what the run wrote down: when the
last process of the client ended, which commit it left, which commit was about to be made.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.run.git_workspace import GitWorkspace, open_git_workspace
from cub.actions.run.run_folders import (
    AGENT_END_FILE,
    AGENT_HEAD_FILE,
    AGENT_START_FILE,
    CHECKS_END_FILE,
    COMMIT_FILE,
    DECISION_FILE,
    GIT_SETTINGS_FILE,
    INDEX_FILE,
    PATCH_FILE,
    REPLACED_SETTINGS_FOLDER,
    RESTORE_FILE,
    START_FILE,
    STATUS_FILE,
    AttemptFolder,
    RunFolder,  # fmt: skip
)
from cub.errors import CubError
from cub.git import branches, repository_settings
from cub.git import branches as history
from cub.git.repository_backup import repair_repository
from cub.git.snapshot import Snapshot
from cub.git.worktree import Worktree
from cub.processes.command import TimeLimits

_KEEPER_SECONDS = 8.0  # seconds that the end of a killed run's processes may take
# Seconds that something may have gone on after the last sign of life, where nobody noted the end:
# a run that lives gives one each second.
_UNRECORDED_SECONDS = 2.0
_COMMIT = 1800.0  # seconds that a commit and its hooks may take
_MANY = 5  # files that are named


class RecoveryResult(NamedTuple):
    """Whether what was decided is carried out, and what there is to tell of the files."""

    is_done: bool
    messages: list[str]


@dataclass(frozen=True, slots=True)
class InterruptedAttempt:
    """An attempt of a killed run: its checkout, how that was before, and what was decided."""

    workspace: GitWorkspace
    before: Snapshot
    folder: AttemptFolder
    run_folder: RunFolder
    decision: dict[str, Any]

    def finish(self) -> RecoveryResult:
        """Carry out what was decided, or put the files back. Raises CubError where git can't."""
        self.workspace.remove_stale_locks(_time_of(self.folder.state / START_FILE))
        said = self._restore_around()
        now = self.workspace.take_snapshot(self.before)
        if self.decision.get("ok"):
            if not self.decision.get("message") or self._is_committed(now):
                return RecoveryResult(True, said)
            failed = self._commit(now)
            if not failed:
                return RecoveryResult(True, said)
            said += failed
            now = self.workspace.take_snapshot(self.before)
        return RecoveryResult(False, [*said, *self._restore_files(now)])

    def _restore_around(self) -> list[str]:
        """Put back what decides how git behaves, before git is called; then what is the person's
        alone.
        """
        said = list[str]()
        noted, top = (
            self.run_folder.read_state(GIT_SETTINGS_FILE).get("settings"),
            self.workspace.worktree.toplevel,
        )
        last = self._find_last_change()
        if noted is not None:
            before = repository_settings.GitSettings.from_json(top, noted)
            changed = repository_settings.restore_git_settings(
                before, self.folder.prepare_folder(REPLACED_SETTINGS_FOLDER), last
            )
            said += [f"{name} was changed by the attempt, and is back" for name in changed]
        later = {path for path in self.before.untracked_paths if _changed_at(top / path) > last}
        aside = self.folder.remove_links()
        return [
            *said,
            *self.workspace.restore_private_files(
                self.before, aside, later, restores_modes=True
            ).messages,
        ]

    def _is_committed(self, current: Snapshot) -> bool:
        """Whether the commit was made, or a person has committed all of it since."""
        made = self.folder.read_state(COMMIT_FILE)
        top, head = self.workspace.worktree.toplevel, str(self.decision.get("head", ""))
        if made and history.find_commit(top, str(made.get("parent")), str(made.get("tree"))):
            return True
        if current.head == head or branches.is_last_commit(
            top, head, str(self.decision["message"])
        ):
            return False  # its own commit, changed by a hook, is none that was decided
        after = self._load_result_snapshot()
        if after is None:
            return False
        changed = [
            one for one in self.workspace.list_changes(self.before, after) if not one.is_untracked
        ]
        return bool(changed) and history.head_has_content(
            top, after.tree, [one.path for one in changed]
        )

    def _commit(self, current: Snapshot) -> list[str]:
        """Make the commit now, of what the checks have seen; why it can't be made."""
        after = self._load_result_snapshot()
        if after is None or current.head != self.decision.get("head"):
            return ["HEAD was moved after the run was killed: what was accepted is not committed"]
        text, limits = str(self.decision["message"]), TimeLimits(_COMMIT, None)
        failure = self.workspace.commit(self.before, after, text, limits).failure
        return [f"what was accepted could not be committed: {failure}"] if failure else []

    def _load_result_snapshot(self) -> Snapshot | None:
        return load_snapshot(self.decision.get("after"))

    def _restore_files(self, current: Snapshot) -> list[str]:
        """Keep the changes, and take them back: all but what somebody else did since."""
        said, before, spared = list[str](), self.before, set[str]()
        top = self.workspace.worktree.toplevel
        if self._has_foreign_head(current):
            if not history.is_ancestor(top, before.head, current.head):
                return ["HEAD was led elsewhere after the run was killed: the files stay"]
            said.append("HEAD was moved after the run was killed, and stays")
            spared.update(history.list_paths_between(top, before.head, current.head))
            before = replace(before, head=current.head, branch=current.branch)
        changed = self.workspace.list_changes(self.before, current)
        kept = PATCH_FILE if not self.folder.has_file(PATCH_FILE) else "changes-when-killed.patch"
        if changed and self.workspace.write_patch(
            self.before, current, self.folder.prepare_path(kept)
        ):
            said.append(f"its changes are kept in {self.folder.name}/{kept}")
        last = self._find_last_write()
        paths = [one.path for one in changed if one.path not in spared]
        later = [path for path in paths if _changed_at(top / path) > last]
        what = "was changed after the run was killed, and stays"
        said += [f"{path} {what}" for path in later[:_MANY]]
        return said + self.workspace.restore_files(before, current, {*spared, *later})

    def _has_foreign_head(self, current: Snapshot) -> bool:
        """Whether somebody else has led HEAD elsewhere since the attempt's last process ended."""
        if (current.head, current.branch) == (self.before.head, self.before.branch):
            return False
        known = {
            self.before.head,
            self.folder.read_state(AGENT_HEAD_FILE).get("head"),
            self.decision.get("head"),
        }
        if current.head in known and current.branch == self.before.branch:
            return False
        top, text = self.workspace.worktree.toplevel, str(self.decision.get("message", ""))
        if text and branches.is_last_commit(top, str(self.decision.get("head", "")), text):
            return False
        ended = self.folder.read_end_time(AGENT_END_FILE) or self._find_last_sign_of_life()
        return branches.read_head_time(top) > ended

    def _find_last_change(self) -> float:
        """The time after which no process of the attempt changed a file."""
        ended, checked = (
            self.folder.read_end_time(AGENT_END_FILE),
            self.folder.read_end_time(CHECKS_END_FILE),
        )
        begun, found = (
            _time_of(self.folder.state / name) for name in (AGENT_START_FILE, AGENT_HEAD_FILE)
        )
        if (begun and not ended) or found > checked:  # its keeper was killed as well
            ended = self._find_last_sign_of_life() + _UNRECORDED_SECONDS
        return max(ended, checked)

    def _find_last_write(self) -> float:
        """The same of what the run itself was writing; git may have gone on when cub was killed."""
        steps = [_time_of(self.folder.state / name) for name in (RESTORE_FILE, DECISION_FILE)]
        step = max(steps)
        return max(self._find_last_change(), step + _UNRECORDED_SECONDS if step else 0.0)

    def _find_last_sign_of_life(self) -> float:
        """When the run was alive for the last time, as far as it wrote anything down; where the
        machine was started anew since, until then.
        """
        from psutil import boot_time

        places = [
            self.run_folder.state / STATUS_FILE,
            self.folder.state / AGENT_START_FILE,
            self.folder.state / START_FILE,
        ]
        return max(boot_time(), *map(_time_of, places))


def load_snapshot(tree: object) -> Snapshot | None:
    """How the files were; None where nobody wrote that down, or nobody can read it."""
    try:
        return Snapshot.from_json(tree)
    except CubError:
        return None


def wait_for_agent_end(files: AttemptFolder) -> None:
    """What keeps the client writes a file when all has ended; it may be at it right now."""
    deadline = time.monotonic() + _KEEPER_SECONDS
    while not files.read_end_time(AGENT_END_FILE) and time.monotonic() < deadline:
        time.sleep(0.05)


def repair_attempt_repository(
    start: dict[str, Any], folder: RunFolder, files: AttemptFolder
) -> list[str]:
    """Put back the repository that an attempt worked in, if it destroyed that; what there is to
    tell. Without it, nobody finds the checkout.
    """
    top = str(start.get("top", ""))
    if not top or not Path(top).is_dir():
        return []
    place = Worktree(Path(top), folder.state / INDEX_FILE, ())
    return list(filter(None, [repair_repository(place, files.remove_links())]))


def find_attempt_workspace(
    start: dict[str, Any], folder: RunFolder, environ: Mapping[str, str]
) -> GitWorkspace | None:
    """The checkout that the attempt worked in, if it is there."""
    place = Path(str(start.get("folder", "")))
    if not place.is_dir():
        return None
    try:
        return open_git_workspace(place, folder.state / INDEX_FILE, environ)
    except CubError:
        return None


def _changed_at(path: Path) -> float:
    """When a file, or for one that is gone its folder, was last changed."""
    for one in (path, *path.parents):
        try:
            status = one.lstat()
        except OSError:
            continue
        return max(status.st_ctime, status.st_mtime) if one == path else 0.0
    return 0.0


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
