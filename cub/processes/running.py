"""A command while it runs: what it says as it comes, its limits, and its end in any case."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from cub.debug_log import log_debug
from cub.processes.command import Cause, Command, Ended, Limits, Piece
from cub.processes.kept import Kept, Result, start
from cub.processes.stop import Stop

_PIECE = 65_536
# For pipes that someone else still holds open, when all that the command started has ended.
_DRAIN = 2.0


@dataclass(slots=True)
class Running:
    """Runs `command` within a `with` block, which nothing that it started outlives.

    A requested `stop` ends it as the limits do. `tick` asks for a Piece without data every so
    many seconds; `merged` has stdout and stderr come as one stream, in their true order. The
    file `last` gets the time (seconds since 1970) when all has ended, even if cub is killed.
    """

    command: Command
    limits: Limits = field(default_factory=Limits)
    stop: Stop | None = None
    last: Path | None = None
    tick: float | None = None
    merged: bool = False
    _kept: Kept = field(init=False, repr=False)
    _selector: selectors.BaseSelector = field(init=False, repr=False)
    _unsent: memoryview = field(init=False, repr=False)
    _began: float = 0.0
    _heard: float = 0.0
    _ticked: float = 0.0
    _cause: Cause = ""
    _ended: Ended | None = None

    def __enter__(self) -> Self:
        """Start it. Raises CubError if there is nothing to run, or on Windows."""
        self._began = self._heard = self._ticked = time.monotonic()
        self._unsent = memoryview(self.command.stdin)
        log_debug(f"start {' '.join(self.command.argv[:1])} in {self.command.folder.as_posix()}")
        self._kept = start(self.command, self.limits.grace, self.last, self.merged)
        self._selector = selectors.DefaultSelector()
        try:
            self._listen()
        except BaseException:
            self._kept.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill what still runs, and wait for it."""
        try:
            if self._ended is None:
                self._cause = self._cause or "ended"
                self._kept.tell(b"kill")
                while self._ended is None:
                    self._finish(self._kept.hear())
        finally:
            self._selector.close()
            self._kept.close()

    @property
    def ended(self) -> Ended:
        """How it ended; it has when `pieces` is through, or the block is left."""
        assert self._ended is not None
        return self._ended

    def end(self) -> None:
        """End it on the caller's behalf: INT, TERM and KILL with the grace of its limits."""
        self._end("ended")

    def pieces(self) -> Iterator[Piece]:
        """What it says as it comes, and ticks, until it has ended and said all."""
        while self._listens():
            ready = [key for key, _ in self._selector.select(self._patience())]
            for key in ready:
                file = cast(FileIO, key.fileobj)
                match key.data:
                    case "out" | "err" as name:
                        if data := self._read(file):
                            yield Piece(name, data)
                    case "stdin":
                        self._feed(file)
                    case "status":
                        self._finish(self._kept.hear())
                    case "stop":
                        self._forget("stop")
                        self._end("stopped")
            self._keep_limits(silent=not any(key.data in ("out", "err") for key in ready))
            if self.tick is not None and time.monotonic() >= self._ticked + self.tick:
                self._ticked = time.monotonic()
                yield Piece("", b"")

    def _listen(self) -> None:
        if self._kept.stdin:
            os.set_blocking(self._kept.stdin.fileno(), False)
            self._selector.register(self._kept.stdin, selectors.EVENT_WRITE, "stdin")
        for name in ("out", "err", "status"):
            if file := getattr(self._kept, name):
                self._selector.register(file, selectors.EVENT_READ, name)
        if self.stop:
            self._selector.register(self.stop, selectors.EVENT_READ, "stop")

    def _listens(self) -> bool:
        """Whether there may be more to come."""
        if self._ended is None:
            return True
        self._forget("status", "stdin", "stop")
        return bool(self._selector.get_map()) and time.monotonic() < self._deadlines()[0]

    def _deadlines(self) -> list[float]:
        """When to look up next, even if nothing comes."""
        if self._ended is not None:
            return [self._began + self._ended.seconds + _DRAIN]
        spans = [(self._ticked, self.tick)]
        if not self._cause:
            spans += [(self._began, self.limits.wall), (self._heard, self.limits.idle)]
        return [since + span for since, span in spans if span is not None]

    def _patience(self) -> float | None:
        moments = self._deadlines()
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _keep_limits(self, *, silent: bool) -> None:
        now, wall, idle = time.monotonic(), self.limits.wall, self.limits.idle
        if wall is not None and now >= self._began + wall:
            self._end("wall")
        elif silent and idle is not None and now >= self._heard + idle:
            self._end("idle")

    def _end(self, cause: Cause) -> None:
        if not self._cause and self._ended is None:
            self._cause = cause
            self._kept.tell(b"end")

    def _finish(self, result: Result | None) -> None:
        if result is not None:
            seconds = time.monotonic() - self._began
            self._ended = Ended(result.exit, result.signal, self._cause, result.missing, seconds)

    def _read(self, file: FileIO) -> bytes:
        """What has come; at the end of the file, it is no longer listened to."""
        self._heard = time.monotonic()
        data = file.read(_PIECE)
        if not data:
            self._selector.unregister(file)
        return data

    def _feed(self, file: FileIO) -> None:
        """Write as much of stdin as it takes, and close it after the last."""
        try:
            self._unsent = self._unsent[file.write(self._unsent[:_PIECE]) or 0 :]
        except BrokenPipeError:  # it doesn't want the rest
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._selector.unregister(file)
            file.close()

    def _forget(self, *names: str) -> None:
        for key in list(self._selector.get_map().values()):
            if key.data in names:
                self._selector.unregister(key.fileobj)
