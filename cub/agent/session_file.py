"""Keep a session in a file of JSON lines that is only added to, so a crash costs one line at most.

Each turn adds a line with what it changed in the conversation, and a short one that sums up the
session so far: the last of these is all that a list reads. The first line is of this kind, too.
Secrets are masked as in the ledger, and images stay as they are.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cub.agent.conversation import Message, count_same
from cub.agent.message_json import (
    MESSAGE_VERSION,
    read_message,
    require_known_version,
    write_message,
)
from cub.errors import CubError
from cub.json_values import JsonObject, get_count, get_dollars, get_text, parse_object
from cub.masking import mask_text
from cub.store.jsonl import encode_record
from cub.text import truncate_text
from cub.tokens import TokenUsage

MAX_SUMMARY = 4_096  # bytes, with the line feed
_MAX_CHARS = 150  # of each text in it: a character takes at most six bytes
_MAX_LOST = 10_000  # messages of damaged lines, as far as that follows from the lines after them
_LOCK_OFFSET = 1 << 40  # on Windows, what is locked can't be read
_BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)


class SessionSummary(NamedTuple):
    """Describe a session: where and when it started, and what it has used up to `active`.

    `folder` is relative to the project at `root`, "" for the root itself. `prompt` is the first
    one, and `model` the last one. The texts of others are short, see `shorten_text`. `started` and
    `active` are timestamps; `usd` is None once a price is not known.
    """

    id: str
    root: str = ""
    folder: str = ""
    model: str = ""
    started: str = ""
    prompt: str = ""
    active: str = ""
    turns: int = 0
    tokens: TokenUsage = TokenUsage()
    usd: float | None = 0.0


class SavedSession(NamedTuple):
    """Hold what a file has, up to its last whole turn; `damaged` are the numbers of bad lines.

    `baseline` is that of the session, which some files don't have.
    """

    summary: SessionSummary
    messages: list[Message]
    damaged: list[int]
    baseline: list[JsonObject]


def shorten_text(text: str) -> str:
    """Return a text as a summary has it: a short line without secrets."""
    return truncate_text(" ".join(mask_text(text).split()), _MAX_CHARS)


def read_session(path: Path) -> SavedSession:
    """Return a session up to its last whole turn.

    A damaged line costs itself: in the place of its messages are some without blocks.
    Raises OSError, and CubError for a file that is no session, or that a newer cub wrote.
    """
    saved = SavedSession(read_summary(path), [], [], [])
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                tree = json.loads(line)
                _apply_line(tree, saved.messages, f"{path.as_posix()}:{number}")
                if isinstance(tree.get("baseline"), list):
                    saved.baseline[:] = tree["baseline"]
            except (ValueError, RecursionError):
                saved.damaged.append(number)
    return saved


def read_summary(path: Path) -> SessionSummary:
    """Return what the last whole turn left. Raises OSError and CubError as `read_session` does."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if not size:  # another process makes it just now, or had no space
            raise FileNotFoundError(errno.ENOENT, "nothing is saved in it")
        for start in (max(0, size - MAX_SUMMARY), 0):  # all of it if the last turn was cut
            file.seek(start)
            for line in reversed(file.read().split(b"\n")):
                if (tree := parse_object(line)).get("type") == "session":
                    return _make_summary(tree, path)
    hint = f"`cub code sessions delete {path.stem}` deletes it"
    raise CubError("this is not a saved session", where=path.as_posix(), hint=hint)


def _make_summary(tree: JsonObject, path: Path) -> SessionSummary:
    require_known_version(tree, path.as_posix())
    names = ("root", "folder", "model", "started", "prompt", "active")
    texts: dict[str, Any] = {name: get_text(tree, name) for name in names}
    return SessionSummary(
        path.stem,  # also of a copy
        **texts,
        turns=get_count(tree, "turns"),
        tokens=TokenUsage(*(get_count(tree, "tokens", name) for name in TokenUsage._fields)),
        usd=get_dollars(tree, "usd"),
    )


def _apply_line(tree: object, messages: list[Message], where: str) -> None:
    """Replace `drop` messages from the index `at` on with others. Raises ValueError, CubError."""
    match tree:
        case {"type": "session"}:
            return
        case {"type": "messages", "at": int(at), "drop": int(drop), "add": list(added)}:
            lost = at + drop - len(messages)
            if min(at, drop) >= 0 and lost <= _MAX_LOST:
                messages += [Message("user", ())] * lost
                messages[at : at + drop] = [read_message(one, where) for one in added]
                return
    raise ValueError("not a line of a session")


@dataclass(slots=True)
class SessionWriter:
    """Add to a session's file, which no other process can then continue.

    `messages`, `tokens`, and `baseline` are those that the file has. `write` is for tests of
    crashes.
    """

    path: Path
    messages: list[Message] = field(default_factory=list)
    tokens: TokenUsage = field(default_factory=TokenUsage)
    baseline: Sequence[JsonObject] = ()
    write: Callable[[int, bytes], int] = os.write
    _descriptor: int | None = None

    def reopen(self) -> None:
        """Open a file that exists. Raises OSError, also if another process has it."""
        self._descriptor = _open_locked(self.path, 0)

    def save(
        self,
        messages: Sequence[Message],
        summary: SessionSummary,
        baseline: Sequence[JsonObject] = (),
    ) -> None:
        """Add what has changed since the last call, in one write. The first one makes the file.

        Raises OSError; the next call then tries again.
        """
        start = count_same(messages, self.messages)
        old, new = self.messages[start:], messages[start:]
        more = {"baseline": baseline} if baseline != self.baseline else {}
        if not (old or new or more) and summary.tokens == self.tokens:
            return
        same = count_same(new[::-1], old[::-1])
        added = list(map(write_message, new[: len(new) - same]))
        change = {"type": "messages", "at": start, "drop": len(old) - same, "add": added, **more}
        data = encode_record(change) + b"\n" if old or new or more else b""
        self._append(data, _encode_summary(summary))
        self.tokens = summary.tokens
        self.messages, self.baseline = list(messages), baseline

    def close(self) -> None:
        """Let other processes continue the session."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _append(self, change: bytes, summary: bytes) -> None:
        """Add whole lines or nothing, also if the disk is full or a line before was cut."""
        if self._descriptor is None:
            self._descriptor = _open_locked(self.path, os.O_CREAT | os.O_EXCL)
        status = os.fstat(self._descriptor)
        if not status.st_nlink:
            raise FileNotFoundError(errno.ENOENT, "it was deleted", self.path.as_posix())
        start = summary
        if status.st_size:
            os.lseek(self._descriptor, -1, os.SEEK_END)
            start = b"" if os.read(self._descriptor, 1) == b"\n" else b"\n"
        data = start + change + summary
        if self.write(self._descriptor, data) < len(data):
            os.ftruncate(self._descriptor, status.st_size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path.as_posix())


def _encode_summary(summary: SessionSummary) -> bytes:
    tree = {**summary._asdict(), "tokens": summary.tokens._asdict()}
    return encode_record({"type": "session", "v": MESSAGE_VERSION, **tree}) + b"\n"


def _open_locked(path: Path, flags: int) -> int:
    """Return the descriptor of a file that no other process has. The kernel frees it at the end."""
    flags |= os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _BUSY:  # some file systems have no locks
            os.close(descriptor)
            what = "another process works on this session"
            raise BlockingIOError(errno.EAGAIN, what, path.as_posix()) from None
    return descriptor
