"""Back up the files in `.cub/` before an attempt, and restore what it took away.

This includes the types and permissions of `.cub` and of the files directly in it.
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
from cub.files.read_files import describe_file_type, make_os_error
from cub.files.single_file import replace_single_file
from cub.store.backend import StoreTransaction
from cub.store.record_merge import merge_records, update_record
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex, is_deleted
from cub.store.task_schema import DELETED, IN_PROGRESS

CUB_FOLDER = ".cub"
# The fields that decide whether a task is worked on.
_STATUS_FIELDS = ("status", "close_reason", "closed_at", "deleted_at")
_EXCLUDED_FILES = (TASKS_FILE, LEDGER_FILE, ".cub/lock", ".cub/journal.jsonl")
_MAX_FILE = 4 << 20  # bytes; what a person keeps in .cub/ is smaller
_MAX_LEDGER = 64 << 20  # bytes; `cub` asks elsewhere to archive a larger one


@dataclass(slots=True)
class CubFolderBackup:
    """Hold copies of what is in `.cub/` below `root`, from before an attempt.

    `git checkout .`, `git stash` and the like reset stores to the last commit. What they have lost
    is restored line by line, and what was added in the meantime stays. `change_count` is the number
    of status changes that commands had recorded in the folder `state`.
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
        """Copy `.cub/` as it is now."""
        is_large = _get_size(root / LEDGER_FILE) > _MAX_LEDGER
        ledger = b"" if is_large else read_file(root, LEDGER_FILE) or b""
        others = dict(_read_other_files(root / ".cub"))
        with lock_project(root):  # a command records a change first, then writes it into the tasks
            modes = read_entry_modes(root)  # the lock is one of the entries
            tasks, count = read_file(root, TASKS_FILE) or b"", len(read_status_changes(state))
        return cls(root, state, tasks, ledger, modes, others, count)

    def is_still_claimed(self, task_id: str, by: str) -> bool:
        """Return whether no command has changed the task since `by` claimed it."""
        changes = [c for c in read_status_changes(self.state) if c.task == task_id]
        return not changes or (changes[-1].status, changes[-1].by) == (IN_PROGRESS, by)

    def restore_file_types(self) -> list[str]:
        """Restore the types and permissions of `.cub` and its entries; describe what was replaced.

        Raises CubError.
        """
        try:
            return restore_entry_modes(self.root, self.modes).replacements
        except OSError as error:
            raise make_os_error(error, CUB_FOLDER, "cannot be restored") from error

    def restore_files(self) -> list[str]:
        """Restore missing files, and what is missing of the ledger; return their names."""
        with lock_project(self.root):  # which finishes what a killed command left
            missing = [name for name in self.other_files if not os.path.lexists(self.root / name)]
            for name in missing:
                replace_single_file(self.root / name, None, self.other_files[name], name)
            return [*missing, *([LEDGER_FILE] if self._restore_ledger() else [])]

    def restore_tasks(
        self, transaction: StoreTransaction, own_task: str, timestamp: str
    ) -> list[str]:
        """Restore tasks that are missing or older, and statuses that no command has changed.

        The status of `own_task` is left alone. Return messages.
        """
        if transaction.tasks.data == self.tasks or not self.tasks:
            return []
        before = TaskIndex.parse(self.tasks)
        restored = self._restore_lines(before, transaction)
        messages = [f"the task {task_id} was removed, and is restored" for task_id in restored]
        changes = read_status_changes(self.state)[self.change_count :]
        changed = {change.task for change in changes} | {own_task}
        for task_id in before.all_ids:
            if task_id in changed:
                continue
            if status := _restore_status(before, transaction, task_id, timestamp):
                messages += [
                    f"the task {task_id} was set to {status} outside of a run: that is undone"
                ]
        return messages

    def _restore_lines(self, before: TaskIndex, transaction: StoreTransaction) -> list[str]:
        current, restored = transaction.tasks, []
        for task_id in before.all_ids:
            exists = task_id in current or task_id in current.deleted_summaries
            has_changed = exists and task_id in current.changed_records
            if has_changed or (exists and current.read_line(task_id) == before.read_line(task_id)):
                continue
            record = before.read_record(task_id)
            if not exists:
                transaction.put_record(record)
                restored.append(task_id)
            elif _get_revision(current.read_record(task_id)) < _get_revision(record):
                transaction.put_record(merge_records([record, current.read_record(task_id)]))
                restored.append(task_id)
        return restored

    def _restore_ledger(self) -> bool:
        current = read_file(self.root, LEDGER_FILE) or b""
        if current.startswith(self.ledger):
            return False
        old_lines, path = set(self.ledger.splitlines()), self.root / LEDGER_FILE
        added = [line for line in current.splitlines() if line not in old_lines]
        data = self.ledger + b"".join(line + b"\n" for line in added)
        replace_single_file(path, current if path.exists() else None, data, LEDGER_FILE)
        return True


def _restore_status(
    before: TaskIndex, transaction: StoreTransaction, task_id: str, timestamp: str
) -> str:
    """Restore a task's status; return the one that it had got, "" if it is the same."""
    old, current = before.read_record(task_id), transaction.tasks.read_record(task_id)
    fields = {name: old.get(name) for name in _STATUS_FIELDS if old.get(name) != current.get(name)}
    if not fields:
        return ""
    transaction.put_record(update_record(current, fields, timestamp))
    return DELETED if is_deleted(current) else str(current.get("status"))


def _get_revision(record: dict[str, object]) -> int:
    revision = record.get("rev")
    return revision if type(revision) is int else 0


def _read_other_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the small files in `.cub/` that are not stores, by path relative to the root."""
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            name = f".cub/{path.name}"
            if name in _EXCLUDED_FILES or path.name.endswith(".tmp") or path.is_symlink():
                continue
            if path.is_file() and _get_size(path) <= _MAX_FILE:
                yield name, path.read_bytes()


def _get_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def restore_folder(folder: Path) -> list[str]:
    """Create a folder that the attempt deleted, for what is restored in it; describe the loss."""
    if folder.is_dir():
        return []
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise make_os_error(error, folder.as_posix(), "cannot be restored") from error
    return [f"the attempt deleted the directory {folder.as_posix()}"]


class RestoredModes(NamedTuple):
    """Describe what had been replaced, and name the entries whose permissions had changed."""

    replacements: list[str]
    changed_modes: list[str]


def read_entry_modes(root: Path) -> dict[str, int]:
    """Return `st_mode` of `.cub` below `root` and of its entries, by path from the root."""
    modes = {CUB_FOLDER: _read_mode(root / CUB_FOLDER)}
    with suppress(OSError):
        for path in sorted((root / CUB_FOLDER).iterdir()):
            if not path.name.endswith(".tmp"):
                modes[f"{CUB_FOLDER}/{path.name}"] = _read_mode(path)
    return {name: mode for name, mode in modes.items() if mode}


def restore_entry_modes(root: Path, before: Mapping[str, int]) -> RestoredModes:
    """Move entries of another type away, and restore permissions. Raises OSError.

    A link is deleted without following it; anything else is renamed. Entries that are missing then
    are left to the caller, except for the folder itself.
    """
    replacements, changed_modes = list[str](), list[str]()
    for name, mode in before.items():  # the folder comes first
        path, current = root / name, _read_mode(root / name)
        if current and stat.S_IFMT(current) != stat.S_IFMT(mode):
            _move_away(path)
            replacements.append(f"{name} was replaced with {describe_file_type(current)}")
            current = 0
        if not current and name == CUB_FOLDER:
            path.mkdir()
            current = _read_mode(path)
        if current and stat.S_IMODE(current) != stat.S_IMODE(mode) and not stat.S_ISLNK(current):
            path.chmod(stat.S_IMODE(mode))
            changed_modes.append(name)
    return RestoredModes(replacements, changed_modes)


def _move_away(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    else:
        path.rename(path.with_name(f"{path.name}.replaced-{token_hex(3)}"))


def _read_mode(path: Path) -> int:
    """Return `st_mode` without following a link; 0 if there is nothing."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0
