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

from cub.actions.run.folders import (
    ASIDE,
    CHECKED,
    CLIENT,
    COMMIT,
    DECISION,
    ENDED,
    FOUND,
    INDEX,
    PATCH,
    RESTORING,
    SETTINGS,
    START,
    STATUS,
    AttemptFolder,
    RunFolder,
)  # fmt: skip
from cub.actions.run.ground import GitGround, git_ground
from cub.errors import CubError
from cub.git import branches, history, own_settings
from cub.git.checkout import Checkout
from cub.git.snapshot import Snapshot
from cub.processes.command import Limits

_KEEPER = 8.0  # seconds that the end of a killed run's processes may take
# Seconds that something may have gone on after the last sign of life, where nobody noted the end:
# a run that lives gives one each second.
_UNNOTED = 2.0
_COMMIT = 1800.0  # seconds that a commit and its hooks may take
_MANY = 5  # files that are named


class Concluded(NamedTuple):
    """Whether what was decided is carried out, and what there is to tell of the files."""

    done: bool
    said: list[str]


@dataclass(frozen=True, slots=True)
class Aftermath:
    """An attempt of a killed run: its checkout, how that was before, and what was decided."""

    ground: GitGround
    before: Snapshot
    files: AttemptFolder
    run: RunFolder
    decision: dict[str, Any]

    def conclude(self) -> Concluded:
        """Carry out what was decided, or put the files back. Raises CubError where git can't."""
        self.ground.remove_stale_locks(_time_of(self.files.state / START))
        said = self._restore_around()
        now = self.ground.snapshot(self.before)
        if self.decision.get("ok"):
            if not self.decision.get("message") or self._is_committed(now):
                return Concluded(True, said)
            failed = self._commit(now)
            if not failed:
                return Concluded(True, said)
            said += failed
            now = self.ground.snapshot(self.before)
        return Concluded(False, [*said, *self._put_back(now)])

    def _restore_around(self) -> list[str]:
        """Put back what decides how git behaves, before git is called; then what is the person's
        alone.
        """
        said = list[str]()
        noted, top = self.run.read(SETTINGS).get("settings"), self.ground.checkout.top
        last = self._last_change()
        if noted is not None:
            before = own_settings.Settings.from_json(top, noted)
            changed = own_settings.restore_settings(before, self.files.clear_way(ASIDE), last)
            said += [f"{name} was changed by the attempt, and is back" for name in changed]
        later = {path for path in self.before.untracked if _changed_at(top / path) > last}
        aside = self.files.clear_links()
        return [*said, *self.ground.restore_persons(self.before, aside, later, rights=True).said]

    def _is_committed(self, now: Snapshot) -> bool:
        """Whether the commit was made, or a person has committed all of it since."""
        made = self.files.read(COMMIT)
        top, head = self.ground.checkout.top, str(self.decision.get("head", ""))
        if made and history.find_commit(top, str(made.get("parent")), str(made.get("tree"))):
            return True
        if now.head == head or branches.last_commit_is(top, head, str(self.decision["message"])):
            return False  # its own commit, changed by a hook, is none that was decided
        after = self._after()
        if after is None:
            return False
        changed = [one for one in self.ground.changes(self.before, after) if not one.untracked]
        return bool(changed) and history.has_content(top, after.tree, [one.path for one in changed])

    def _commit(self, now: Snapshot) -> list[str]:
        """Make the commit now, of what the checks have seen; why it can't be made."""
        after = self._after()
        if after is None or now.head != self.decision.get("head"):
            return ["HEAD was moved after the run was killed: what was accepted is not committed"]
        text, limits = str(self.decision["message"]), Limits(_COMMIT, None)
        failure = self.ground.commit(self.before, after, text, limits).failure
        return [f"what was accepted could not be committed: {failure}"] if failure else []

    def _after(self) -> Snapshot | None:
        return snapshot_of(self.decision.get("after"))

    def _put_back(self, now: Snapshot) -> list[str]:
        """Keep the changes, and take them back: all but what somebody else did since."""
        said, before, spared = list[str](), self.before, set[str]()
        top = self.ground.checkout.top
        if self._was_moved(now):
            if not history.is_ancestor(top, before.head, now.head):
                return ["HEAD was led elsewhere after the run was killed: the files stay"]
            said.append("HEAD was moved after the run was killed, and stays")
            spared.update(history.list_paths_between(top, before.head, now.head))
            before = replace(before, head=now.head, branch=now.branch)
        changed = self.ground.changes(self.before, now)
        kept = PATCH if not self.files.has(PATCH) else "changes-when-killed.patch"
        if changed and self.ground.patch(self.before, now, self.files.make_path(kept)):
            said.append(f"its changes are kept in {self.files.name}/{kept}")
        last = self._last_moment()
        paths = [one.path for one in changed if one.path not in spared]
        later = [path for path in paths if _changed_at(top / path) > last]
        what = "was changed after the run was killed, and stays"
        said += [f"{path} {what}" for path in later[:_MANY]]
        return said + self.ground.restore(before, now, {*spared, *later})

    def _was_moved(self, now: Snapshot) -> bool:
        """Whether somebody else has led HEAD elsewhere since the attempt's last process ended."""
        if (now.head, now.branch) == (self.before.head, self.before.branch):
            return False
        known = {self.before.head, self.files.read(FOUND).get("head"), self.decision.get("head")}
        if now.head in known and now.branch == self.before.branch:
            return False
        top, text = self.ground.checkout.top, str(self.decision.get("message", ""))
        if text and branches.last_commit_is(top, str(self.decision.get("head", "")), text):
            return False
        ended = self.files.ended_at(ENDED) or self._last_sign()
        return branches.moved_at(top) > ended

    def _last_change(self) -> float:
        """The time after which no process of the attempt changed a file."""
        ended, checked = self.files.ended_at(ENDED), self.files.ended_at(CHECKED)
        begun, found = (_time_of(self.files.state / name) for name in (CLIENT, FOUND))
        if (begun and not ended) or found > checked:  # its keeper was killed as well
            ended = self._last_sign() + _UNNOTED
        return max(ended, checked)

    def _last_moment(self) -> float:
        """The same of what the run itself was writing; git may have gone on when cub was killed."""
        steps = [_time_of(self.files.state / name) for name in (RESTORING, DECISION)]
        step = max(steps)
        return max(self._last_change(), step + _UNNOTED if step else 0.0)

    def _last_sign(self) -> float:
        """When the run was alive for the last time, as far as it wrote anything down; where the
        machine was started anew since, until then.
        """
        from psutil import boot_time

        places = [self.run.state / STATUS, self.files.state / CLIENT, self.files.state / START]
        return max(boot_time(), *map(_time_of, places))


def snapshot_of(tree: object) -> Snapshot | None:
    """How the files were; None where nobody wrote that down, or nobody can read it."""
    try:
        return Snapshot.from_json(tree)
    except CubError:
        return None


def await_end(files: AttemptFolder) -> None:
    """What keeps the client writes a file when all has ended; it may be at it right now."""
    deadline = time.monotonic() + _KEEPER
    while not files.ended_at(ENDED) and time.monotonic() < deadline:
        time.sleep(0.05)


def repair_repository(start: dict[str, Any], folder: RunFolder, files: AttemptFolder) -> list[str]:
    """Put back the repository that an attempt worked in, if it destroyed that; what there is to
    tell. Without it, nobody finds the checkout.
    """
    top = str(start.get("top", ""))
    if not top or not Path(top).is_dir():
        return []
    place = Checkout(Path(top), folder.state / INDEX, ())
    return list(filter(None, [place.repair_repository(files.clear_links())]))


def ground_then(
    start: dict[str, Any], folder: RunFolder, environ: Mapping[str, str]
) -> GitGround | None:
    """The checkout that the attempt worked in, if it is there."""
    place = Path(str(start.get("folder", "")))
    if not place.is_dir():
        return None
    try:
        return git_ground(place, folder.state / INDEX, environ)
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
