"""Keep the journal of a transaction on disk, so that a crash leaves everything old or everything
new.

If a change can be neither finished nor undone, the error says which file is in which state.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.disk import Disk
from cub.files.read_files import read_file, read_link_text
from cub.text import describe_os_error

JOURNAL_FILE = ".cub/journal.jsonl"
_COMMITTED = b'{"committed":true}\n'
_TEMP = re.compile(r"\..+\.cub-[0-9a-f]{8}\.tmp", re.DOTALL)


@dataclass(frozen=True, slots=True)
class JournalStep:
    """Hold one file's change, which can be replayed.

    Paths are relative to the root; hashes are "" for no file. `rename` puts `temp` over `target`;
    `overwrite` copies it into the same inode (hard links), with `undo` (base64) being the old
    bytes; `delete` removes `target`; `unlink` removes a symbolic link itself, whose text `before`
    stands for. `keep` is where the old file stays until the change is complete.
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
    """Hold the journal of one change for the process that began it, or found it after a crash.

    Only that process ends it: `begin_journal` makes one if there is none yet, and `load_journal`
    reads one that was left.
    """

    root: Path
    steps: tuple[JournalStep, ...]
    folders: tuple[str, ...]
    disk: Disk
    stage: Literal["begun", "committed", "taken back"] = "begun"

    def commit(self) -> Journal:
        """Mark the change as decided: from here on a crash is carried to its end."""
        self.disk.append(self.root / JOURNAL_FILE, _COMMITTED)
        return replace(self, stage="committed")

    def revoke(self) -> Journal:
        """Take the commit back: from here on a crash is undone again.

        The line loses its end instead of getting a next one: a full disk has no room for that.
        """
        self.disk.truncate(self.root / JOURNAL_FILE, 1)
        return replace(self, stage="taken back")

    def remove(self) -> None:
        """Delete the journal: the change is complete or undone."""
        self.disk.unlink(self.root / JOURNAL_FILE)
        self.disk.sync_folder((self.root / JOURNAL_FILE).parent)


def hash_content(data: bytes | None) -> str:
    """Return the sha256 of a file's bytes in hex; "" for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def warn_pending_change(root: Path) -> list[PlanWarning]:
    """Warn if an interrupted transaction waits for the next writing command."""
    if not os.path.lexists(root / JOURNAL_FILE):
        return []
    hint = "any command that writes, such as `cub update`, ends it first"
    return [PlanWarning("a change was interrupted here", JOURNAL_FILE, hint=hint)]


def begin_journal(
    root: Path, steps: Sequence[JournalStep], folders: Sequence[str], disk: Disk
) -> Journal:
    """Write down what is going to happen. From here on a crash is undone, until `commit`.

    OSError, with nothing left of it, where it can't be written; one that is there already is
    somebody else's, and stays.
    """
    begun = Journal(root, tuple(steps), tuple(folders), disk)
    record = {"v": 1, "steps": [asdict(step) for step in steps], "folders": list(folders)}
    try:
        disk.create(root / JOURNAL_FILE, json.dumps(record).encode() + b"\n")
        disk.sync_folder((root / JOURNAL_FILE).parent)
    except FileExistsError:
        raise
    except BaseException:
        begun.remove()
        raise
    return begun


def load_journal(root: Path, disk: Disk) -> Journal:
    """Read the journal that a crash left.

    One that names files outside the project was not written by cub: CubError.
    """
    record, _, decided = (read_file(root, JOURNAL_FILE) or b"").partition(b"\n")
    steps, folders = _parse_record(record)
    _require_inside(root, steps, folders)
    found = Journal(root, tuple(steps), tuple(folders), disk)
    if decided == _COMMITTED:
        return replace(found, stage="committed")
    # A line without its end was taken back, or torn when it was written; nothing was done then.
    return replace(found, stage="taken back") if decided else found


def encode_undo(data: bytes) -> str:
    """Old bytes as a `JournalStep` carries them."""
    return b64encode(data).decode()


def decode_undo(step: JournalStep) -> bytes:
    """Return the old bytes of a file that is overwritten in place."""
    return b64decode(step.undo)


def _parse_record(record: bytes) -> tuple[list[JournalStep], list[str]]:
    try:
        content = json.loads(record)
        steps = [_step(step) for step in content["steps"]]
        return steps, [*map(str, content["folders"])]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [], []  # torn while it was written: nothing else had begun


def _step(values: dict[str, object]) -> JournalStep:
    if values["action"] not in ("rename", "overwrite", "delete", "unlink"):
        raise ValueError("no such action")
    return JournalStep(**{key: str(value) for key, value in values.items()})  # type: ignore[arg-type]


def _require_inside(root: Path, steps: Sequence[JournalStep], folders: Sequence[str]) -> None:
    """Refuse a journal that came with a repository instead of from a crash of cub's."""
    temps = [name for step in steps for name in (step.temp, step.keep) if name]
    names = [*temps, *folders, *(step.target for step in steps)]
    inside = all(_is_inside(root, name) for name in names)
    if not inside or not all(_TEMP.fullmatch(temp.rpartition("/")[2]) for temp in temps):
        raise CubError(
            "this journal was not written by cub; nothing was touched",
            where=JOURNAL_FILE,
            hint=f"look into it, then delete {JOURNAL_FILE}",
        )


def _is_inside(root: Path, name: str) -> bool:
    if "\0" in name or ".." in name.split("/"):
        return False
    parent = Path(os.path.realpath((root / name).parent))
    if not parent.is_relative_to(root):
        return False
    parts = (*parent.relative_to(root).parts, Path(name).name)
    return ".git" not in {part.casefold() for part in parts}


def make_incomplete_error(journal: Journal, error: OSError, second: OSError) -> CubError:
    """Report both errors and the state of each file; the journal stays for the next writer."""
    forward = _stage(journal) == "committed"
    return CubError(
        f"cannot be written: {describe_os_error(error)}; and taking back what was done failed"
        f" at {find_error_path(journal, second) or JOURNAL_FILE}: {describe_os_error(second)}",
        where=find_error_path(journal, error) or JOURNAL_FILE,
        hint="mend that, then run any command that writes, such as `cub update`: it first "
        + ("finishes the change" if forward else "takes the rest back"),
        details=list(_states(journal)),
    )


def find_error_path(journal: Journal, error: OSError) -> str:
    """Return the user's name of the file that an error is about; "" if it is not in the change."""
    for name in (error.filename2, error.filename):
        if isinstance(name, str) and name:
            relative = os.path.relpath(name, journal.root).replace(os.sep, "/")
            if relative in journal.folders:
                return relative
            for step in journal.steps:
                if relative in (step.target, step.temp, step.keep):
                    return step.path
    return ""


def _stage(journal: Journal) -> str:
    """Return how far the journal on disk says the change is; the next command reads the same."""
    try:
        return load_journal(journal.root, journal.disk).stage
    except (CubError, OSError):
        return journal.stage


def _states(journal: Journal) -> Iterator[str]:
    for step in journal.steps:
        kept = step.keep and os.path.lexists(journal.root / step.keep)
        old = f"; its old text is in {step.keep}" if kept else ""
        yield f"{step.path} {_state(journal, step)}{old}"


def _state(journal: Journal, step: JournalStep) -> str:
    look = read_link_text if step.action == "unlink" else read_file
    try:
        mark = hash_content(look(journal.root, step.target))
    except CubError as error:
        return f"can't be looked at ({error.message})"
    if mark == step.before:
        return "is as it was"
    if mark == step.after:
        return "is new" if step.after else "is deleted"
    if step.action == "overwrite":
        return f"is written in part; its old text is in {JOURNAL_FILE} (undo, base64)"
    return "is neither old nor new"
