"""The journal of a transaction: what is on disk before anything changes, so that a crash ends
either with everything old or with everything new.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from cub.edit.plan import PlanWarning
from cub.files.disk import Disk

JOURNAL = ".cub/journal.jsonl"
_COMMITTED = b'{"committed":true}\n'


@dataclass(frozen=True, slots=True)
class Step:
    """One file's change, replayable. Paths are relative to the root; hashes are "" for no file.

    `rename` puts `temp` over `target`; `overwrite` copies it into the same inode (hard links),
    with `undo` (base64) being the old bytes; `delete` removes `target`.
    """

    action: Literal["rename", "overwrite", "delete"]
    path: str
    target: str
    temp: str
    before: str
    after: str
    undo: str = ""


def fingerprint(data: bytes | None) -> str:
    """The sha256 of a file's bytes in hex; "" for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def pending(root: Path) -> list[PlanWarning]:
    """A warning where an interrupted transaction waits for the next writing command."""
    if not (root / JOURNAL).exists():
        return []
    hint = "any command that writes, such as `cub update`, ends it first"
    return [PlanWarning("a change was interrupted here", JOURNAL, hint=hint)]


def begin(root: Path, steps: Sequence[Step], folders: Sequence[str], disk: Disk) -> None:
    """Write down what is going to happen. From here on a crash is undone, until `commit`."""
    record = {"v": 1, "steps": [asdict(step) for step in steps], "folders": list(folders)}
    disk.create(root / JOURNAL, json.dumps(record).encode() + b"\n")
    disk.sync_folder((root / JOURNAL).parent)


def commit(root: Path, disk: Disk) -> None:
    """The one moment that decides: from here on a crash is carried to its end."""
    disk.append(root / JOURNAL, _COMMITTED)


def recover(root: Path, disk: Disk | None = None) -> list[PlanWarning]:
    """End an interrupted transaction: undo it, or carry it out if it was committed.

    A file that somebody changed since stays as it is and is named in a warning.
    """
    disk = disk or Disk()
    if not pending(root):
        return []
    record, _, committed = (root / JOURNAL).read_bytes().partition(b"\n")
    try:
        content = json.loads(record)
        steps = [Step(**step) for step in content["steps"]]
        folders = list(content["folders"])
    except (ValueError, KeyError, TypeError):
        steps, folders = [], []  # torn while it was written: nothing else had begun
    if committed != _COMMITTED:
        undo(root, steps, folders, disk)
        return [PlanWarning("undid a change that was interrupted", JOURNAL)]
    left = finish(root, steps, disk)
    return [PlanWarning("finished a change that was interrupted", JOURNAL)] + [
        PlanWarning("changed since cub was interrupted: left as it is", path) for path in left
    ]


def undo(root: Path, steps: Sequence[Step], folders: Sequence[str], disk: Disk) -> None:
    """Remove what was prepared: temporary files, new folders, the journal."""
    for step in steps:
        if step.temp:
            disk.unlink(root / step.temp)
    for folder in reversed(folders):
        disk.remove_folder(root / folder)
    _close(root, disk)


def finish(root: Path, steps: Sequence[Step], disk: Disk) -> list[str]:
    """Carry out a committed transaction, from wherever it stopped.

    Returns the paths that hold neither old nor new bytes: they are left alone.
    """
    left = [step.path for step in _in_order(steps) if not _carry_out(root, step, disk)]
    for folder in sorted({(root / step.target).parent for step in steps}):
        if folder.is_dir():
            disk.sync_folder(folder)
    _prune(root, steps, disk)
    _close(root, disk)
    return left


def restore(root: Path, steps: Sequence[Step], disk: Disk) -> None:
    """Put the old bytes back into files that were being overwritten in place."""
    for step in steps:
        if step.action == "overwrite":
            disk.overwrite(root / step.target, b64decode(step.undo))


def encode_undo(data: bytes) -> str:
    """Old bytes as a `Step` carries them."""
    return b64encode(data).decode()


def _in_order(steps: Sequence[Step]) -> list[Step]:
    """Overwriting comes first: it alone can still fail for want of space, and be taken back."""
    rank = {"overwrite": 0, "rename": 1, "delete": 2}
    return sorted(steps, key=lambda step: rank[step.action])


def _carry_out(root: Path, step: Step, disk: Disk) -> bool:
    target, temp = root / step.target, root / step.temp
    now = target.read_bytes() if target.exists() else None
    if fingerprint(now) != step.after:
        new = temp.read_bytes() if step.temp and temp.exists() else None
        if fingerprint(now) != step.before and not _torn(now, new, step):
            _drop(step, temp, disk)
            return False
        if step.action == "delete":
            disk.unlink(target)
            return True
        if new is None:
            return False
        if step.action == "rename":
            disk.rename(temp, target)
            return True
        disk.overwrite(target, new)
    _drop(step, temp, disk)
    return True


def _drop(step: Step, temp: Path, disk: Disk) -> None:
    if step.temp and temp.exists():
        disk.unlink(temp)


def _torn(now: bytes | None, new: bytes | None, step: Step) -> bool:
    """Whether a file is what an overwrite leaves that stopped midway: new bytes, then old ones."""
    if step.action != "overwrite" or now is None or new is None:
        return False
    old = b64decode(step.undo)
    same = next((n for n, (a, b) in enumerate(zip(now, new, strict=False)) if a != b), None)
    written = min(len(now), len(new)) if same is None else same
    return now[written:] == old[written:]


def _prune(root: Path, steps: Sequence[Step], disk: Disk) -> None:
    """Remove folders inside .cub that deletions left empty."""
    for step in steps:
        folder = (root / step.target).parent
        while step.action == "delete" and root / ".cub" in folder.parents and folder.is_dir():
            disk.remove_folder(folder)
            folder = folder.parent


def _close(root: Path, disk: Disk) -> None:
    disk.unlink(root / JOURNAL)
    disk.sync_folder((root / JOURNAL).parent)
