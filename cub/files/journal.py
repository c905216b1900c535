"""The journal of a transaction: what is on disk before anything changes, so that a crash ends
either with everything old or with everything new.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.disk import Disk
from cub.files.reading import read

JOURNAL = ".cub/journal.jsonl"
_COMMITTED = b'{"committed":true}\n'
_TEMP = re.compile(r"\..+\.cub-[0-9a-f]{8}\.tmp", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Step:
    """One file's change, replayable. Paths are relative to the root; hashes are "" for no file.

    `rename` puts `temp` over `target`; `overwrite` copies it into the same inode (hard links),
    with `undo` (base64) being the old bytes; `delete` removes `target`; `unlink` removes a
    symbolic link itself, whose text `before` stands for. `keep` is where the old file stays
    until the whole change is made.
    """

    action: Literal["rename", "overwrite", "delete", "unlink"]
    path: str
    target: str
    temp: str
    before: str
    after: str
    undo: str = ""
    keep: str = ""


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal of one change, in the hands of who began it or found it after a crash.

    Only they end it: `begin` makes one where there is none yet, and `load` where one was left.
    """

    root: Path
    steps: tuple[Step, ...]
    folders: tuple[str, ...]
    disk: Disk
    stage: Literal["begun", "committed", "taken back"] = "begun"

    def commit(self) -> Journal:
        """The one moment that decides: from here on a crash is carried to its end."""
        self.disk.append(self.root / JOURNAL, _COMMITTED)
        return replace(self, stage="committed")

    def revoke(self) -> Journal:
        """Take the commit back: from here on a crash is undone again.

        The line loses its end instead of getting a next one: a full disk has no room for that.
        """
        self.disk.shorten(self.root / JOURNAL, 1)
        return replace(self, stage="taken back")

    def end(self) -> None:
        """The change is over, one way or the other."""
        self.disk.unlink(self.root / JOURNAL)
        self.disk.sync_folder((self.root / JOURNAL).parent)


def fingerprint(data: bytes | None) -> str:
    """The sha256 of a file's bytes in hex; "" for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def pending(root: Path) -> list[PlanWarning]:
    """A warning where an interrupted transaction waits for the next writing command."""
    if not os.path.lexists(root / JOURNAL):
        return []
    hint = "any command that writes, such as `cub update`, ends it first"
    return [PlanWarning("a change was interrupted here", JOURNAL, hint=hint)]


def begin(root: Path, steps: Sequence[Step], folders: Sequence[str], disk: Disk) -> Journal:
    """Write down what is going to happen. From here on a crash is undone, until `commit`.

    OSError, with nothing left of it, where it can't be written; one that is there already is
    somebody else's, and stays.
    """
    begun = Journal(root, tuple(steps), tuple(folders), disk)
    record = {"v": 1, "steps": [asdict(step) for step in steps], "folders": list(folders)}
    try:
        disk.create(root / JOURNAL, json.dumps(record).encode() + b"\n")
        disk.sync_folder((root / JOURNAL).parent)
    except FileExistsError:
        raise
    except BaseException:
        begun.end()
        raise
    return begun


def load(root: Path, disk: Disk) -> Journal:
    """Read the journal that a crash left.

    One that names files outside the project was not written by cub: CubError.
    """
    record, _, decided = (read(root, JOURNAL) or b"").partition(b"\n")
    steps, folders = _parsed(record)
    _require_inside(root, steps, folders)
    found = Journal(root, tuple(steps), tuple(folders), disk)
    if decided == _COMMITTED:
        return replace(found, stage="committed")
    # A line without its end was taken back, or torn when it was written; nothing was done then.
    return replace(found, stage="taken back") if decided else found


def encode_undo(data: bytes) -> str:
    """Old bytes as a `Step` carries them."""
    return b64encode(data).decode()


def decode_undo(step: Step) -> bytes:
    """The old bytes of a file that is overwritten in place."""
    return b64decode(step.undo)


def _parsed(record: bytes) -> tuple[list[Step], list[str]]:
    try:
        content = json.loads(record)
        steps = [_step(step) for step in content["steps"]]
        return steps, [*map(str, content["folders"])]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], []  # torn while it was written: nothing else had begun


def _step(values: dict[str, object]) -> Step:
    if values["action"] not in ("rename", "overwrite", "delete", "unlink"):
        raise ValueError("no such action")
    return Step(**{key: str(value) for key, value in values.items()})  # type: ignore[arg-type]


def _require_inside(root: Path, steps: Sequence[Step], folders: Sequence[str]) -> None:
    """Refuse a journal that came with a repository instead of from a crash of cub's."""
    temps = [name for step in steps for name in (step.temp, step.keep) if name]
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
    if not parent.is_relative_to(root):
        return False
    parts = (*parent.relative_to(root).parts, Path(name).name)
    return ".git" not in {part.casefold() for part in parts}
