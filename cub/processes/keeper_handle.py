"""Start a keeper for a command, have it end that command, and read its result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from cub.errors import CubError
from cub.processes.command import CommandSpec, ProcessResult, select_loader_variables
from cub.processes.orphans import kill_orphans
from cub.processes.process_tree import make_keeper_argv
from cub.text import describe_os_error

_ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class KeeperHandle:
    """Hold a command with its keeper, and cub's ends of the pipes to both."""

    command: CommandSpec
    process: subprocess.Popen[bytes]
    control: FileIO
    status: FileIO
    stdin: FileIO | None
    out: FileIO
    err: FileIO | None
    files: ExitStack
    _received: bytes = b""

    def send(self, word: bytes) -> None:
        """Have the keeper `end` the command in steps, or `kill` it at once."""
        with suppress(OSError, ValueError):  # it has ended, or another thread has closed the pipe
            self.control.write(word + b"\n")
            self.process.send_signal(signal.SIGCONT)  # a command may have stopped it

    def read_report(self) -> ProcessResult | None:
        """Wait for `status` and return the result in it; None if it has not come yet."""
        more = self.status.read(4096)
        self._received += more or b""
        words = [line.split() for line in self._received.split(b"\n")[:-1]]
        for word, number in words:
            if word != b"pid":
                return self._make_report(word.decode(), int(number))
        if more:
            return None
        if not words:
            raise CubError("cub's own process that keeps a command was ended before that started")
        # Somebody killed the keeper. Linux has killed the command with it; not so its children.
        command_pid = int(words[0][1])
        _handles.pop(self.process.pid, None)
        with suppress(OSError):
            os.killpg(command_pid, signal.SIGKILL)
        kill_orphans(command_pid, _handles)
        return ProcessResult(signal=signal.SIGKILL)

    def close(self) -> None:
        """Close all pipes, and wait for the keeper, which ends its command if it still runs."""
        self.files.close()
        self.process.wait()
        _handles.pop(self.process.pid, None)

    def _make_report(self, word: str, number: int) -> ProcessResult:
        match word:
            case "exit":
                return ProcessResult(exit_code=number)
            case "signal":
                return ProcessResult(signal=number)
            case "folder" | "program":
                reason = os.strerror(number).lower()
                prefix = f"{self.command.folder}: " if word == "folder" else ""
                return ProcessResult(start_error=prefix + reason)
        return ProcessResult()


_handles: dict[int, KeeperHandle] = {}  # by the process id of the keeper


def kill_commands() -> None:
    """Kill all commands of this process at once, whichever thread waits for them."""
    for handle in [*_handles.values()]:
        handle.send(b"kill")


def start_keeper(
    command: CommandSpec,
    grace: tuple[float, float],
    merge_streams: bool,
    *,
    opens_stdin: bool = False,
) -> KeeperHandle:
    """Start a command under a keeper; `merge_streams` gives it one pipe for stdout and stderr.

    `opens_stdin` gives it a pipe as stdin that the caller writes to, and closes.
    Raises CubError, with nothing started.
    """
    if os.name != "posix":
        raise CubError("cub run needs Linux or macOS", hint="WSL works")
    order = _encode_order(command)
    with ExitStack() as ours, ExitStack() as theirs:
        orders, control = _pipe(theirs, ours)
        status, results = _pipe(ours, theirs)
        feeds, stdin = _pipe(theirs, ours) if command.stdin or opens_stdin else (None, None)
        out, says = _pipe(ours, theirs)
        err, complains = (None, says) if merge_streams else _pipe(ours, theirs)
        words = [str(_ROOT), orders.fileno(), results.fileno(), *grace]
        try:
            process = subprocess.Popen(  # noqa: S603 - Python itself
                [sys.executable, *make_keeper_argv(map(str, words), command.mark)],
                stdin=feeds or subprocess.DEVNULL,
                stdout=says,
                stderr=complains,
                pass_fds=(orders.fileno(), results.fileno()),
                env=select_loader_variables(),  # the command can read it
                start_new_session=True,
            )
        except OSError as error:
            reason = describe_os_error(error)
            raise CubError(f"Python can't be started: {reason}", where=sys.executable) from error
        theirs.close()
        handle = KeeperHandle(command, process, control, status, stdin, out, err, ours.pop_all())
        _handles[process.pid] = handle
    try:
        _send(control, order)
    except BaseException:
        handle.close()
        raise
    return handle


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[FileIO, FileIO]:
    reads, writes = os.pipe()
    return reader.enter_context(FileIO(reads)), writer.enter_context(FileIO(writes, "w"))


def _send(control: FileIO, order: bytes) -> None:
    left = memoryview(len(order).to_bytes(8, "big") + order)
    with suppress(BrokenPipeError):  # the result is missing then, which says why
        while left:
            left = left[control.write(left) :]


def _encode_order(command: CommandSpec) -> bytes:
    """Return the order that keeper.py reads: fields with a zero byte between them."""
    variables = [f"{name}={value}" for name, value in command.environ.items()]
    fields = [str(command.folder), str(len(command.argv)), *command.argv, *variables]
    if not command.argv or not command.argv[0]:
        raise CubError("there is no command to run")
    if any("\0" in field for field in fields):
        raise CubError("a command can't have a zero byte in it", where=command.argv[0])
    try:
        return "\0".join(fields).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise CubError(f"a command can't be written: {error}", where=command.argv[0]) from error
