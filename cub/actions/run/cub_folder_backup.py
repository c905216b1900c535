"""What an agent must not lose: the files in `.cub/`, put back where an attempt took them away.

`.cub` and the files directly in it: of which kind they are and what their rights are, recorded
before an attempt, and made so again where the attempt put something else in their place.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from cub.actions.tasks.stores import read_status_changes
from cub.files import lock_project, read_file
from cub.files.read_files import make_os_error
from cub.files.single_file import replace_single_file
from cub.store.backend import StoreTransaction
from cub.store.record_merge import merge_records, update_record
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex, is_deleted
from cub.store.task_schema import DELETED, IN_PROGRESS

_STORES = (TASKS_FILE, LEDGER_FILE)
# What decides whether a task is worked on.
_STATUS = ("status", "close_reason", "closed_at", "deleted_at")
_APART = (*_STORES, ".cub/lock", ".cub/journal.jsonl")
_LARGEST = 4 << 20  # bytes; what a person keeps in .cub/ is smaller
_LARGEST_LEDGER = 64 << 20  # bytes; who has more of it is told to archive it, elsewhere


@dataclass(slots=True)
class CubFolderBackup:
    """Copies of what is in `.cub/` below `root`, from before an attempt.

    `git checkout .`, `git stash` and their like take stores back to what was last committed:
    what they have lost is put back line by line, and what was added meanwhile stays.
    """

    root: Path
    state: Path
    tasks: bytes
    ledger: bytes
    modes: dict[str, int]
    other_files: dict[str, bytes] = field(default_factory=dict)
    change_count: int = 0

    @classmethod
    def take(cls, root: Path, state: Path) -> CubFolderBackup:
        """How it is now; commands record in the folder `state` what they change from now on."""
        large = _size(root / LEDGER_FILE) > _LARGEST_LEDGER
        ledger = b"" if large else read_file(root, LEDGER_FILE) or b""
        others, modes = dict(_files(root / ".cub")), read_entry_modes(root)
        with lock_project(root):  # a command records a change first, then writes it into the tasks
            tasks, recorded = read_file(root, TASKS_FILE) or b"", len(read_status_changes(state))
        return cls(root, state, tasks, ledger, modes, others, recorded)

    def is_still_claimed(self, task_id: str, by: str) -> bool:
        """Whether no command has changed the task since `by` claimed it."""
        changes = [one for one in read_status_changes(self.state) if one.task == task_id]
        return not changes or (changes[-1].status, changes[-1].by) == (IN_PROGRESS, by)

    def restore_file_types(self) -> list[str]:
        """Put back the folder and its files where something of another kind stands there, and
        their rights; what stood there, in words. Raises CubError.
        """
        try:
            return restore_entry_modes(self.root, self.modes).replacements
        except OSError as error:
            raise make_os_error(error, CUB_FOLDER, "cannot be put back") from error

    def restore_files(self) -> list[str]:
        """Put back files that are gone, and what is missing of the ledger; their names."""
        with lock_project(self.root):  # which ends what a killed command of the agent's left
            gone = [name for name in self.other_files if not os.path.lexists(self.root / name)]
            for name in gone:
                replace_single_file(self.root / name, None, self.other_files[name], name)
            return [*gone, *([LEDGER_FILE] if self._restore_ledger() else [])]

    def restore_tasks(self, change: StoreTransaction, own: str, at: str) -> list[str]:
        """Put back tasks that are gone or older than they were, and the status of those but `own`
        that no command has changed; what there is to tell. The store is locked, and was read just
        now; `at` is this moment.
        """
        if change.tasks.data == self.tasks or not self.tasks:
            return []
        before = TaskIndex.parse(self.tasks)
        gone = self._restore_lines(before, change)
        said = [f"the task {key} was taken away, and is back" for key in gone]
        known = {one.task for one in read_status_changes(self.state)[self.change_count :]} | {own}
        others = [key for key in before.all_ids if key not in known]
        for key in others:
            if status := _restore_status(before, change, key, at):
                said += [f"the task {key} was made {status} by hand: it is not so any more"]
        return said

    def _restore_lines(self, before: TaskIndex, change: StoreTransaction) -> list[str]:
        now, found = change.tasks, []
        for key in before.all_ids:
            known = key in now or key in now.deleted_summaries
            if known and (
                key in now.changed_records or now.read_line(key) == before.read_line(key)
            ):
                continue
            record = before.read_record(key)
            if not known:
                change.put_record(record)
                found.append(key)
            elif _rev(now.read_record(key)) < _rev(record):
                change.put_record(merge_records([record, now.read_record(key)]))
                found.append(key)
        return found

    def _restore_ledger(self) -> bool:
        now = read_file(self.root, LEDGER_FILE) or b""
        if now.startswith(self.ledger):
            return False
        known = set(self.ledger.splitlines())
        added = [line for line in now.splitlines() if line not in known]
        whole = self.ledger + b"".join(line + b"\n" for line in added)
        exists = (self.root / LEDGER_FILE).exists()
        replace_single_file(self.root / LEDGER_FILE, now if exists else None, whole, LEDGER_FILE)
        return True


def _restore_status(before: TaskIndex, change: StoreTransaction, task_id: str, at: str) -> str:
    """Give a task the status again that it had; the one that it had got, "" if it is the same."""
    then, now = before.read_record(task_id), change.tasks.read_record(task_id)
    fields = [name for name in _STATUS if then.get(name) != now.get(name)]
    if not fields:
        return ""
    change.put_record(update_record(now, {name: then.get(name) for name in fields}, at))
    return DELETED if is_deleted(now) else str(now.get("status"))


def _rev(record: dict[str, object]) -> int:
    rev = record.get("rev")
    return rev if type(rev) is int else 0


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The small files of a person's and of cub's in a folder, by path from the root."""
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            name = f".cub/{path.name}"
            if name in _APART or path.name.endswith(".tmp") or path.is_symlink():
                continue
            if path.is_file() and _size(path) <= _LARGEST:
                yield name, path.read_bytes()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


CUB_FOLDER = ".cub"
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


class RestoredModes(NamedTuple):
    """What stood in the place of something else, in words, and whose rights were other ones."""

    replacements: list[str]
    changed_modes: list[str]


def read_entry_modes(root: Path) -> dict[str, int]:
    """Record the kind and the rights (st_mode) of `.cub` below `root` and of what is in it."""
    found = {CUB_FOLDER: _mode(root / CUB_FOLDER)}
    with suppress(OSError):
        for path in sorted((root / CUB_FOLDER).iterdir()):
            if not path.name.endswith(".tmp"):
                found[f"{CUB_FOLDER}/{path.name}"] = _mode(path)
    return {name: mode for name, mode in found.items() if mode}


def restore_entry_modes(root: Path, before: Mapping[str, int]) -> RestoredModes:
    """Make way where something of another kind stands, and give back the rights.

    A link goes, and nothing that it leads to; anything else gets another name beside. What is gone
    is left to the caller, but for the folder itself. Raises OSError.
    """
    replaced, rights = list[str](), list[str]()
    for name, mode in before.items():  # the folder comes first
        path, now = root / name, _mode(root / name)
        if now and stat.S_IFMT(now) != stat.S_IFMT(mode):
            _make_way(path)
            replaced.append(f"{name} was replaced by {_KINDS.get(stat.S_IFMT(now), 'a device')}")
            now = 0
        if not now and name == CUB_FOLDER:
            path.mkdir()
            now = _mode(path)
        if now and stat.S_IMODE(now) != stat.S_IMODE(mode) and not stat.S_ISLNK(now):
            path.chmod(stat.S_IMODE(mode))
            rights.append(name)
    return RestoredModes(replaced, rights)


def _make_way(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    else:
        path.rename(path.with_name(f"{path.name}.replaced-{token_hex(3)}"))


def _mode(path: Path) -> int:
    """The kind and the rights of what stands there, itself not followed; 0 for nothing."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0
