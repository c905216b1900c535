"""Find attempts by task or run, and read what they left in `.cub/runs/`.

An attempt's agent can write there as well, so no link is followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from cub.actions.ledger_report import read_task_history
from cub.actions.run.run_folders import (
    EVENTS_FILE,
    PATCH_FILE,
    RUNS_FOLDER,
    RunFolder,
    encode_folder_name,
    is_alive,
)
from cub.actions.run.run_options import select_harness_configs
from cub.actions.tasks.stores import Stores
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.errors import CubError
from cub.files.read_files import encode_path, open_regular_file
from cub.git.worktree import is_beyond_link
from cub.harness.base import AgentEvent, LineReader
from cub.harness.event_protocol import EventProtocolReader
from cub.harness.harness_registry import load_harnesses
from cub.project.config_layers import resolve_config
from cub.store.events import ATTEMPT_END, ATTEMPT_START, RUN_START, Event

_CHUNK_BYTES = 1 << 16


class PastAttempt(NamedTuple):
    """Hold an attempt: its folder in the project at `root`, and its event in the ledger.

    The event is that of its end, or of its start as long as it has not ended.
    """

    root: Path
    folder: str
    event: Event

    @property
    def has_ended(self) -> bool:
        """Return whether the ledger has its end."""
        return self.event.get("ev") == ATTEMPT_END

    @property
    def patch(self) -> str:
        """Return the path of the patch that it left; "" if there is none here."""
        return f"{self.folder}/{PATCH_FILE}" if self.has_file(PATCH_FILE) else ""

    @property
    def resume_command(self) -> str:
        """Return the command that resumes the agent's session in the project; "" if there is none.

        Agents look for sessions by directory, and that of a place beside the project is deleted.
        """
        folder = RunFolder(self.root, encode_folder_name(str(self.event["run"])))
        if folder.read_state().get("place") == "aside":
            return ""
        profiles = {profile.name: profile for profile in NAMED_PROFILES}
        profile = profiles.get(str(self.event.get("harness")))
        return profile.build_resume_command(str(self.event.get("session") or "")) if profile else ""

    def has_file(self, file: str) -> bool:
        """Return whether a file of it is here."""
        if (opened := self.open_file(file)) is None:
            return False
        opened.close()
        return True

    def open_file(self, file: str) -> BinaryIO | None:
        """Open a file of it; None if it is not here, or is a link or behind one."""
        path = f"{self.folder}/{file}"
        if is_beyond_link(self.root, path):
            return None
        try:
            return os.fdopen(open_regular_file(encode_path(str(self.root), path)), "rb")
        except OSError:
            return None


class TaskAttempts(NamedTuple):
    """Hold a task's id, its title ("" if it is gone), and its attempts, the first one first."""

    task_id: str
    title: str
    attempts: list[PastAttempt]

    def choose(self, number: int | None) -> PastAttempt:
        """Return the newest attempt, or the newest with a number. Raises CubError for none."""
        numbers = [attempt.event["n"] for attempt in self.attempts]
        if chosen := [one for one in self.attempts if number in (None, one.event["n"])]:
            return chosen[-1]
        if not numbers:
            hint = f"`cub run --task {self.task_id}` makes one"
            raise CubError(f"there was no attempt at {self.task_id} yet", hint=hint)
        known = ", ".join(map(str, dict.fromkeys(numbers)))
        raise CubError(f"{self.task_id} has no attempt {number}", hint=f"choose from {known}")

    def choose_patched(self) -> PastAttempt:
        """Return the newest attempt that left a patch here. Raises CubError if there is none."""
        if patched := [attempt for attempt in self.attempts if attempt.patch]:
            return patched[-1]
        hint = f"`cub run show {self.task_id}` lists its attempts"
        raise CubError(f"no attempt at {self.task_id} has left a patch here", hint=hint)


def list_task_attempts(stores: Stores, task: str) -> TaskAttempts:
    """Return the attempts at a task. Raises CubError for an unknown one."""
    history = read_task_history(stores, task)
    attempts = (_make_attempt(stores.root, event) for event in history.events)
    title = str((history.task or {}).get("title") or "")
    return TaskAttempts(history.task_id, title, list(filter(None, attempts)))


def list_run_attempts(stores: Stores, run: str) -> list[PastAttempt]:
    """Return the attempts of a run, the first one first."""
    events: dict[tuple[str, str], Event] = {}
    for event in stores.ledger.iter_backwards(run):
        if event.get("run") != run:
            continue
        if event.get("ev") == RUN_START:
            break
        key = (str(event.get("task")), str(event.get("n")))
        if event.get("ev") == ATTEMPT_START:  # where it stands decides, not where it ended
            events[key] = events.pop(key, event)
        elif event.get("ev") == ATTEMPT_END:
            events[key] = event
    attempts = [_make_attempt(stores.root, event) for event in events.values()]
    return list(filter(None, reversed(attempts)))


def find_newest_attempt(stores: Stores) -> PastAttempt | None:
    """Return the newest attempt of all whose output is here, or else the newest; None for none."""
    newest = None
    for event in stores.ledger.iter_backwards(ATTEMPT_START):
        attempt = _make_attempt(stores.root, event)
        if attempt and attempt.has_file(EVENTS_FILE):
            return attempt
        newest = newest or attempt
    return newest


def find_alive_run(stores: Stores) -> str:
    """Return the id of the newest run that is alive; "" if there is none."""
    alive = [folder.id for folder in RunFolder.list_all(stores.root) if is_alive(folder)]
    return alive[-1] if alive else ""


def is_run_here(stores: Stores, run: str) -> bool:
    """Return whether a run with this id has a folder here."""
    is_name = encode_folder_name(run) == run
    return bool(run) and is_name and (stores.root / RUNS_FOLDER / run).is_dir()


def _make_attempt(root: Path, event: Event) -> PastAttempt | None:
    """Return the attempt of an event; None if the ledger has nonsense there."""
    run, task, number = event.get("run"), event.get("task"), event.get("n")
    if not (isinstance(run, str) and isinstance(task, str) and isinstance(number, int)):
        return None
    if event.get("ev") not in (ATTEMPT_START, ATTEMPT_END):
        return None
    folder = RunFolder(root, encode_folder_name(run)).attempt_folder(task, number)
    return PastAttempt(root, folder.name, event)


class AttemptLog:
    """Read what an agent printed as events, as far as it has been written."""

    def __init__(self, file: BinaryIO, reader: LineReader) -> None:
        self._file = file
        self._reader = reader

    def read_new(self) -> Iterator[AgentEvent]:
        """Yield the events of what is new since the last time."""
        while data := self._file.read(_CHUNK_BYTES):
            yield from self._reader.read(data)

    def finish(self) -> Iterator[AgentEvent]:
        """Yield the rest: nothing more will be written."""
        yield from self.read_new()
        yield from self._reader.finish()
        self._file.close()


def open_log(stores: Stores, attempt: PastAttempt, environ: Mapping[str, str]) -> AttemptLog | None:
    """Open the output of an attempt's agent; None if it is not here."""
    file = attempt.open_file(EVENTS_FILE)
    return AttemptLog(file, _open_reader(stores, attempt, environ)) if file else None


def _open_reader(stores: Stores, attempt: PastAttempt, environ: Mapping[str, str]) -> LineReader:
    """Open the reader of the attempt's agent; that of cub's protocol if it is not configured."""
    values, name = resolve_config(stores.project, environ).values, attempt.event.get("harness")
    try:
        configs = select_harness_configs(values)
        chosen = load_harnesses([str(name)], configs, stores.root, environ)
        return chosen.harnesses[0].open_reader()
    except CubError:
        return EventProtocolReader()


def follow_run(
    stores: Stores, run: str, task: str, environ: Mapping[str, str], *, is_whole: bool
) -> Iterator[PastAttempt | AgentEvent | None]:
    """Yield the attempts of a run and what their agents report, up to the end of the run.

    It starts with the first attempt if `is_whole`, else with the last one that there is. With a
    `task`, other attempts are left out. None means that nothing is new.
    """
    position: int | None = 0 if is_whole else None
    log: AttemptLog | None = None
    is_shown = False
    while True:
        alive = is_alive(RunFolder(stores.root, run))  # first: what it wrote before its end is read
        attempts = [a for a in list_run_attempts(stores, run) if task in ("", a.event["task"])]
        position = max(0, len(attempts) - 1) if position is None else position
        while position < len(attempts):
            attempt = attempts[position]
            if not is_shown:
                yield attempt
            is_shown = True
            log = log or open_log(stores, attempt, environ)
            if alive and not attempt.has_ended:  # others may run at the same time
                yield from log.read_new() if log else ()
                break
            yield from log.finish() if log else ()
            position, log, is_shown = position + 1, None, False
        if not alive:
            return
        yield None
