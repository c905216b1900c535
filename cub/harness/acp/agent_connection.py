"""Start an agent, exchange lines of JSON-RPC with it, and end it with all that it started.

The agent gets a session of its own, so a signal for cub's process group does not reach it: an agent
that is interrupted by itself does not report the tokens of a cancelled turn.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple, cast

from cub.harness.line_splitter import LineSplitter
from cub.json_values import JsonObject, parse_object
from cub.processes.command import StopRequest

_CHUNK_BYTES = 65_536
_MAX_UNSENT = 64_000_000  # bytes; an agent that reads none of its answers gets no more
_POLL_SECONDS = 0.02


class StopSignals(StopRequest):
    """Remember INT (`is_requested`) and TERM (`is_urgent` as well), and wake waits for the agent.

    It can be read as a file once a signal has come.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_urgent = False

    def install(self) -> None:
        """Have this process's INT and TERM remembered."""
        signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, lambda *_: self.request())
        signal.signal(signal.SIGTERM, lambda *_: self.request(is_urgent=True))

    def request(self, *, is_urgent: bool = False) -> None:
        """Ask to stop, as a signal does."""
        self.is_urgent = self.is_urgent or is_urgent
        super().request()

    def clear(self) -> None:
        """Read what has woken a wait; the signals stay remembered."""
        self._drain()


class AgentClosedError(Exception):
    """Say that the agent will send nothing more."""


class EndGraces(NamedTuple):
    """Hold the seconds that an agent has to end after its stdin has ended, and after TERM."""

    stdin: float = 1.0
    term: float = 1.0


class AgentConnection:
    """Run an agent. Lines of it that are not JSON objects are counted, and nothing else.

    Its stderr goes to this process's.
    Raises OSError if it can't be started.
    """

    def __init__(self, argv: Sequence[str], stop: StopSignals) -> None:
        self.garbage_count = 0
        self._stop = stop
        self._process = subprocess.Popen(  # noqa: S603 - the agent that a person has configured
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._stdin = cast(IO[bytes], self._process.stdin)
        self._stdout = cast(IO[bytes], self._process.stdout)
        self._lines = LineSplitter()
        self._messages: deque[JsonObject] = deque()
        self._unsent = bytearray()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(stop, selectors.EVENT_READ)
        for stream in (self._stdin, self._stdout):
            os.set_blocking(stream.fileno(), False)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message as the agent reads it. Raises AgentClosedError if it reads too little."""
        self._unsent += json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        if len(self._unsent) > _MAX_UNSENT:
            raise AgentClosedError("the agent does not read its stdin")
        self._write_unsent()

    def receive(self, deadline: float | None) -> JsonObject | None:
        """Return the agent's next message; None at the deadline, or after a signal.

        Raises AgentClosedError when the agent has closed its stdout.
        """
        while not self._messages:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            for key, _ in self._selector.select(left):
                if key.fileobj is self._stop:
                    self._stop.clear()
                    return None
                if key.fileobj is self._stdin:
                    self._write_unsent()
                else:
                    self._read_messages()
        return self._messages.popleft()

    def describe_exit(self) -> str:
        """Say how the agent has ended; it has a moment to do so, after it has closed its stdout."""
        self._wait(_POLL_SECONDS * 25)
        code = self._process.poll()
        if code is None:
            return "the agent closed its stdout"
        return f"the agent was ended by signal {-code}" if code < 0 else f"exit code {code}"

    def end(self, graces: EndGraces) -> None:
        """End the agent: close its stdin, then TERM and KILL for its process group.

        A second signal for this process cuts the waits short.
        """
        with suppress(KeyError):
            self._selector.unregister(self._stdin)
        self._stdin.close()
        self._wait(graces.stdin)
        for number, seconds in ((signal.SIGTERM, graces.term), (signal.SIGKILL, graces.term)):
            if not self._signal_group(number):
                break
            self._wait(seconds, for_group=True)
        self._process.poll()
        self._selector.close()
        self._stdout.close()

    def _read_messages(self) -> None:
        data = _read(self._stdout)
        lines = self._lines.feed(data) if data else self._lines.flush()
        for line in lines:
            if message := parse_object(line):
                self._messages.append(message)
            elif line.strip():
                self.garbage_count += 1
        if not data and not self._messages:
            raise AgentClosedError("")

    def _write_unsent(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._stdin.fileno(), self._unsent[:_CHUNK_BYTES])]
        except BlockingIOError:
            with suppress(KeyError):  # it is registered already
                self._selector.register(self._stdin, selectors.EVENT_WRITE)
            return
        except OSError:  # the end of its stdout says it better
            self._unsent.clear()
        with suppress(KeyError):
            self._selector.unregister(self._stdin)

    def _wait(self, seconds: float, *, for_group: bool = False) -> None:
        """Wait for the end of the agent, or of its group; drop its output, which could block it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self._stop.is_urgent:
            is_over = self._process.poll() is not None
            if is_over and not (for_group and self._signal_group(0)):
                return
            self._drop_output()

    def _drop_output(self) -> None:
        for key, _ in self._selector.select(_POLL_SECONDS):
            if key.fileobj is self._stop:
                self._stop.clear()
            elif not _read(self._stdout):
                self._selector.unregister(self._stdout)

    def _signal_group(self, number: int) -> bool:
        """Send a signal to the agent's group; return False if nothing is left of it."""
        try:
            os.killpg(self._process.pid, number)
        except OSError:
            return False
        return True


def _read(stream: IO[bytes]) -> bytes:
    """Return what a pipe has now; b"" at its end."""
    with suppress(OSError):
        return os.read(stream.fileno(), _CHUNK_BYTES)
    return b""
