"""Describe a command, its limits, its output, how it ended, and a request to stop it."""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Literal, NamedTuple

_MAX_FIRST_LINE = 256  # bytes; Linux reads no more of a script's first line
_ENV = "/usr/bin/env"

EndCause = Literal["", "wall", "idle", "stopped", "ended"]


class CommandSpec(NamedTuple):
    """Describe a program with its arguments, run in `folder` with exactly this environment.

    `mark` says what it is a part of to whoever runs below it, by `iter_keeper_marks`.
    """

    argv: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str]
    stdin: bytes = b""
    mark: str = ""


class TimeLimits(NamedTuple):
    """Limit the seconds that a command may take, and may be silent; None for no limit.

    `grace` is the time it has to end by itself: after INT, and then after TERM. The latter holds
    for what it leaves behind, too, up to half a second.
    """

    wall: float | None = None
    idle: float | None = None
    grace: tuple[float, float] = (2.0, 3.0)


class OutputChunk(NamedTuple):
    """Hold up to 64 KiB of a command's output, or a tick: no stream and no data."""

    stream: Literal["out", "err", ""]
    data: bytes


class ProcessResult(NamedTuple):
    """Describe how a command ended: by an exit code, or by a signal.

    Neither is set if it could not be started, for the reason in `start_error`, or if it could not
    be ended since it belongs to another user. `cause` says why cub ended it: "" if it ended by
    itself, "ended" if the caller asked for it. `seconds` is the time it took.
    """

    exit_code: int | None = None
    signal: int | None = None
    cause: EndCause = ""
    start_error: str = ""
    seconds: float = 0.0

    @property
    def shell_exit_code(self) -> int | None:
        """Return the exit code as a shell has it, in which a signal is a number above 128."""
        return 128 + self.signal if self.signal else self.exit_code


def make_shell_command(
    text: str, folder: Path, environ: Mapping[str, str], stdin: bytes = b"", mark: str = ""
) -> CommandSpec:
    """Return the command that has the shell run a line of text."""
    return CommandSpec(("/bin/sh", "-c", text), folder, environ, stdin, mark)


def select_loader_variables() -> dict[str, str]:
    """Return the variables that Python may need to start for a program of cub's own."""
    names = ["PATH", *(name for name in os.environ if name.startswith(("LD_", "DYLD_")))]
    return {name: os.environ[name] for name in names if name in os.environ}


def explain_missing_program(name: str, folder: Path, environ: Mapping[str, str]) -> str:
    """Explain why a program can't be started in `folder` with this environment; "" if it can.

    It is looked up as the keeper's exec does. A script's interpreter has to be there, too.
    """
    files = [path for path in iter_candidates(name, folder, environ) if path.is_file()]
    if not files:
        return f"{name} is not there" if "/" in name else f"{name} is not in PATH"
    programs = [path for path in files if os.access(path, os.X_OK)]
    if not programs:
        return f"{files[0]} is not executable"
    interpreter = read_interpreter(programs[0])
    if interpreter and not any(
        path.is_file() for path in iter_candidates(interpreter, folder, environ)
    ):
        return f"{programs[0]} needs {interpreter}, which is not there"
    return ""


def iter_candidates(name: str, folder: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield where a program of this name may be; relative paths start in `folder`."""
    if "/" in name:
        yield folder / name
        return
    for search_folder in os.get_exec_path(environ):
        yield folder / search_folder / name


def read_interpreter(program: Path) -> str:
    """Return the program in a script's first line, that after `env`; "" if it is not a script."""
    try:
        with program.open("rb") as file:
            head = file.read(_MAX_FIRST_LINE)
    except OSError:
        return ""
    if not head.startswith(b"#!"):
        return ""
    words = os.fsdecode(head[2:].split(b"\n", 1)[0]).split()
    if words[:1] == [_ENV] and len(words) > 1 and words[1][0] != "-" and "=" not in words[1]:
        return words[1]
    return words[0] if words else ""


class StopRequest:
    """Remember a request to stop, and wake every wait for it; a signal handler may make it."""

    __slots__ = ("_listeners", "_lock", "_reads", "_writes", "is_requested")

    def __init__(self) -> None:
        self.is_requested = False
        self._listeners: tuple[Callable[[], None], ...] = ()
        self._lock = RLock()  # a request in a signal handler may take it once more
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._writes, False)

    def request(self) -> None:
        """Ask to stop; asking again, or after `close`, does no harm."""
        self.is_requested = True
        with self._lock, suppress(BlockingIOError):  # a full pipe is readable, too
            if self._writes >= 0:
                os.write(self._writes, b"!")
        with ExitStack() as listeners:  # all are called, if one raises as well; last in, first out
            for listener in reversed(self._listeners):
                listeners.callback(listener)

    def reset(self) -> None:
        """Forget what was requested, so that other work can begin, and be stopped as well."""
        self.is_requested = False
        self._drain()

    @contextmanager
    def notify(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call a listener at each request inside the context, at once if one was made before.

        Those that were added first are called first; what one raises, `request` raises after all.
        """
        with self._lock:
            self._listeners += (listener,)
        try:
            if self.is_requested:
                listener()
            yield
        finally:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

    @contextmanager
    def open_child(self) -> Iterator[StopRequest]:
        """Yield a request of a part of the work: it ends with the whole, and not the other way."""
        child = StopRequest()
        try:
            with self.notify(child.request):
                yield child
        finally:
            child.close()

    def fileno(self) -> int:
        """Return a file that can be read once a stop is requested; nobody reads it."""
        return self._reads

    def wait(self, seconds: float) -> bool:
        """Sleep for at most `seconds`; return True as soon as a stop is requested."""
        if self.is_requested or seconds <= 0:
            return self.is_requested
        with selectors.DefaultSelector() as selector:
            selector.register(self._reads, selectors.EVENT_READ)
            selector.select(seconds)
        return self.is_requested

    def close(self) -> None:
        """Close the pipe."""
        with self._lock:  # a write must not reach another file that gets the number
            reads, writes, self._reads, self._writes = self._reads, self._writes, -1, -1
        for end in (reads, writes):
            if end >= 0:
                os.close(end)

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._reads, 4096):
                pass
