"""The journal of a transaction: what is on disk before anything changes, so that a crash ends
either with everything old or with everything new.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.disk import Disk
from cub.files.reading import read

JOURNAL = ".cub/journal.jsonl"
_COMMITTED = b'{"committed":true}\n'
_TAKEN_BACK = b'{"taken back":true}\n'
_TEMP = re.compile(r"\..+\.cub-[0-9a-f]{8}\.tmp", re.DOTALL)


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
    if not os.path.lexists(root / JOURNAL):
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

    A file that somebody changed since stays as it is and is named in a warning. A journal that
    names files outside the project was not written by cub: CubError, and nothing is touched.
    """
    disk = disk or Disk()
    if not pending(root):
        return []
    record, _, decided = (read(root, JOURNAL) or b"").partition(b"\n")
    steps, folders = _parsed(record)
    _require_inside(root, steps, folders)
    if decided != _COMMITTED:
        if decided.startswith(_COMMITTED):  # and a third line, whole or torn: taken back
            restore(root, steps, disk)
        undo(root, steps, folders, disk)
        return [PlanWarning("undid a change that was interrupted", JOURNAL)]
    left = finish(root, steps, disk)
    return [PlanWarning("finished a change that was interrupted", JOURNAL)] + [
        PlanWarning("changed since cub was interrupted: left as it is", path) for path in left
    ]


def _parsed(record: bytes) -> tuple[list[Step], list[str]]:
    try:
        content = json.loads(record)
        return [Step(**step) for step in content["steps"]], [*map(str, content["folders"])]
    except (ValueError, KeyError, TypeError, RecursionError):
        return [], []  # torn while it was written: nothing else had begun


def _require_inside(root: Path, steps: Sequence[Step], folders: Sequence[str]) -> None:
    """Refuse a journal that came with a repository instead of from a crash of cub's."""
    temps = [step.temp for step in steps if step.temp]
    names = [*temps, *folders, *(step.target for step in steps)]
    inside = all(_is_inside(root, name) for name in names)
    if not inside or not all(_TEMP.fullmatch(temp.rpartition("/")[2]) for temp in temps):
        raise CubError(
            "this journal was not written by cub; nothing was touched",
            where=JOURNAL,
            hint=f"look into it, then delete {JOURNAL}",
        )


def _is_inside(root: Path, name: str) -> bool:
    if "\0" in name or ".." in name.split("/"):
        return False
    parent = Path(os.path.realpath((root / name).parent))
    return parent.is_relative_to(root) and ".git" not in parent.relative_to(root).parts


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
    for step in steps:
        _drop(root, step, disk)
    for folder in sorted({(root / step.target).parent for step in steps}):
        if folder.is_dir():
            disk.sync_folder(folder)
    _prune(root, steps, disk)
    _close(root, disk)
    return left


def take_back(root: Path, steps: Sequence[Step], folders: Sequence[str], disk: Disk) -> None:
    """Undo a transaction after its commit, while nothing but overwriting has begun."""
    disk.append(root / JOURNAL, _TAKEN_BACK)
    restore(root, steps, disk)
    undo(root, steps, folders, disk)


def restore(root: Path, steps: Sequence[Step], disk: Disk) -> None:
    """Put the old bytes back into files that were overwritten in place, whole or in part."""
    for step in steps:
        now, new = _bytes(root / step.target), _bytes(root / step.temp)
        done = fingerprint(now) == step.after
        if step.action == "overwrite" and (done or _torn(now, new, step)):
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
    now, new = _bytes(target), _bytes(temp) if step.temp else None
    if fingerprint(now) == step.after and not target.is_dir():
        return True
    if target.is_dir() or (fingerprint(now) != step.before and not _torn(now, new, step)):
        return False
    if step.action == "delete":
        disk.unlink(target)
        return True
    if new is None:
        return False
    if step.action == "rename" and _renamed(temp, target, disk):
        return True
    disk.overwrite(target, new)
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


def _drop(root: Path, step: Step, disk: Disk) -> None:
    if step.temp and (root / step.temp).exists():
        disk.unlink(root / step.temp)


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _torn(now: bytes | None, new: bytes | None, step: Step) -> bool:
    """Whether a file is what stopping while it was overwritten, or restored, leaves.

    Every byte is then the old one or the new one of its place.
    """
    if step.action != "overwrite" or now is None or new is None:
        return False
    old = b64decode(step.undo)
    if not min(len(old), len(new)) <= len(now) <= max(len(old), len(new)):
        return False
    return all(now[n : n + 1] in (old[n : n + 1], new[n : n + 1]) for n in range(len(now)))


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
