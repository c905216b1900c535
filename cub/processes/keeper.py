"""Start one command and outlive it: end whatever that leaves behind, even if cub is killed.

This runs as a process of its own, which keeper_handle.py starts. From the pipe `control` it reads
the order, then lines `end` and `kill`; the end of the file (cub has died) means `end`. Into
`status` it writes `pid N`, then the result: `exit N`, `signal N`, `folder ERRNO`, `program ERRNO`,
or `left 0` where it could not end the command.
"""

from __future__ import annotations

import os
import select
import time

from cub.processes.process_tree import (
    GIVE_UP_SECONDS,
    PARENT_DEATH,
    SUBREAPER,
    drain_pipe,
    end_descendants,
    load_prctl,
    signal_group,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal

    from cub.processes.process_tree import Prctl
else:  # see process_tree.py
    import _signal as signal

_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_SWEEP_GRACE = 0.5  # seconds at most for what the command left behind

KeeperOrder = tuple[bytes, list[bytes], dict[bytes, bytes]]


def main(control: int, status: int, graces: tuple[float, float]) -> None:
    """Carry out one order and exit. `graces` are the seconds after INT and after TERM."""
    os.set_inheritable(control, False)
    os.set_inheritable(status, False)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    wake, prctl = _make_wake_pipe(), load_prctl()
    adopts = prctl(SUBREAPER, 1) == 0
    result = ""
    if order := _read_order(control):
        command_pid, result = _start(order, prctl, status)
        if not result:
            code, has_grace = _watch(command_pid, control, wake, graces)
            sweep_grace = min(_SWEEP_GRACE, graces[1]) if has_grace else 0.0
            end_descendants(command_pid, wake, adopts, sweep_grace)
            result = _format_result(code)
    _write_status(status, result)
    os._exit(0)  # cub waits for this process, and Python's own way to end takes milliseconds


def _make_wake_pipe() -> int:
    """Return a file that can be read when a child has ended."""
    reads, writes = os.pipe()
    os.set_blocking(reads, False)
    os.set_blocking(writes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    return reads


def _read_order(control: int) -> KeeperOrder | None:
    """Return the folder, the arguments and the environment; None if cub died before it sent all.

    They are no arguments of this process: the command could read those.
    """
    size = int.from_bytes(_read(control, 8), "big")
    data = _read(control, size)
    if not data:
        return None
    folder, count, *rest = data.split(b"\0")
    cut = int(count)
    environ = {name: value for name, _, value in (pair.partition(b"=") for pair in rest[cut:])}
    return folder, rest[:cut], environ


def _read(file: int, size: int) -> bytes:
    """Read exactly `size` bytes; b"" if there are fewer."""
    data = b""
    while len(data) < size:
        more = os.read(file, size - len(data))
        if not more:
            return b""
        data += more
    return data


def _start(order: KeeperOrder, prctl: Prctl, status: int) -> tuple[int, str]:
    """Return the command's process id, and the result if it can't be started ("" if it can)."""
    reads, writes = os.pipe()
    keeper = os.getpid()
    command_pid = os.fork()
    if command_pid == 0:
        _write_status(status, f"pid {os.getpid()}\n")  # not later: the command may kill its keeper
        _exec_command(order, prctl, keeper, writes)
    os.close(writes)
    _detach()
    failure = os.read(reads, 100)  # nothing once exec has closed the other end
    os.close(reads)
    return command_pid, failure.decode()


def _exec_command(order: KeeperOrder, prctl: Prctl, keeper: int, failures: int) -> None:
    """Become the command, in a session of its own; write why that failed to `failures`."""
    folder, argv, environ = order
    step = "folder"
    try:
        os.setsid()
        prctl(PARENT_DEATH, signal.SIGKILL)  # who kills the keeper kills the command
        if os.getppid() == keeper:
            _reset_signals()
            os.chdir(folder)
            step = "program"
            os.execvpe(argv[0], argv, environ)  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(failures, f"{step} {error.errno}\n".encode())
    finally:
        os._exit(127)


def _reset_signals() -> None:
    """Handle every signal as a new process does, whatever cub itself was started with."""
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):
        try:  # noqa: SIM105 - contextlib starts slowly
            signal.signal(number, signal.SIG_DFL)
        except OSError:  # KILL, STOP and the C library's own
            pass
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _detach() -> None:
    """Close the command's own pipes in this process."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.close(null)


def _watch(
    command_pid: int, control: int, wake: int, graces: tuple[float, float]
) -> tuple[int | None, bool]:
    """Wait for the command, and end it when `control` says so.

    Return its wait status, None if it could not be ended; and whether what it left has time to end.
    """
    plan: list[tuple[float, int]] = []  # when which signal is due; 0 is to give up
    files, has_grace = [wake, control], True
    while (code := _find_wait_status(command_pid)) is None:
        now = time.monotonic()
        if plan and plan[0][0] <= now:
            number = plan.pop(0)[1]
            if not number:
                return None, False
            signal_group(command_pid, number)
            continue
        ready, _, _ = select.select(files, [], [], plan[0][0] - now if plan else None)
        drain_pipe(wake)
        if control in ready:
            words = os.read(control, 100)
            if b"kill" in words:
                plan, has_grace = _plan_signals((signal.SIGKILL, GIVE_UP_SECONDS)), False
            elif not plan:
                ending = zip((signal.SIGINT, signal.SIGTERM), graces, strict=True)
                plan = _plan_signals(*ending, (signal.SIGKILL, GIVE_UP_SECONDS))
            if not words:
                files.remove(control)
    return code, has_grace


def _plan_signals(*steps: tuple[int, float]) -> list[tuple[float, int]]:
    """Return when each signal is due, from the seconds to wait after it."""
    due, plan = time.monotonic(), []
    for number, pause in steps:
        plan.append((due, number))
        due += pause
    return [*plan, (due, 0)]


def _find_wait_status(command_pid: int) -> int | None:
    """Return the wait status of `command_pid` if it has ended by now, and reap all children."""
    while (ended := os.waitpid(-1, os.WNOHANG))[0]:
        if ended[0] == command_pid:
            return ended[1]
    return None


def _format_result(code: int | None) -> str:
    if code is None:
        return "left 0\n"
    number = os.waitstatus_to_exitcode(code)
    return f"exit {number}\n" if number >= 0 else f"signal {-number}\n"


def _write_status(status: int, line: str) -> None:
    try:  # noqa: SIM105 - contextlib starts slowly
        os.write(status, line.encode())
    except OSError:  # cub may have died
        pass
