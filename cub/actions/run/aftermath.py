"""The files of an attempt whose run was killed: committed after all, or put back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cub.actions.run.folders import (
    DECISION,
    ENDED,
    INDEX,
    PATCH,
    RESTORING,
    STATUS,
    AttemptFolder,
    RunFolder,
)  # fmt: skip
from cub.actions.run.ground import GitGround, git_ground
from cub.errors import CubError
from cub.git import branches
from cub.git.snapshot import Snapshot
from cub.processes.command import Limits

_KEEPER = 8.0  # seconds that the end of a killed run's processes may take
_SLACK = 10.0  # seconds that git may have gone on when its caller was killed
_COMMIT = 1800.0  # seconds that a commit and its hooks may take
_MANY = 5  # files that are named


def snapshot_of(start: dict[str, Any]) -> Snapshot | None:
    """How the files were; None where nobody wrote that down, or nobody can read it."""
    try:
        return Snapshot.from_json(start.get("before"))
    except CubError:
        return None


def is_committed(
    ground: GitGround | None, before: Snapshot | None, decision: dict[str, Any]
) -> bool:
    """Whether the commit of an accepted attempt is there; where the files still are those that
    the checks accepted, it is made now.
    """
    text = str(decision.get("message", ""))
    if not text or ground is None or before is None:
        return not text  # nothing was to be committed: what was decided holds
    now = ground.snapshot(before)
    if now.tree == decision.get("tree"):
        limits = Limits(_COMMIT, None)
        return not ground.commit(before, now, text, limits).failure
    return branches.last_commit_is(ground.checkout.top, str(decision.get("head", "")), text)


def put_back(
    ground: GitGround, before: Snapshot, files: AttemptFolder, folder: RunFolder
) -> list[str]:
    """Keep the changes, and take them back: all but what somebody else did since."""
    now = ground.snapshot(before)
    changed = ground.changes(before, now)
    top, last = ground.checkout.top, _last_moment(files, folder)
    moved = (now.head, now.branch) != (before.head, before.branch)
    if moved and branches.moved_at(top) > last:
        return ["HEAD was moved after the run was killed: what it had changed stays as it is"]
    kept = PATCH if not files.has(PATCH) else "changes-when-killed.patch"
    said = []
    if changed and ground.patch(before, now, files.path / kept):
        said.append(f"its changes are kept in {files.name}/{kept}")
    later = [one.path for one in changed if _changed_at(top / one.path) > last]
    said += [f"{path} was changed after the run was killed, and stays" for path in later[:_MANY]]
    return said + ground.restore(before, now, later)


def _last_moment(files: AttemptFolder, folder: RunFolder) -> float:
    """The time after which no process of the attempt changed a file."""
    ended = _time_of(files.path / ENDED)
    steps = [_time_of(files.path / name) for name in (RESTORING, DECISION)]
    if not ended:
        steps.append(_time_of(folder.path / STATUS))
    later = max(steps)
    return max(ended, later + _SLACK if later else 0.0)


def await_end(files: AttemptFolder) -> None:
    """What keeps the client writes a file when all has ended; it may be at it right now."""
    deadline = time.monotonic() + _KEEPER
    while not files.has(ENDED) and time.monotonic() < deadline:
        time.sleep(0.05)


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


def ground_then(
    start: dict[str, Any], folder: RunFolder, environ: Mapping[str, str]
) -> GitGround | None:
    """The checkout that the attempt worked in, if it is there."""
    place = Path(str(start.get("folder", "")))
    if not place.is_dir():
        return None
    try:
        return git_ground(place, folder.path / INDEX, environ)
    except CubError:
        return None
