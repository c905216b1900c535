"""Find the saved sessions of a project, continue, list and delete them.

They are in this user's data directory, in a folder for each project, which nobody else can read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_bytes
from typing import NamedTuple

from cub.agent.conversation import repair_conversation
from cub.agent.events import Compaction, SessionEnd, SessionEvent, TurnEnd
from cub.agent.loop import AgentSession
from cub.agent.session_file import (
    SavedSession,
    SessionHeader,
    SessionTotals,
    SessionWriter,
    read_session,
    read_session_ends,
)
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.read_files import make_os_error
from cub.files.signed_state import make_private_folder, name_project_folder
from cub.store.task_ids import encode_letters
from cub.store.timestamps import utc_now
from cub.text import append_hint, describe_os_error, join_first, list_similar

_ENDING = ".jsonl"
_ID_LETTERS = 10
_DAY = 86_400.0  # seconds


class SessionSummary(NamedTuple):
    """Hold what a list shows of a session."""

    header: SessionHeader
    totals: SessionTotals


def make_session_id() -> str:
    """Return the id of a new session: short, easy to type, and never given twice."""
    return encode_letters(token_bytes(8), _ID_LETTERS)


def find_sessions_folder() -> Path:
    """Return this user's folder for sessions; on Linux `~/.local/share/cub/sessions`.

    Raises CubError if there is none: a relative path would lead into the project.
    """
    from platformdirs import user_data_path

    with suppress(RuntimeError):
        folder = user_data_path("cub")
        if folder.is_absolute():
            return folder / "sessions"
    hint = "set HOME or XDG_DATA_HOME to an absolute path, or pass --no-save"
    raise CubError("there is no home directory, where cub keeps sessions", hint=hint)


@dataclass(frozen=True, slots=True)
class SessionStore:
    """Hold where the sessions of the project at `root` are."""

    root: Path
    folder: Path

    def list_sessions(self) -> tuple[list[SessionSummary], list[PlanWarning]]:
        """Return the sessions, the last active one first; a file that is none is left out."""
        rows, warnings = list[SessionSummary](), list[PlanWarning]()
        for session_id in self._list_ids():
            try:
                rows.append(SessionSummary(*read_session_ends(self._get_path(session_id))))
            except CubError as error:
                message = append_hint(error.message, error.hint)
                warnings.append(PlanWarning(message, error.where))
            except OSError:  # deleted just now
                continue
        rows.sort(key=lambda row: (row.totals.at, row.header.started), reverse=True)
        return rows, warnings

    def find_last_id(self) -> str:
        """Return the id of the session that was active last. Raises CubError if there is none."""
        rows, _ = self.list_sessions()
        if not rows:
            raise CubError("no session of this project is saved", hint="start one without it")
        return rows[0].header.id

    def find_id(self, text: str) -> str:
        """Return the id that a text is, or that alone begins with it. Raises CubError."""
        ids = self._list_ids()
        start = text.strip().lower()
        matches = [key for key in ids if key == start] or [k for k in ids if k.startswith(start)]
        if len(matches) == 1 and start:
            return matches[0]
        if matches and start:
            what = f"{text!r} matches {len(matches)} sessions: {join_first(sorted(matches), 3)}"
            raise CubError(what, hint="type more of the id")
        raise CubError(f"there is no session {text!r}", hint=self._suggest_session(start, ids))

    def read(self, session_id: str) -> SavedSession:
        """Return a session. Raises CubError for a file that can't be read."""
        path = self._get_path(session_id)
        try:
            return read_session(path)
        except OSError as error:
            raise make_os_error(error, path.as_posix(), "cannot be read") from error

    def delete(self, session_id: str) -> None:
        """Delete a session. Raises CubError if a process works on it."""
        self._open_writer(session_id, "cannot be deleted").close()  # Windows deletes no open file
        path = self._get_path(session_id)
        try:
            path.unlink()
        except OSError as error:
            raise make_os_error(error, path.as_posix(), "cannot be deleted") from error

    def delete_old(self, days: int) -> None:
        """Delete the sessions of all projects that were not used for so many days."""
        limit = time.time() - days * _DAY
        for folder in _list_paths(self.folder.parent):
            store = SessionStore(self.root, folder)
            for path in _list_paths(folder):
                with suppress(OSError, CubError):
                    if path.suffix == _ENDING and path.stat().st_mtime < limit:
                        store.delete(path.stem)
            with suppress(OSError):  # it is not empty
                folder.rmdir()

    def start(self, session: AgentSession, folder: str, prompt: str) -> SessionRecorder:
        """Return what saves a new session; its file is made with the first message."""
        session_id, root = make_session_id(), self.root.as_posix()
        header = SessionHeader(session_id, root, folder, session.model.name, utc_now(), prompt)
        try:
            make_private_folder(self.folder)
        except OSError as error:
            raise make_os_error(error, self.folder.as_posix(), "cannot be written") from error
        return SessionRecorder(session, SessionWriter(self._get_path(session_id), header))

    def resume(self, session: AgentSession, session_id: str) -> SessionRecorder:
        """Give a fresh session the messages of a saved one, and return what saves it further.

        Nothing else is restored: files are to be read again, and instructions are as they are now.
        Raises CubError if another process works on it.
        """
        writer = self._open_writer(session_id, "cannot be resumed")
        try:
            saved = self.read(session_id)
        except BaseException:
            writer.close()
            raise
        writer.header, writer.messages = saved.header, saved.messages
        session.messages = repair_conversation(saved.messages)
        recorder = SessionRecorder(session, writer, saved.totals)
        if saved.damaged:
            lines = join_first(list(map(str, saved.damaged)), 3)
            message = f"what line {lines} of the session had is lost: it was cut or changed"
            recorder.warnings.append(PlanWarning(message, writer.path.as_posix()))
        return recorder

    def _open_writer(self, session_id: str, problem: str) -> SessionWriter:
        path = self._get_path(session_id)
        writer = SessionWriter(path, SessionHeader(session_id))
        try:
            writer.reopen()
        except OSError as error:
            raise make_os_error(error, path.as_posix(), problem) from error
        return writer

    def _get_path(self, session_id: str) -> Path:
        return self.folder / f"{session_id}{_ENDING}"

    def _list_ids(self) -> list[str]:
        return [path.stem for path in _list_paths(self.folder) if path.suffix == _ENDING]

    def _suggest_session(self, start: str, ids: Iterable[str]) -> str:
        """Return a hint for an id that is not one of this project: near ones, or whose it is."""
        for folder in _list_paths(self.folder.parent) if start else ():
            for path in _list_paths(folder):
                if path.suffix == _ENDING and path.stem.startswith(start):
                    with suppress(OSError, CubError):
                        root = read_session_ends(path)[0].root
                        return f"it is one of {root}: run cub there, or with -C"
        near = list_similar(start, ids)
        return f"did you mean {' or '.join(near)}?" if near else "`cub code sessions` lists them"


def find_session_store(root: Path) -> SessionStore:
    """Return this user's store for a project. Raises CubError without a home directory."""
    return SessionStore(root, find_sessions_folder() / name_project_folder(root))


@dataclass(slots=True)
class SessionRecorder:
    """Save a session while it runs; `base` are the totals that were saved before.

    `warn` is told once that it can't be saved; `warnings` are about what was resumed.
    """

    session: AgentSession
    writer: SessionWriter
    base: SessionTotals = field(default_factory=SessionTotals)
    warn: Callable[[str], object] = lambda _: None
    warnings: list[PlanWarning] = field(default_factory=list)
    _has_failed: bool = False

    @property
    def session_id(self) -> str:
        """Return the id by which the session can be resumed."""
        return self.writer.header.id

    def record(self, events: Iterable[SessionEvent]) -> Iterator[SessionEvent]:
        """Yield the events of a prompt's work; save the prompt, each turn, and how it is left."""
        is_first = True
        try:
            for event in events:
                if is_first or isinstance(event, TurnEnd | Compaction | SessionEnd):
                    self._save()
                is_first = False
                yield event
        finally:
            self._save()

    def close(self) -> None:
        """Let other processes resume the session."""
        self.writer.close()

    def _save(self) -> None:
        try:
            self.writer.save(self.session.messages, self.sum_up())
        except (OSError, CubError) as error:
            reason = describe_os_error(error) if isinstance(error, OSError) else error.message
            if not self._has_failed:
                self.warn(f"the session cannot be saved: {reason}")
            self._has_failed = True

    def sum_up(self) -> SessionTotals:
        """Return what the session has used, with what it had before it was resumed."""
        budget, base = self.session.budget, self.base
        usd = None if budget.usd is None or base.usd is None else base.usd + budget.usd
        usage = base.usage.add(budget.usage)
        return SessionTotals(utc_now(), base.turns + budget.turns, usage, usd)


def _list_paths(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # there is none
        return []
