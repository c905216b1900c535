"""Find the saved sessions of a project, continue, list and delete them.

They are in this user's data directory, in a folder for each project, which nobody else can read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING

from cub.agent.conversation import repair_conversation
from cub.agent.events import Compaction, ServersConnect, SessionEnd, SessionEvent, TurnEnd
from cub.agent.session_file import (
    SavedSession,
    SessionSummary,
    SessionWriter,
    read_session,
    read_summary,
    shorten_text,
)
from cub.edit.plan import PlanWarning
from cub.errors import CubError
from cub.files.read_files import make_os_error
from cub.files.signed_state import make_private_folder, name_project_folder
from cub.store.task_ids import encode_letters
from cub.store.timestamps import utc_now
from cub.text import describe_os_error, join_first

if TYPE_CHECKING:
    from cub.agent.loop import AgentSession

_FILES = "*.jsonl"
_ID_LETTERS = 10
_DAY = 86_400.0  # seconds


def make_session_id() -> str:
    """Return the id of a new session: short, easy to type, and never given twice."""
    return encode_letters(token_bytes(8), _ID_LETTERS)


@dataclass(frozen=True, slots=True)
class SessionStore:
    """Hold where the sessions of the project at `root` are."""

    root: Path
    folder: Path

    def list_sessions(self) -> tuple[list[SessionSummary], list[PlanWarning]]:
        """Return the sessions, the last active one first; a file that is none is left out."""
        rows, warnings = list[SessionSummary](), list[PlanWarning]()
        for path in self.folder.glob(_FILES):
            try:
                rows.append(read_summary(path))
            except FileNotFoundError:  # deleted just now, or nothing is in it yet
                continue
            except OSError as error:
                message = f"cannot be read: {describe_os_error(error)}"
                warnings.append(PlanWarning(message, path.as_posix()))
            except CubError as error:
                warnings.append(PlanWarning(error.message, error.where, hint=error.hint))
        return sorted(rows, key=lambda row: (row.active, row.started), reverse=True), warnings

    def find_last_id(self) -> str:
        """Return the id of the session that was active last. Raises CubError if there is none."""
        rows, _ = self.list_sessions()
        if not rows:
            hint = self.suggest_project() or "start a new one without --continue or --resume"
            raise CubError("no session of this project is saved", hint=hint)
        return rows[0].id

    def find_id(self, text: str) -> str:
        """Return the id that a text is, or that alone begins with it. Raises CubError."""
        ids = [path.stem for path in self.folder.glob(_FILES)]
        start = text.strip().lower()
        matches = [key for key in ids if start and key.startswith(start)]
        if start in ids or len(matches) == 1:
            return start if start in ids else matches[0]
        if matches:
            what = f"{text!r} matches {len(matches)} sessions: {join_first(sorted(matches), 3)}"
            raise CubError(what, hint="type more of the id")
        hint = (start.isalnum() and self.suggest_project(start)) or "`cub code sessions` lists them"
        raise CubError(f"there is no session {text!r}", hint=hint)

    def read(self, session_id: str) -> SavedSession:
        """Return a session. Raises CubError for a file that can't be read."""
        path = self._get_path(session_id)
        with _explain_failure(path, "cannot be read"):
            return read_session(path)

    def delete(self, session_id: str) -> None:
        """Delete a session. Raises CubError if a process works on it."""
        path = self._get_path(session_id)
        with _explain_failure(path, "cannot be deleted"):
            writer = SessionWriter(path)
            writer.reopen()
            writer.close()  # Windows deletes no open file
            path.unlink()

    def delete_old(self, days: int) -> None:
        """Delete the sessions of all projects that were not used for so many days."""
        limit = time.time() - days * _DAY
        for path in self.folder.parent.glob(f"*/{_FILES}"):
            with suppress(OSError, CubError):
                if path.stat().st_mtime < limit:
                    SessionStore(self.root, path.parent).delete(path.stem)

    def start(self, session: AgentSession, folder: str, prompt: str) -> SessionRecorder:
        """Return what saves a new session; its file is made with the first message."""
        session_id = make_session_id()
        root, folder, prompt = map(shorten_text, (self.root.as_posix(), folder, prompt))
        summary = SessionSummary(session_id, root, folder, started=utc_now(), prompt=prompt)
        with _explain_failure(self.folder, "cannot be written"):
            make_private_folder(self.folder)
        return SessionRecorder(session, SessionWriter(self._get_path(session_id)), summary)

    def resume(self, session: AgentSession, session_id: str) -> SessionRecorder:
        """Give a fresh session the messages of a saved one, and return what saves it further.

        Nothing else is restored: files are to be read again, and instructions are as they are now.
        Raises CubError if another process works on it.
        """
        writer = SessionWriter(self._get_path(session_id))
        with _explain_failure(writer.path, "cannot be resumed"):
            writer.reopen()
            try:
                saved = read_session(writer.path)
            except BaseException:
                writer.close()
                raise
        writer.messages, writer.tokens = saved.messages, saved.summary.tokens
        writer.baseline = saved.baseline
        session.messages = repair_conversation(saved.messages)
        summary = saved.summary._replace(root=shorten_text(self.root.as_posix()))
        recorder = SessionRecorder(session, writer, summary)
        if saved.damaged:
            first, *others = saved.damaged
            lines = f"this line and {len(others):,} more are" if others else "this line is"
            message = f"{lines} damaged; that part of the conversation is lost"
            recorder.warnings.append(PlanWarning(message, writer.path.as_posix(), first))
        return recorder

    def _get_path(self, session_id: str) -> Path:
        return self.folder / _FILES.replace("*", session_id)

    def suggest_project(self, start: str = "") -> str:
        """Return a hint to the project that has a session of this id; "" if there is none.

        Without an id, it is one of this name that is no longer where it was.
        """
        for path in self.folder.parent.glob(f"*/{start}{_FILES}"):
            with suppress(OSError, CubError):
                root = read_summary(path).root
                is_there = root.endswith("…") or Path(root).is_dir()
                if not is_there and (start or Path(root).name == self.root.name):
                    places = f"from {path.parent.as_posix()} to {self.folder.as_posix()}"
                    return f"if {root} was moved here, move its sessions {places}"
                if start:
                    return f"it is one of {root}: run cub there, or with -C"
        return ""


@contextmanager
def _explain_failure(path: Path, problem: str) -> Iterator[None]:
    try:
        yield
    except BlockingIOError as error:
        hint = "close it there first, or choose another one"
        what = f"session {path.stem} is open in another process, and {problem}"
        raise CubError(what, hint=hint) from error
    except OSError as error:
        raise make_os_error(error, path.as_posix(), problem) from error


def find_session_store(root: Path) -> SessionStore:
    """Return this user's store for a project; on Linux it is in `~/.local/share/cub/sessions`.

    Raises CubError without a home directory: a relative path would lead into the project.
    """
    from platformdirs import user_data_path

    with suppress(RuntimeError):
        folder = user_data_path("cub")
        if folder.is_absolute():
            return SessionStore(root, folder / "sessions" / name_project_folder(root))
    hint = "set HOME or XDG_DATA_HOME to an absolute path, or pass --no-save"
    raise CubError("there is no home directory, where cub keeps sessions", hint=hint)


@dataclass(slots=True)
class SessionRecorder:
    """Save a session while it runs; `base` is what was saved before.

    `warn` is told once that it can't be saved; `warnings` are about what was resumed.
    """

    session: AgentSession
    writer: SessionWriter
    base: SessionSummary
    warn: Callable[[str], object] = lambda _: None
    warnings: list[PlanWarning] = field(default_factory=list)
    _has_failed: bool = False

    @property
    def session_id(self) -> str:
        """Return the id by which the session can be resumed."""
        return self.base.id

    def record(self, events: Iterable[SessionEvent]) -> Iterator[SessionEvent]:
        """Yield the events of a prompt's work; save the prompt, each turn, and how it is left."""
        is_first = True
        try:
            for event in events:
                if is_first or isinstance(event, TurnEnd | Compaction | SessionEnd):
                    self.save()
                is_first = is_first and isinstance(event, ServersConnect)  # the prompt follows it
                yield event
        finally:
            self.save()

    def close(self) -> None:
        """Let other processes resume the session."""
        self.writer.close()

    def sum_up(self) -> SessionSummary:
        """Return what the session has used, with what it had before it was resumed."""
        budget, base = self.session.budget, self.base
        usd = None if budget.usd is None or base.usd is None else base.usd + budget.usd
        tokens, turns = base.tokens.add(budget.usage), base.turns + budget.turns
        model = shorten_text(self.session.model.name)
        return base._replace(active=utc_now(), model=model, turns=turns, tokens=tokens, usd=usd)

    def save(self) -> None:
        """Save what has changed."""
        try:
            self.writer.save(self.session.messages, self.sum_up(), self.session.baseline)
        except OSError as error:
            if not self._has_failed:
                self.warn(f"the session cannot be saved: {describe_os_error(error)}")
            self._has_failed = True
