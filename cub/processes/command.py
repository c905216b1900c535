"""The words of this room: a command, its limits, what it says and how it ended.

Whether a program can be started: looked up as the keeper's exec does, without starting it.

A request to stop that wakes every wait at once; it may come from a signal handler.
"""

from __future__ import annotations

import os
import selectors
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

EndCause = Literal["", "wall", "idle", "stopped", "ended"]


class CommandSpec(NamedTuple):
    """A program with its arguments, run in `folder` with exactly this environment.

    `mark` tells whoever runs below it what it is a part of: see `ancestors.find_mark`.
    """

    argv: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str]
    stdin: bytes = b""
    mark: str = ""


class TimeLimits(NamedTuple):
    """Seconds that a command may take, and may be silent; None for no limit.

    `grace` is what it has to end by itself: after INT, and then after TERM.
    """

    wall: float | None = None
    idle: float | None = None
    grace: tuple[float, float] = (2.0, 3.0)


class OutputChunk(NamedTuple):
    """Up to 64 KiB that a command said, or a tick: no stream and no data."""

    stream: Literal["out", "err", ""]
    data: bytes


class ProcessResult(NamedTuple):
    """How a command ended: by an exit code, or by a signal.

    Neither is set if it could not be started, for the reason in `start_error`, or if it could not
    be ended since it belongs to another user. `cause` says why cub ended it, "" if it did so by
    itself ("ended" is the caller's own wish); `seconds` is the time it took.
    """

    exit_code: int | None
    signal: int | None
    cause: EndCause
    start_error: str
    seconds: float


def make_shell_command(
    text: str, folder: Path, environ: Mapping[str, str], stdin: bytes = b"", mark: str = ""
) -> CommandSpec:
    """The command that has the shell run a line of text."""
    return CommandSpec(("/bin/sh", "-c", text), folder, environ, stdin, mark)


_HEAD = 256  # bytes; Linux reads no more of a script's first line
_ENV = "/usr/bin/env"


def explain_missing_program(name: str, folder: Path, environ: Mapping[str, str]) -> str:
    """Why a program can't be started in `folder` with this environment; "" if it can.

    Of a script, the interpreter has to be there, too.
    """
    found = [path for path in _places(name, folder, environ) if path.is_file()]
    if not found:
        return f"{name} is not there" if "/" in name else f"{name} is not in PATH"
    programs = [path for path in found if os.access(path, os.X_OK)]
    if not programs:
        return f"{found[0]} is not executable"
    needed = _interpreter(programs[0])
    if needed and not any(path.is_file() for path in _places(needed, folder, environ)):
        return f"{programs[0]} needs {needed}, which is not there"
    return ""


def _places(name: str, folder: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Where a program of this name may be; what is relative is seen from `folder`."""
    if "/" in name:
        yield folder / name
        return
    for place in os.get_exec_path(environ):
        yield folder / place / name


def _interpreter(program: Path) -> str:
    """What a script's first line names, and of `env` the program behind it; "" for no script."""
    try:
        with program.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return ""
    if not head.startswith(b"#!"):
        return ""
    words = os.fsdecode(head[2:].split(b"\n", 1)[0]).split()
    if words[:1] == [_ENV] and len(words) > 1 and not _is_option(words[1]):
        return words[1]
    return words[0] if words else ""


def _is_option(word: str) -> bool:
    """Whether a word behind `env` is none that it starts."""
    return word.startswith("-") or "=" in word


class StopRequest:
    """Not requested at first; once it is, it stays so."""

    __slots__ = ("_reads", "_writes", "is_requested")

    def __init__(self) -> None:
        self.is_requested = False
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._writes, False)

    def request(self) -> None:
        """Ask to stop; asking again, or after `close`, does no harm."""
        self.is_requested = True
        if self._writes >= 0:
            with suppress(BlockingIOError):  # a full pipe is readable, too
                os.write(self._writes, b"!")

    def fileno(self) -> int:
        """A file that can be read once a stop is requested; nobody reads it."""
        return self._reads

    def wait(self, seconds: float) -> bool:
        """Sleep for so many seconds at most; True as soon as a stop is requested."""
        if self.is_requested or seconds <= 0:
            return self.is_requested
        with selectors.DefaultSelector() as selector:
            selector.register(self._reads, selectors.EVENT_READ)
            selector.select(seconds)
        return self.is_requested

    def close(self) -> None:
        """Give the pipe back."""
        reads, writes, self._reads, self._writes = self._reads, self._writes, -1, -1
        for end in (reads, writes):
            if end >= 0:
                os.close(end)
