"""Keep a session in a file of JSON lines that is only added to, so a crash costs one line at most.

The first line, of at most 4 KB, has what never changes. Each turn then adds a line with what it
changed in the conversation, and a short one with the totals so far: a list of sessions reads both
ends of a file. Secrets are masked as in the ledger, and images stay as they are.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from cub.agent.conversation import (
    Block,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
)
from cub.agent.message_json import (
    MESSAGE_VERSION,
    read_message,
    require_known_version,
    write_message,
)
from cub.errors import CubError
from cub.files.signed_state import make_private_folder
from cub.json_values import (
    JsonObject,
    get_count,
    get_dollars,
    get_text,
    list_objects,
    parse_object,
)
from cub.masking import mask_text
from cub.store.jsonl import encode_record
from cub.text import cut_middle, truncate_text
from cub.tokens import TokenUsage

MAX_HEADER = 4_096  # bytes, with the line feed
_PROMPT_CHARS = (500, 100, 0)  # of the first prompt, as far as the header has room
_MODEL_CHARS, _PATH_CHARS = 100, 200  # the latter if paths take all the room of a header
_TAIL = 1_024  # bytes: the line of totals has less
_TOTALS_START = b'{"type":"totals",'
_LOCK_OFFSET = 1 << 40  # on Windows, what is locked can't be read
_BUSY = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)


class SessionHeader(NamedTuple):
    """Describe a session: where and when it started, with which model and prompt.

    `folder` is relative to the project at `root`, "" for the root itself; `started` is a timestamp.
    """

    id: str
    root: str = ""
    folder: str = ""
    model: str = ""
    started: str = ""
    prompt: str = ""


class SessionTotals(NamedTuple):
    """Sum up a session up to the time `at`; `usd` is None once a price is not known."""

    at: str = ""
    turns: int = 0
    usage: TokenUsage = TokenUsage()
    usd: float | None = 0.0


class SavedSession(NamedTuple):
    """Hold what a file has, up to its last whole turn; `damaged` are the numbers of bad lines."""

    header: SessionHeader
    totals: SessionTotals
    messages: list[Message]
    damaged: list[int]


def read_session(path: Path) -> SavedSession:
    """Return a session up to its last whole turn; lines that make no sense are left out.

    Raises OSError, and CubError for a file that a newer cub wrote or that has no first line.
    """
    messages, damaged, last_totals = list[Message](), list[int](), b""
    with path.open("rb") as file:
        header = _parse_header(file.readline(), path)
        for number, line in enumerate(file, 2):
            if line.startswith(_TOTALS_START) and line.endswith(b"}\n"):
                last_totals = line  # the others need not be parsed
                continue
            try:
                _apply_change(_parse_line(line), messages)
            except ValueError:
                damaged.append(number)
            except CubError as error:
                where = f"{path.as_posix()}:{number}"
                raise CubError(error.message, where=where, hint=error.hint) from None
    return SavedSession(header, _parse_totals(last_totals), messages, damaged)


def read_session_ends(path: Path) -> tuple[SessionHeader, SessionTotals]:
    """Return what the ends of a file say: it may be long. Raises OSError and CubError."""
    with path.open("rb") as file:
        header = _parse_header(file.readline(MAX_HEADER), path)
        for size in (_TAIL, None):
            lines = _read_tail(file, size).split(b"\n")[:-1]  # the last one was not finished
            for line in reversed(lines):
                if line.startswith(_TOTALS_START):
                    return header, _parse_totals(line)
    return header, SessionTotals(header.started)


def _read_tail(file: BinaryIO, size: int | None) -> bytes:
    end = file.seek(0, os.SEEK_END)
    file.seek(0 if size is None else max(0, end - size))
    return file.read()


def _parse_header(line: bytes, path: Path) -> SessionHeader:
    try:
        tree = _parse_line(line)
        require_known_version(tree)
        if tree.get("type") == "session":
            return SessionHeader(*(get_text(tree, name) for name in SessionHeader._fields))
    except ValueError:
        pass
    except CubError as error:
        raise CubError(error.message, where=f"{path.as_posix()}:1", hint=error.hint) from None
    raise CubError("this is not a saved session", where=f"{path.as_posix()}:1")


def _parse_line(line: bytes) -> JsonObject:
    """Return the object of a line. Raises ValueError: NaN and nesting are no fault here."""
    try:
        tree = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(tree, dict):
        raise ValueError("not an object")  # noqa: TRY004 - of a line, not of an argument
    return tree


def _parse_totals(line: bytes) -> SessionTotals:
    tree = parse_object(line)
    usage = TokenUsage(*(get_count(tree, "usage", name) for name in TokenUsage._fields))
    return SessionTotals(
        get_text(tree, "at"), get_count(tree, "turns"), usage, get_dollars(tree, "usd")
    )


def _apply_change(tree: JsonObject, messages: list[Message]) -> None:
    """Replace `drop` messages from the index `at` on with others. Raises ValueError, CubError."""
    added = list(map(read_message, list_objects(tree, "add")))
    start = get_count(tree, "at")
    if tree.get("type") != "messages" or start > len(messages):
        raise ValueError("not a change of the conversation")
    messages[start : start + get_count(tree, "drop")] = added


@dataclass(slots=True)
class SessionWriter:
    """Add to a session's file, which no other process can then continue.

    `messages` are those that the file has. `write` is for tests of crashes.
    """

    path: Path
    header: SessionHeader
    messages: list[Message] = field(default_factory=list)
    write: Callable[[int, bytes], int] = os.write
    _descriptor: int | None = None
    _unsaved: bytes = b""

    def reopen(self) -> None:
        """Open a file that exists. Raises OSError, and CubError if another process has it."""
        self._descriptor = self._open_locked(0)

    def save(self, messages: Sequence[Message], totals: SessionTotals) -> None:
        """Add what has changed since the last call, in one write. The first one makes the file.

        Raises OSError; the next call then tries again.
        """
        if change := _find_change(self.messages, messages):
            self._unsaved += encode_record(change) + b"\n"
            self._unsaved += _encode_totals(totals) + b"\n"
            self.messages = list(messages)
        if self._unsaved:
            self._append()
            self._unsaved = b""

    def close(self) -> None:
        """Let other processes continue the session."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open_locked(self, flags: int) -> int:
        flags |= os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self.path, flags, 0o600)
        if _lock_file(descriptor):
            return descriptor
        os.close(descriptor)
        hint = "wait for it to end, or start another session"
        raise CubError(f"session {self.header.id} is open in another process", hint=hint)

    def _append(self) -> None:
        """Add whole lines or nothing, also if the disk is full or a line before was cut."""
        start = b""
        if self._descriptor is None:
            make_private_folder(self.path.parent)  # a cleanup deletes empty ones
            self._descriptor = self._open_locked(os.O_CREAT | os.O_EXCL)
        status = os.fstat(self._descriptor)
        if not status.st_nlink:
            raise FileNotFoundError(errno.ENOENT, "it was deleted", self.path.as_posix())
        if not status.st_size:
            start = encode_header(self.header)
        else:
            os.lseek(self._descriptor, -1, os.SEEK_END)
            start = b"" if os.read(self._descriptor, 1) == b"\n" else b"\n"
        data = start + self._unsaved
        if self.write(self._descriptor, data) < len(data):
            os.ftruncate(self._descriptor, status.st_size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path.as_posix())


def encode_header(header: SessionHeader) -> bytes:
    """Return the first line, in which the prompt is cut and masked."""
    prompt = mask_text(" ".join(header.prompt.split()))
    header = header._replace(model=truncate_text(header.model, _MODEL_CHARS))
    for limit in _PROMPT_CHARS:
        header = header._replace(prompt=truncate_text(prompt, limit))
        line = _encode_line(header)
        if len(line) <= MAX_HEADER:
            return line
    paths = {name: cut_middle(getattr(header, name), _PATH_CHARS) for name in ("root", "folder")}
    return _encode_line(header._replace(**paths))


def _encode_line(header: SessionHeader) -> bytes:
    return encode_record({"v": MESSAGE_VERSION, "type": "session", **header._asdict()}) + b"\n"


def _encode_totals(totals: SessionTotals) -> bytes:
    return encode_record({"type": "totals", **totals._asdict(), "usage": totals.usage._asdict()})


def _find_change(old: Sequence[Message], new: Sequence[Message]) -> dict[str, Any] | None:
    """Return what turns one conversation into the other; None if they are equal."""
    start = len(old) if new[: len(old)] == old else _count_equal(zip(old, new, strict=False))
    rest = min(len(old), len(new)) - start
    end = _count_equal(zip(old[::-1][:rest], new[::-1][:rest], strict=True)) if rest else 0
    added = [write_message(_mask_message(one)) for one in new[start : len(new) - end]]
    drop = len(old) - end - start
    return {"type": "messages", "at": start, "drop": drop, "add": added} if added or drop else None


def _count_equal(pairs: Iterable[tuple[Message, Message]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _mask_message(message: Message) -> Message:
    """Return a message without secrets, and without reasoning that no other session may send.

    A session that is resumed has another system prompt, and such reasoning is bound to it.
    """
    kept = [one for one in message.blocks if not (isinstance(one, ReasoningBlock) and one.is_bound)]
    return message._replace(blocks=tuple(map(_mask_block, kept)))


def _mask_block(block: Block) -> Any:
    match block:
        case TextBlock():
            return TextBlock(mask_text(block.text))
        case ReasoningBlock():
            return block._replace(text=mask_text(block.text), data=_mask_tree(block.data))
        case ToolCall():  # what its service attached is sent back as it is
            return block._replace(arguments=_mask_tree(block.arguments))
        case ToolResult():
            return block._replace(content=tuple(map(_mask_block, block.content)))
    return block


def _mask_tree(value: Any) -> Any:
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, Mapping):
        return {key: _mask_tree(inner) for key, inner in value.items()}
    return list(map(_mask_tree, value)) if isinstance(value, list) else value


def _lock_file(descriptor: int) -> bool:
    """Lock an open file; False if another process has done so. The kernel frees it at the end."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _LOCK_OFFSET, os.SEEK_SET)
        lock = partial(msvcrt.locking, descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        lock = partial(fcntl.flock, descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        lock()
    except OSError as error:  # some file systems have no locks
        return error.errno not in _BUSY
    return True
