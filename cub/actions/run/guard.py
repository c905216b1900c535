"""What an agent must not lose: the files in `.cub/`, put back where an attempt took them away."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO

from cub.files import read
from cub.files.single import replace_single
from cub.store.backend import Change
from cub.store.place import LEDGER, TASKS
from cub.store.tasks import Tasks

_LOCAL = ("lock", "journal.jsonl", "ledger.jsonl", "tasks.jsonl")
_LARGEST = 4 << 20  # bytes; what a person keeps in .cub/ is smaller
_CHUNK = 1 << 20


@dataclass(slots=True)
class Guard:
    """Copies of what is in `.cub/` below `root`, from before an attempt.

    The tasks are kept as bytes. The ledger may be large: it is held open, which keeps the bytes
    of a file that is deleted.
    """

    root: Path
    tasks: bytes
    ledger: BinaryIO | None
    others: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def over(cls, root: Path) -> Guard:
        """Begin to guard; `close` ends it."""
        ledger = None
        with suppress(OSError):
            ledger = (root / LEDGER).open("rb")
        return cls(root, read(root, TASKS) or b"", ledger, dict(_files(root / ".cub")))

    def close(self) -> None:
        """Let the ledger go."""
        if self.ledger:
            self.ledger.close()

    def restore_files(self) -> list[str]:
        """Put back files that are gone, the ledger among them; their names."""
        found = []
        for name, data in self.others.items():
            if not os.path.lexists(self.root / name):
                replace_single(self.root / name, None, data, name)
                found.append(name)
        if self.ledger and not (self.root / LEDGER).exists():
            self.ledger.seek(0)
            pieces = iter(partial(self.ledger.read, _CHUNK), b"")
            replace_single(self.root / LEDGER, None, pieces, LEDGER)
            found.append(LEDGER)
        return found

    def restore_tasks(self, change: Change) -> list[str]:
        """Put back tasks that are gone; their ids. The store is locked, and was read just now."""
        if change.tasks.data == self.tasks or not self.tasks:
            return []
        before = Tasks.parse(self.tasks)
        gone = [key for key in before.briefs if key not in change.tasks]
        for key in gone:
            change.put(before.record(key))
        return gone


def _files(folder: Path) -> list[tuple[str, bytes]]:
    """The small files of a person's and of cub's in a folder, by path from the root."""
    found = []
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            if path.name in _LOCAL or path.name.endswith(".tmp") or path.is_symlink():
                continue
            if path.is_file() and path.stat().st_size <= _LARGEST:
                found.append((f".cub/{path.name}", path.read_bytes()))
    return found
