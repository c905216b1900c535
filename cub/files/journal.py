"""Keep the journal of a transaction on disk: after a crash, all files are old or all are new.

A journal counts only where cub wrote it: its first line is signed with the user's key, for this
place. If a change can be neither finished nor undone, the error names the state of each file.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.disk import Disk
from cub.files.read_files import read_file, read_link_text
from cub.files.signed_state import read_signed_line, sign_line
from cub.text import describe_os_error

JOURNAL_FILE = ".cub/journal.jsonl"
_VERSION = 1
_COMMITTED = b'{"committed":true}\n'


@dataclass(frozen=True, slots=True)
class JournalStep:
    """Hold one file's change, which can be replayed.

    Paths are relative to the root; hashes are "" for no file. `rename` puts `temp` over `target`;
    `overwrite` copies it into the same inode (hard links), with `undo` (base64) being the old
    bytes; `delete` removes `target`; `unlink` removes a symbolic link itself, with `before` being
    the hash of its text. `keep` is where the old file stays until the change is complete.
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

    Only that process ends it. `begin_journal` makes one, `load_journal` reads one that was left.
    """

    root: Path
    steps: tuple[JournalStep, ...]
    folders: tuple[str, ...]
    disk: Disk
    stage: Literal["begun", "committed", "taken back"] = "begun"

    def commit(self) -> Journal:
        """Commit the change: after a crash from here on, the next command finishes it."""
        self.disk.append(self.root / JOURNAL_FILE, _COMMITTED)
        return replace(self, stage="committed")

    def revoke(self) -> Journal:
        """Revoke the commit: after a crash from here on, the next command undoes the change.

        The line loses its end: a full disk has no space for another line.
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
    """Warn if a journal waits for the next writing command."""
    if not os.path.lexists(root / JOURNAL_FILE):
        return []
    with suppress(CubError):  # a FIFO, or unreadable: a writing command reports that
        if load_journal(root, Disk()) is None:
            hint = "any command that writes, such as `cub update`, renames the journal"
            return [PlanWarning("cub did not write this journal here", JOURNAL_FILE, hint=hint)]
    hint = "any command that writes, such as `cub update`, ends it first"
    return [PlanWarning("a change was interrupted here", JOURNAL_FILE, hint=hint)]


def set_journal_aside(root: Path, disk: Disk) -> PlanWarning:
    """Rename a journal that cub didn't write here; nothing that it names is changed."""
    name = f"{JOURNAL_FILE}.{secrets.token_hex(4)}.old"
    disk.move_aside(root / JOURNAL_FILE, root / name)
    return PlanWarning(
        f"cub did not write this journal here: no file was changed, and the journal is now {name}",
        JOURNAL_FILE,
        hint=f"delete {name}; if cub was killed here as another user, or before the project was"
        " moved, first look for files named .*.cub-*.tmp: they hold old and new text",
    )


def begin_journal(
    root: Path, steps: Sequence[JournalStep], folders: Sequence[str], disk: Disk
) -> Journal:
    """Write the journal of a change: until `commit`, a crash is undone.

    Raises OSError, with nothing left of it, if it can't be written. An existing journal is another
    process's, and stays.
    """
    journal = Journal(root, tuple(steps), tuple(folders), disk)
    record = {"v": _VERSION, "steps": [asdict(step) for step in steps], "folders": list(folders)}
    try:
        disk.create(root / JOURNAL_FILE, _sign_record(root, json.dumps(record).encode()))
        disk.sync_folder((root / JOURNAL_FILE).parent)
    except FileExistsError:
        raise
    except BaseException:
        journal.remove()
        raise
    return journal


def _sign_record(root: Path, record: bytes) -> bytes:
    """Return the first line; unsigned if there is no key, and then no later command believes it."""
    try:
        return sign_line(root / JOURNAL_FILE, record)
    except (OSError, CubError):
        return record + b"\n"


def load_journal(root: Path, disk: Disk) -> Journal | None:
    """Read the journal that a crash left; None if cub didn't write it here."""
    line, line_end, commit_line = (read_file(root, JOURNAL_FILE) or b"").partition(b"\n")
    if not line_end:  # torn while it was written, before anything else
        return Journal(root, (), (), disk)
    content = json.loads(read_signed_line(root / JOURNAL_FILE, line) or b"{}")
    if content.get("v") != _VERSION:
        return None
    steps = tuple(JournalStep(**step) for step in content["steps"])
    journal = Journal(root, steps, tuple(content["folders"]), disk)
    if commit_line == _COMMITTED:
        return replace(journal, stage="committed")
    # A line without its end was revoked, or torn while it was written, before anything else.
    return replace(journal, stage="taken back") if commit_line else journal


def make_incomplete_error(journal: Journal, error: OSError, second: OSError) -> CubError:
    """Report both errors and the state of each file; the journal stays for the next writer."""
    is_committed = _read_stage(journal) == "committed"
    return CubError(
        f"cannot be written: {describe_os_error(error)}; and taking back what was done failed"
        f" at {find_error_path(journal, second) or JOURNAL_FILE}: {describe_os_error(second)}",
        where=find_error_path(journal, error) or JOURNAL_FILE,
        hint="fix the problem, then run any command that writes, such as `cub update`: it first "
        + ("finishes the change" if is_committed else "takes the rest back"),
        details=list(_list_states(journal)),
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


def _read_stage(journal: Journal) -> str:
    """Return the stage that the next command will read from disk."""
    try:
        return (load_journal(journal.root, journal.disk) or journal).stage
    except (CubError, OSError):
        return journal.stage


def _list_states(journal: Journal) -> Iterator[str]:
    for step in journal.steps:
        is_kept = step.keep and os.path.lexists(journal.root / step.keep)
        old = f"; its old text is in {step.keep}" if is_kept else ""
        yield f"{step.path} {_describe_state(journal, step)}{old}"


def _describe_state(journal: Journal, step: JournalStep) -> str:
    read = read_link_text if step.action == "unlink" else read_file
    try:
        digest = hash_content(read(journal.root, step.target))
    except CubError as error:
        return f"can't be looked at ({error.message})"
    if digest == step.before:
        return "is as it was"
    if digest == step.after:
        return "is new" if step.after else "is deleted"
    if step.action == "overwrite":
        return f"is written in part; its old text is in {JOURNAL_FILE} (undo, base64)"
    return "is neither old nor new"
