"""Read and write the files of runs, and lock checkouts.

`.cub/runs/<run>/<task>/<n>/` has what people and agents read. What decides is signed, in this
user's state folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from secrets import token_bytes
from typing import Any, BinaryIO

from cub.actions.command_options import RUN_OPTION_NAMES, RunOptions
from cub.actions.tasks.current_attempt import (
    RESULT_FILE,
    RUN_FILE,
    RUN_LOCK_FILE,
    is_run_alive,
)
from cub.errors import CubError
from cub.files.internal_files import replace_file
from cub.files.lock import require_lock_file
from cub.files.signed_state import (
    find_project_state,
    make_private_folder,
    make_state_error,
    read_signed,
    write_signed,
)
from cub.git.worktree import find_git_dir, find_toplevel
from cub.store.task_ids import encode_letters

RUNS_FOLDER = ".cub/runs"
STATUS_FILE = "status.json"
PLACES_FOLDER = "places"  # in the state folder of a run
SYSTEM_FILE, PROMPT_FILE = "system.md", "prompt.md"
EVENTS_FILE, STDERR_FILE = "events.jsonl", "stderr.log"
BASELINE_LOG, CHECKS_LOG, DEFINITIONS_LOG = "baseline.log", "checks.log", "definitions.log"
PATCH_FILE = "changes.patch"
LEFT_OUT_FOLDER = "left-out"  # new files that look like secrets
# What recovery needs: what the attempt began from, what was decided, what was recorded for the
# commit, to be withdrawn if that can't be made, and the commit.
START_FILE, DECISION_FILE = "start.json", "decision.json"
RECORDS_FILE, COMMIT_FILE = "records.json", "commit.json"
_MAX_NAME = 80  # characters
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]|^\.|\.$")


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    """Hold the folders of one attempt: `path` for public files, `state` for what decides.

    `name` is `path` relative to the project's root.
    """

    path: Path
    name: str
    state: Path

    def read_state(self, file: str) -> dict[str, Any]:
        """Read a file of what decides; {} if it is missing, or not signed by cub."""
        return read_signed(self.state / file)

    def write_state(self, file: str, tree: dict[str, Any]) -> None:
        """Write a signed file of what decides."""
        write_signed(self.state / file, tree)

    def write_result(self, event: dict[str, Any], status: str, why: str) -> None:
        """Write how the attempt ended and what its task got: signed, and for people."""
        result = {"event": event, "status": status, "why": why}
        self.write_state(RESULT_FILE, result)
        with suppress(OSError, CubError):  # the public folder may be gone
            write_json(self.path / RESULT_FILE, result)

    def save_text(self, file: str, text: str) -> None:
        """Write a text for people and the agent."""
        with self.open_file(file) as target:
            target.write(text.encode("utf-8", "surrogateescape"))

    def open_file(self, file: str) -> BinaryIO:
        """Open a new public file for writing."""
        return self.prepare_path(file).open("xb")

    def prepare_path(self, file: str) -> Path:
        """Return the path of a public file, with nothing there, and its folder made.

        Links are removed: an agent could make one lead anywhere.
        """
        _remove_links(self.path, self.name)
        self.path.mkdir(parents=True, exist_ok=True)
        path = self.path / file
        if path.is_dir() and not path.is_symlink():
            path.rename(path.with_name(f"{file}.{encode_letters(token_bytes(8), 6)}"))
        path.unlink(missing_ok=True)
        return path

    def find_patch(self) -> str:
        """Return the name of the patch with the attempt's changes; "" if there is none."""
        return f"{self.name}/{PATCH_FILE}" if (self.path / PATCH_FILE).is_file() else ""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Name the folders of one run in the project at `root`."""

    root: Path
    id: str

    @property
    def path(self) -> Path:
        """Return the folder of public files."""
        return self.root / RUNS_FOLDER / self.id

    @property
    def state(self) -> Path:
        """Return the folder of what decides."""
        return find_project_state(self.root) / "runs" / self.id

    def attempt_folder(self, task: str, number: int) -> AttemptFolder:
        """Return the folder of an attempt, whether or not it is there."""
        return self._make_attempt_folder(f"{encode_folder_name(task)}/{number}")

    def iter_attempt_folders(self) -> Iterator[AttemptFolder]:
        """Yield the attempts that have written their start."""
        for start in sorted(self.state.glob(f"*/*/{START_FILE}")):
            yield self._make_attempt_folder(start.parent.relative_to(self.state).as_posix())

    def _make_attempt_folder(self, inner: str) -> AttemptFolder:
        name = f"{RUNS_FOLDER}/{self.id}/{inner}"
        return AttemptFolder(self.root / name, name, self.state / inner)

    def read_state(self) -> dict[str, Any]:
        """Read what decides of run.json; {} if it is missing, or not signed by cub."""
        return read_signed(self.state / RUN_FILE)

    @property
    def has_ended(self) -> bool:
        """Return whether nothing of the run is left to be done; so if cub has not signed it."""
        return bool(self.read_state().get("ended", True))

    def write_run_facts(self, facts: dict[str, Any]) -> None:
        """Write run.json: signed, and for people."""
        write_signed(self.state / RUN_FILE, facts)
        write_json(self.path / RUN_FILE, facts)

    def mark_ended(self, **facts: object) -> None:
        """Write that the run has ended, and delete what only a running one needs."""
        self.write_run_facts({**self.read_state(), "ended": True, **facts})
        for path in self.state.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name not in (RUN_FILE, STATUS_FILE, RUN_LOCK_FILE):
                path.unlink(missing_ok=True)

    def remove_state(self) -> None:
        """Delete what decides; what people read stays."""
        shutil.rmtree(self.state, ignore_errors=True)

    @classmethod
    def list_all(cls, root: Path) -> list[RunFolder]:
        """Return the runs of a project that are kept, the oldest first."""
        files = sorted((find_project_state(root) / "runs").glob(f"*/{RUN_FILE}"))
        return [cls(root, file.parent.name) for file in files]


def remove_run_folder(folder: RunFolder) -> None:
    """Delete all that a run has made, as it started no attempt."""
    shutil.rmtree(folder.path, ignore_errors=True)
    folder.remove_state()


def create_run_folder(folder: RunFolder) -> None:
    """Make the folders of a run, and delete the state of runs before the last one that have ended.

    Raises CubError if a folder can't be written, or leads out of the project.
    """
    real = os.path.realpath(folder.root / RUNS_FOLDER)  # a repository may contain a link
    if os.path.commonpath([real, os.path.realpath(folder.root)]) != os.path.realpath(folder.root):
        raise CubError("this leads out of the project", where=RUNS_FOLDER, hint="remove the link")
    for old in RunFolder.list_all(folder.root)[:-1]:
        if old.has_ended:
            old.remove_state()
    try:
        make_private_folder(folder.state)
    except OSError as error:
        raise make_state_error(error) from error
    ignore = folder.root / RUNS_FOLDER / ".gitignore"  # also where cub has been removed
    if not ignore.exists():
        ignore.parent.mkdir(parents=True, exist_ok=True)
        ignore.write_bytes(b"*\n")


def _remove_links(path: Path, name: str) -> None:
    """Remove links that an agent put in the place of the run's folders in `path`."""
    depth = len(Path(name).parts) - len(Path(RUNS_FOLDER).parts)
    for folder in reversed([path, *path.parents][:depth]):
        if folder.is_symlink():
            folder.unlink()


def make_run_id(at: datetime) -> str:
    """Return the id of a run: when it started, and a few letters."""
    return f"{at:%Y%m%d-%H%M%S}-{encode_letters(token_bytes(8), 4)}"


def encode_folder_name(task: str) -> str:
    """Return a task's id, which may be any string, as the name of a folder."""
    name = _UNSAFE.sub(lambda found: "".join(f"%{b:02X}" for b in _bytes(found[0])), task)
    if name == task and len(name) <= _MAX_NAME:
        return name
    return f"{name[:_MAX_NAME]}-{encode_letters(blake2b(_bytes(task)).digest(), 6)}"


def write_json(path: Path, tree: dict[str, Any]) -> None:
    """Replace a file of JSON atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [json.dumps(tree, indent=1).encode() + b"\n"])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@contextmanager
def hold_run_locks(folder: RunFolder, checkout: Path) -> Iterator[None]:
    """Hold the lock of the run, and that of the checkout that its commits go to."""
    with ExitStack() as stack:
        for path in _list_checkout_locks(checkout):
            if not stack.enter_context(_try_lock(path)):
                raise CubError(
                    "another run is active in this checkout",
                    where=RUNS_FOLDER,
                    hint="`cub run status` shows it",
                )
        stack.enter_context(_try_lock(folder.state / RUN_LOCK_FILE))
        yield


def _list_checkout_locks(folder: Path) -> tuple[Path, ...]:
    """Return a lock that no agent deletes, and one in git's folder, for all users."""
    toplevel = find_toplevel(folder)
    lock = find_project_state(toplevel or folder) / "checkout.lock"
    return (lock, find_git_dir(toplevel) / "cub-run.lock") if toplevel else (lock,)


def lock_if_dead(folder: RunFolder) -> AbstractContextManager[bool]:
    """Hold the lock of a run if its process is gone; yield whether it is."""
    return _try_lock(folder.state / RUN_LOCK_FILE)


def is_alive(folder: RunFolder) -> bool:
    """Return whether the process of a run is alive."""
    return is_run_alive(folder.state)


@contextmanager
def _try_lock(path: Path) -> Iterator[bool]:
    """Hold a lock if no other process does; yield whether it is held."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    require_lock_file(path, path.as_posix())
    lock = FileLock(path, timeout=0)
    with suppress(Timeout):
        lock.acquire()
    try:
        yield lock.is_locked
    finally:
        lock.release()


def read_last_options(root: Path) -> RunOptions | None:
    """Return the options of the last killed run that no other run has resumed, or None."""
    for folder in reversed(RunFolder.list_all(root)):
        if not folder.has_ended and not is_alive(folder):
            asked = folder.read_state()["asked"]
            known: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in asked.items()
                if name in RUN_OPTION_NAMES
            }
            return RunOptions(**known)
    return None
