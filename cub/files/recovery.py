"""Carrying a transaction to one of its two ends, from wherever it stopped."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from cub.edit.plan import PlanWarning
from cub.files import journal
from cub.files.disk import Disk
from cub.files.journal import JOURNAL, Step, fingerprint
from cub.files.reading import link_text, trouble


def recover(root: Path, disk: Disk | None = None) -> list[PlanWarning]:
    """End an interrupted transaction: undo it, or carry it out if it was committed.

    A file that somebody changed since stays as it is and is named in a warning.
    """
    disk = disk or Disk()
    if not journal.pending(root):
        return []
    try:
        return _ended(root, disk)
    except OSError as error:
        raise trouble(error, JOURNAL, "an interrupted change can't be ended") from error


def _ended(root: Path, disk: Disk) -> list[PlanWarning]:
    steps, folders, stage = journal.load(root)
    if stage != "committed":
        if stage == "taken back":
            _restore(root, steps, disk)
        undo(root, steps, folders, disk)
        return [PlanWarning("undid a change that was interrupted", JOURNAL)]
    left = finish(root, steps, disk)
    return [PlanWarning("finished a change that was interrupted", JOURNAL)] + [
        PlanWarning("changed since cub was interrupted: left as it is", path) for path in left
    ]


def undo(root: Path, steps: Sequence[Step], folders: Sequence[str], disk: Disk) -> None:
    """Remove what was prepared: temporary files, new folders, the journal."""
    _drop_temps(root, steps, disk)
    for folder in reversed(folders):
        disk.remove_folder(root / folder)
    journal.close(root, disk)


def finish(root: Path, steps: Sequence[Step], disk: Disk) -> list[str]:
    """Carry out a committed transaction, from wherever it stopped.

    Returns the paths that hold neither old nor new bytes: they are left alone.
    """
    left = [step.path for step in _in_order(steps) if not _carry_out(root, step, disk)]
    _drop_temps(root, steps, disk)
    for folder in sorted({(root / step.target).parent for step in steps}):
        if folder.is_dir():
            disk.sync_folder(folder)
    _prune(root, steps, disk)
    journal.close(root, disk)
    return left


def take_back(root: Path, steps: Sequence[Step], folders: Sequence[str], disk: Disk) -> None:
    """Undo a transaction after its commit, while nothing but overwriting has begun."""
    journal.revoke(root, disk)
    _restore(root, steps, disk)
    undo(root, steps, folders, disk)


def _restore(root: Path, steps: Sequence[Step], disk: Disk) -> None:
    """Put the old bytes back into files that were overwritten in place, whole or in part."""
    for step in steps:
        now, new = _bytes(root / step.target), _bytes(root / step.temp)
        done = fingerprint(now) == step.after
        if step.action == "overwrite" and (done or _torn(now, new, step)):
            disk.overwrite(root / step.target, journal.decode_undo(step))


def _in_order(steps: Sequence[Step]) -> list[Step]:
    """Overwriting comes first: it alone can still fail for want of space, and be taken back.

    A link goes before the file that it leads to, so that it never dangles.
    """
    rank = {"overwrite": 0, "rename": 1, "unlink": 2, "delete": 3}
    return sorted(steps, key=lambda step: rank[step.action])


def _carry_out(root: Path, step: Step, disk: Disk) -> bool:
    return (_unlinked if step.action == "unlink" else _written)(root, step, disk)


def _written(root: Path, step: Step, disk: Disk) -> bool:
    target, temp = root / step.target, root / step.temp
    now, new = _bytes(target), _bytes(temp) if step.temp else None
    mark = fingerprint(now)
    known = mark in (step.before, step.after) or _torn(now, new, step)
    if target.is_dir() or not known:
        return False
    if mark == step.after:
        return True
    if step.action == "delete":
        disk.unlink(target)
        return True
    if new is None:
        return False
    if step.action == "rename" and _renamed(temp, target, disk):
        return True
    disk.overwrite(target, new)
    return True


def _unlinked(root: Path, step: Step, disk: Disk) -> bool:
    """Remove a link itself, if it still leads where it led; what it leads to is not touched."""
    if not os.path.lexists(root / step.target):
        return True
    text = link_text(root, step.target)
    if text is None or fingerprint(text) != step.before:
        return False
    disk.unlink(root / step.target)
    return True


def _renamed(temp: Path, target: Path, disk: Disk) -> bool:
    """Rename, unless the target is a mount point of its own: that can only be overwritten."""
    try:
        disk.rename(temp, target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    return True


def _drop_temps(root: Path, steps: Sequence[Step], disk: Disk) -> None:
    for step in steps:
        if step.temp:
            disk.unlink(root / step.temp)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _torn(now: bytes | None, new: bytes | None, step: Step) -> bool:
    """Whether a file is what stopping while it was overwritten, or restored, leaves.

    Every byte is then the old one or the new one of its place.
    """
    if step.action != "overwrite" or now is None or new is None:
        return False
    old = journal.decode_undo(step)
    if not min(len(old), len(new)) <= len(now) <= max(len(old), len(new)):
        return False
    return all(now[n : n + 1] in (old[n : n + 1], new[n : n + 1]) for n in range(len(now)))


def _prune(root: Path, steps: Sequence[Step], disk: Disk) -> None:
    """Remove folders inside .cub that deletions left empty."""
    for step in steps:
        folder = (root / step.target).parent
        gone = step.action in ("delete", "unlink")
        while gone and root / ".cub" in folder.parents and folder.is_dir():
            disk.remove_folder(folder)
            folder = folder.parent
