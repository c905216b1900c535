"""Run a command: read its output as it comes, keep its limits, and end it in any case."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from io import FileIO
from typing import BinaryIO, NamedTuple, Self, cast

from cub.debug_log import log_debug
from cub.processes.command import (
    CommandSpec,
    EndCause,
    OutputChunk,
    ProcessResult,
    StopRequest,
    TimeLimits,
)
from cub.processes.keeper_handle import KeeperHandle, start_keeper

_CHUNK_BYTES = 65_536
# Seconds for pipes that another process still holds open, when the command has ended.
_DRAIN = 2.0
_NO_LIMITS = TimeLimits()


@dataclass(slots=True)
class RunningCommand:
    """Run `command` within a `with` block, which nothing that it started outlives.

    A requested `stop` ends it as the limits do. `tick_seconds` asks for an OutputChunk without data
    every so many seconds; `merges_streams` makes stdout and stderr one stream, in their true order.
    `opens_stdin` leaves `stdin` to the caller, who writes to it, and closes it.
    """

    command: CommandSpec
    limits: TimeLimits = field(default_factory=TimeLimits)
    stop: StopRequest | None = None
    tick_seconds: float | None = None
    merges_streams: bool = False
    opens_stdin: bool = False
    _keeper: KeeperHandle = field(init=False, repr=False)
    _selector: selectors.BaseSelector = field(init=False, repr=False)
    _unsent: memoryview = field(init=False, repr=False)
    _started: float = 0.0
    _last_output: float = 0.0
    _ticked: float = 0.0
    _cause: EndCause = ""
    _ended: ProcessResult | None = None

    def __enter__(self) -> Self:
        """Start it. Raises CubError if there is nothing to run, or on Windows."""
        self._started = self._last_output = self._ticked = time.monotonic()
        self._unsent = memoryview(self.command.stdin)
        log_debug(f"start {' '.join(self.command.argv[:1])} in {self.command.folder.as_posix()}")
        self._keeper = start_keeper(
            self.command,
            self.limits.grace,
            self.merges_streams,
            opens_stdin=self.opens_stdin,
        )
        self._selector = selectors.DefaultSelector()
        try:
            self._register_pipes()
        except BaseException:
            self._keeper.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Kill what still runs, and wait for it."""
        try:
            if self._ended is None:
                self._cause = self._cause or "ended"
                self._keeper.send(b"kill")
                while self._ended is None:
                    self._read_report()
        finally:
            self._selector.close()
            self._keeper.close()

    @property
    def stdin(self) -> FileIO:
        """Return its stdin, which `opens_stdin` has left open."""
        assert self._keeper.stdin is not None
        return self._keeper.stdin

    @property
    def result(self) -> ProcessResult:
        """Return how it ended, once `iter_output` is through or the block is left."""
        assert self._ended is not None
        return self._ended

    def terminate(self) -> None:
        """End it for the caller: INT, TERM and KILL with the grace of its limits."""
        self._end("ended")

    def iter_output(self) -> Iterator[OutputChunk]:
        """Yield its output as it comes, and ticks, until it has ended and all is read."""
        while self._is_open():
            deadlines = self._list_deadlines()
            timeout = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
            ready = [key for key, _ in self._selector.select(timeout)]
            for key in ready:
                file = cast(FileIO, key.fileobj)
                match key.data:
                    case "out" | "err" as name:
                        if data := self._read(file):
                            yield OutputChunk(name, data)
                    case "stdin":
                        self._write_stdin(file)
                    case "status":
                        self._read_report()
                    case "stop":
                        self._unregister("stop")
                        self._end("stopped")
            self._keep_limits(silent=not any(key.data in ("out", "err") for key in ready))
            now = time.monotonic()
            if self.tick_seconds is not None and now >= self._ticked + self.tick_seconds:
                self._ticked = now
                yield OutputChunk("", b"")

    def _register_pipes(self) -> None:
        if self._keeper.stdin and not self.opens_stdin:
            os.set_blocking(self._keeper.stdin.fileno(), False)
            self._selector.register(self._keeper.stdin, selectors.EVENT_WRITE, "stdin")
        for name in ("out", "err", "status"):
            if file := getattr(self._keeper, name):
                self._selector.register(file, selectors.EVENT_READ, name)
        if self.stop:
            self._selector.register(self.stop, selectors.EVENT_READ, "stop")

    def _is_open(self) -> bool:
        """Return whether there may be more output."""
        if self._ended is None:
            return True
        self._unregister("status", "stdin", "stop")
        return bool(self._selector.get_map()) and time.monotonic() < self._list_deadlines()[0]

    def _list_deadlines(self) -> list[float]:
        """Return when to check the limits next, even without output."""
        if self._ended is not None:
            return [self._started + self._ended.seconds + _DRAIN]
        spans = [(self._ticked, self.tick_seconds)]
        if not self._cause:
            spans += [(self._started, self.limits.wall), (self._last_output, self.limits.idle)]
        return [since + span for since, span in spans if span is not None]

    def _keep_limits(self, *, silent: bool) -> None:
        now, wall, idle = time.monotonic(), self.limits.wall, self.limits.idle
        if wall is not None and now >= self._started + wall:
            self._end("wall")
        elif silent and idle is not None and now >= self._last_output + idle:
            self._end("idle")

    def _end(self, cause: EndCause) -> None:
        if not self._cause and self._ended is None:
            self._cause = cause
            self._keeper.send(b"end")

    def _read_report(self) -> None:
        """Read that the command starts, from when on its limits count, or how it ended."""
        result, now = self._keeper.read_report(), time.monotonic()
        if result is None:
            self._started = self._last_output = now
        else:
            self._ended = result._replace(cause=self._cause, seconds=now - self._started)

    def _read(self, file: FileIO) -> bytes:
        """Read what has come, and unregister the file at its end."""
        self._last_output = time.monotonic()
        data = file.read(_CHUNK_BYTES)
        if not data:
            self._selector.unregister(file)
        return data

    def _write_stdin(self, file: FileIO) -> None:
        """Write as much of stdin as the pipe takes, and close it after the last byte."""
        try:
            self._unsent = self._unsent[file.write(self._unsent[:_CHUNK_BYTES]) or 0 :]
        except BrokenPipeError:  # it doesn't want the rest
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._selector.unregister(file)
            file.close()

    def _unregister(self, *names: str) -> None:
        for key in list(self._selector.get_map().values()):
            if key.data in names:
                self._selector.unregister(key.fileobj)


class CapturedOutput(NamedTuple):
    """Hold how it ended, the kept parts of stdout and stderr, and how many bytes came and lack.

    If the streams are merged, `out` has both in their order.
    """

    result: ProcessResult
    out: bytes
    err: bytes
    total: int
    left_out: int


class _HeadAndTail:
    """Keep the first and the last bytes of a stream, at most `max_bytes` together."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.total = 0
        self.first = bytearray()
        self.last = bytearray()

    def add(self, data: bytes) -> bytes:
        """Add more, and return the part of it that is among the first bytes."""
        self.total += len(data)
        part = data[: max(0, self.max_bytes // 2 - len(self.first))]
        self.first += part
        self.last += data[len(part) :]
        if len(self.last) > 2 * self.max_bytes:  # not at each piece: it copies
            del self.last[: -self.max_bytes]
        return part

    @property
    def left_out(self) -> int:
        """Return the number of bytes that are not kept."""
        return max(0, self.total - self.max_bytes)

    def get_rest(self) -> bytes:
        """Return what is kept after the first bytes, after a line that counts those left out."""
        out = self.left_out
        if not out:
            return bytes(self.last)
        tail = self.last[len(self.last) - (self.max_bytes - len(self.first)) :]
        return f"\n… {out:,} bytes left out …\n".encode() + tail


def run_and_capture(
    command: CommandSpec,
    limits: TimeLimits = _NO_LIMITS,
    stop: StopRequest | None = None,
    max_bytes: int = 2_000_000,
    log: BinaryIO | None = None,
    *,
    merges_streams: bool = True,
) -> CapturedOutput:
    """Run a command to its end and keep `max_bytes` bytes of each stream, half of them the last.

    `log` gets the same bytes: the first half as it comes, the rest in the end.
    Raises CubError if there is nothing to run, or on Windows.
    """
    ends = {"out": _HeadAndTail(max_bytes), "err": _HeadAndTail(max_bytes)}
    try:
        with RunningCommand(command, limits, stop, merges_streams=merges_streams) as running:
            for chunk in running.iter_output():
                part = ends[chunk.stream].add(chunk.data)
                if log and part:
                    log.write(part)
    finally:
        out, err = (end.get_rest() for end in ends.values())
        if log and (out or err):
            log.write(out + err)
    out, err = bytes(ends["out"].first) + out, bytes(ends["err"].first) + err
    total, left_out = (sum(getattr(end, n) for end in ends.values()) for n in ("total", "left_out"))
    return CapturedOutput(running.result, out, err, total, left_out)


run_and_capture_streams = partial(run_and_capture, merges_streams=False)
