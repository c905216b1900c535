"""Where a run keeps its files: `.cub/runs/<run>/<task>/<n>/`; they are what others read of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes
from typing import Any, BinaryIO

from cub.actions.tasks.inside import REQUEST, RESULT
from cub.files.private import read_json, replace_file
from cub.store.ids import letters

RUNS = ".cub/runs"
RUN, STATUS, LOCK, INDEX = "run.json", "status.json", "lock", "index"
SYSTEM, PROMPT = "system.md", "prompt.md"
EVENTS, ERRORS = "events.jsonl", "stderr.log"
BASELINE, CHECKS = "baseline.log", "checks.log"
PATCH, ASIDE = "changes.patch", "git"
# What a run needs to recover from being killed: the files before the attempt, when the last
# process of it ended, what was decided, and that the files were being put back.
START, ENDED, DECISION, RESTORING = "start.json", "ended", "decision.json", "restoring"
__all__ = ["REQUEST", "RESULT"]  # what an agent's commands know of
_LONGEST = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]|^\.|\.$")


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    """The files of one attempt; `name` is how others refer to it, relative to the root."""

    path: Path
    name: str

    def read(self, file: str) -> dict[str, Any]:
        """A file of JSON; {} where it is missing or broken."""
        return read_json(self.path / file)

    def write(self, file: str, tree: dict[str, Any]) -> None:
        """Write a file of JSON; a reader finds the old or the new one."""
        write_json(self.path / file, tree)

    def text(self, file: str, text: str) -> None:
        """Write a text."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / file).write_text(text, encoding="utf-8", errors="surrogateescape", newline="")

    def opened(self, file: str) -> BinaryIO:
        """A file to write into; the folder is made where somebody took it away."""
        self.path.mkdir(parents=True, exist_ok=True)
        return (self.path / file).open("wb")

    def has(self, file: str) -> bool:
        """Whether there is such a file."""
        return (self.path / file).is_file()


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run below `root`."""

    root: Path
    id: str

    @property
    def path(self) -> Path:
        """The folder."""
        return self.root / RUNS / self.id

    def attempt(self, task: str, number: int) -> AttemptFolder:
        """The folder of an attempt, whether or not it is there."""
        name = f"{RUNS}/{self.id}/{safe(task)}/{number}"
        return AttemptFolder(self.root / name, name)

    def attempts(self) -> Iterator[AttemptFolder]:
        """The attempts that got as far as to say how they began."""
        for start in sorted(self.path.glob(f"*/*/{START}")):
            yield AttemptFolder(start.parent, start.parent.relative_to(self.root).as_posix())

    @classmethod
    def all(cls, root: Path) -> list[RunFolder]:
        """The runs of a project, the first one first."""
        return [cls(root, file.parent.name) for file in sorted((root / RUNS).glob(f"*/{RUN}"))]


def keep_apart(root: Path) -> None:
    """Have git look away from what runs keep, also where cub has been removed."""
    ignore = root / RUNS / ".gitignore"
    if not ignore.exists():
        ignore.parent.mkdir(parents=True, exist_ok=True)
        ignore.write_bytes(b"*\n")


def new_run(at: datetime) -> str:
    """The id of a run: when it began, and a few letters."""
    return f"{at:%Y%m%d-%H%M%S}-{letters(token_bytes(8), 4)}"


def safe(task: str) -> str:
    """A task's id, which may be any text, as the name of a folder."""
    name = _UNSAFE.sub(lambda found: "".join(f"%{b:02X}" for b in _bytes(found[0])), task)
    if name == task and len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}-{letters(blake2b(_bytes(task)).digest(), 6)}"


def write_json(path: Path, tree: dict[str, Any]) -> None:
    """Write a file of JSON; a reader finds the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [json.dumps(tree, indent=1).encode() + b"\n"])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
