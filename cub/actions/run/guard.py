"""What an agent must not lose: the files in `.cub/`, put back where an attempt took them away."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cub.actions.run.own_folder import FOLDER, record_modes, restore_modes
from cub.actions.tasks.changes import read_changes
from cub.files import exclusive, read
from cub.files.reading import trouble
from cub.files.single import replace_single
from cub.store.backend import Change
from cub.store.briefs import is_deleted
from cub.store.change import changed
from cub.store.merge import merged
from cub.store.place import LEDGER, TASKS
from cub.store.spelling import DELETED, IN_PROGRESS
from cub.store.tasks import Tasks

_STORES = (TASKS, LEDGER)
# What decides whether a task is worked on.
_STATUS = ("status", "close_reason", "closed_at", "deleted_at")
_APART = (*_STORES, ".cub/lock", ".cub/journal.jsonl")
_LARGEST = 4 << 20  # bytes; what a person keeps in .cub/ is smaller
_LARGEST_LEDGER = 64 << 20  # bytes; who has more of it is told to archive it, elsewhere


@dataclass(slots=True)
class Guard:
    """Copies of what is in `.cub/` below `root`, from before an attempt.

    `git checkout .`, `git stash` and their like take stores back to what was last committed:
    what they have lost is put back line by line, and what was added meanwhile stays.
    """

    root: Path
    state: Path
    tasks: bytes
    ledger: bytes
    modes: dict[str, int]
    others: dict[str, bytes] = field(default_factory=dict)
    recorded: int = 0

    @classmethod
    def over(cls, root: Path, state: Path) -> Guard:
        """How it is now; commands record in the folder `state` what they change from now on."""
        large = _size(root / LEDGER) > _LARGEST_LEDGER
        ledger = b"" if large else read(root, LEDGER) or b""
        others, modes = dict(_files(root / ".cub")), record_modes(root)
        with exclusive(root):  # a command records a change first, then writes it into the tasks
            tasks, recorded = read(root, TASKS) or b"", len(read_changes(state))
        return cls(root, state, tasks, ledger, modes, others, recorded)

    def is_claimed(self, key: str, by: str) -> bool:
        """Whether no command has changed the task since `by` claimed it."""
        changes = [one for one in read_changes(self.state) if one.task == key]
        return not changes or (changes[-1].status, changes[-1].by) == (IN_PROGRESS, by)

    def restore_kinds(self) -> list[str]:
        """Put back the folder and its files where something of another kind stands there, and
        their rights; what stood there, in words. Raises CubError.
        """
        try:
            return restore_modes(self.root, self.modes).replaced
        except OSError as error:
            raise trouble(error, FOLDER, "cannot be put back") from error

    def restore_files(self) -> list[str]:
        """Put back files that are gone, and what is missing of the ledger; their names."""
        with exclusive(self.root):  # which ends what a killed command of the agent's left
            gone = [name for name in self.others if not os.path.lexists(self.root / name)]
            for name in gone:
                replace_single(self.root / name, None, self.others[name], name)
            return [*gone, *([LEDGER] if self._restore_ledger() else [])]

    def restore_tasks(self, change: Change, own: str, at: str) -> list[str]:
        """Put back tasks that are gone or older than they were, and the status of those but `own`
        that no command has changed; what there is to tell. The store is locked, and was read just
        now; `at` is this moment.
        """
        if change.tasks.data == self.tasks or not self.tasks:
            return []
        before = Tasks.parse(self.tasks)
        gone = self._restore_lines(before, change)
        said = [f"the task {key} was taken away, and is back" for key in gone]
        known = {one.task for one in read_changes(self.state)[self.recorded :]} | {own}
        others = [key for key in before.ids if key not in known]
        for key in others:
            if status := _restore_status(before, change, key, at):
                said += [f"the task {key} was made {status} by hand: it is not so any more"]
        return said

    def _restore_lines(self, before: Tasks, change: Change) -> list[str]:
        now, found = change.tasks, []
        for key in before.ids:
            known = key in now or key in now.deleted
            if known and (key in now.apart or now.line(key) == before.line(key)):
                continue
            record = before.record(key)
            if not known:
                change.put(record)
                found.append(key)
            elif _rev(now.record(key)) < _rev(record):
                change.put(merged([record, now.record(key)]))
                found.append(key)
        return found

    def _restore_ledger(self) -> bool:
        now = read(self.root, LEDGER) or b""
        if now.startswith(self.ledger):
            return False
        known = set(self.ledger.splitlines())
        added = [line for line in now.splitlines() if line not in known]
        whole = self.ledger + b"".join(line + b"\n" for line in added)
        exists = (self.root / LEDGER).exists()
        replace_single(self.root / LEDGER, now if exists else None, whole, LEDGER)
        return True


def _restore_status(before: Tasks, change: Change, key: str, at: str) -> str:
    """Give a task the status again that it had; the one that it had got, "" if it is the same."""
    then, now = before.record(key), change.tasks.record(key)
    fields = [name for name in _STATUS if then.get(name) != now.get(name)]
    if not fields:
        return ""
    change.put(changed(now, {name: then.get(name) for name in fields}, at))
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
