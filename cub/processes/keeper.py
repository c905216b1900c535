"""Starts one command and outlives it: whatever that leaves behind is ended, even if cub is killed.

A process of its own, with few imports since every command pays for its start; kept.py starts it.
From the pipe `control` it reads the order, then lines `end` and `kill`; the end of the file (cub
has died) means `end`. Into `status` it writes `pid N`, then the result: `exit N`, `signal N`,
`folder ERRNO`, `program ERRNO`, or `left 0` where it could not end the command.
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
    signal,
    signal_group,
    suppress,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cub.processes.process_tree import Prctl

_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_SWEEP_GRACE = 0.5  # seconds for what the command left behind

KeeperOrder = tuple[bytes, list[bytes], dict[bytes, bytes]]


def main(control: int, status: int, graces: tuple[float, float]) -> None:
    """Carry out one order. `graces` are the seconds after INT and after TERM."""
    os.set_inheritable(control, False)
    os.set_inheritable(status, False)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    wake, prctl = _wake(), load_prctl()
    adopts = prctl(SUBREAPER, 1) == 0
    result, last = "", b""
    if fields := _order(control):
        last, order = fields
        client, result = _start(order, prctl, status)
        if not result:
            code, gently = _watch(client, control, wake, graces)
            end_descendants(client, wake, adopts, _SWEEP_GRACE if gently else 0.0)
            result = _result(code)
    _write_end_time(last)
    _write_status(status, result)


def _wake() -> int:
    """A file that can be read when a child has ended."""
    reads, writes = os.pipe()
    os.set_blocking(reads, False)
    os.set_blocking(writes, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    return reads


def _order(control: int) -> tuple[bytes, KeeperOrder] | None:
    """The file that gets the time (seconds since 1970) when all has ended, b"" for none; and the
    folder, the arguments and the environment. None if cub died before it said all.

    The file is no argument of this process: whoever it starts could read that.
    """
    size = int.from_bytes(_read(control, 8), "big")
    data = _read(control, size)
    if not data:
        return None
    last, folder, count, *rest = data.split(b"\0")
    cut = int(count)
    environ = {name: value for name, _, value in (one.partition(b"=") for one in rest[cut:])}
    return last, (folder, rest[:cut], environ)


def _read(file: int, size: int) -> bytes:
    """Exactly so many bytes, or none."""
    data = b""
    while len(data) < size:
        more = os.read(file, size - len(data))
        if not more:
            return b""
        data += more
    return data


def _start(order: KeeperOrder, prctl: Prctl, status: int) -> tuple[int, str]:
    """The command's process in a session of its own, and the result if it can't be started."""
    reads, writes = os.pipe()
    keeper = os.getpid()
    client = os.fork()
    if client == 0:
        _write_status(status, f"pid {os.getpid()}\n")  # not later: the command may kill its keeper
        _exec_command(order, prctl, keeper, writes)
    os.close(writes)
    _detach()
    trouble = os.read(reads, 100)  # nothing once exec has closed the other end
    os.close(reads)
    return client, trouble.decode()


def _exec_command(order: KeeperOrder, prctl: Prctl, keeper: int, trouble: int) -> None:
    """The command itself, from fork to exec."""
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
        os.write(trouble, f"{step} {error.errno}\n".encode())
    finally:
        os._exit(127)


def _reset_signals() -> None:
    """Every signal as a new process has it, whatever cub itself was started with."""
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):
        with suppress(OSError):  # KILL, STOP and the C library's own
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _detach() -> None:
    """Hold none of the command's own pipes open."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.close(null)


def _watch(
    command_pid: int, control: int, wake: int, graces: tuple[float, float]
) -> tuple[int | None, bool]:
    """Wait for the command, and end it when told to.

    Its wait status, None if it could not be ended; and whether what it left has time to end.
    """
    plan: list[tuple[float, int]] = []  # when which signal is due; 0 is to give up
    files, gently = [wake, control], True
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
                plan, gently = _plan((signal.SIGKILL, GIVE_UP_SECONDS)), False
            elif not plan:
                ending = zip((signal.SIGINT, signal.SIGTERM), graces, strict=True)
                plan = _plan(*ending, (signal.SIGKILL, GIVE_UP_SECONDS))
            if not words:
                files.remove(control)
    return code, gently


def _plan(*steps: tuple[int, float]) -> list[tuple[float, int]]:
    """Each signal with its moment, from the seconds to wait after it."""
    moment, plan = time.monotonic(), []
    for number, pause in steps:
        plan.append((moment, number))
        moment += pause
    return [*plan, (moment, 0)]


def _find_wait_status(command_pid: int) -> int | None:
    """The wait status of `command_pid` if it is among the children that have ended by now."""
    while (ended := os.waitpid(-1, os.WNOHANG))[0]:
        if ended[0] == command_pid:
            return ended[1]
    return None


def _result(code: int | None) -> str:
    if code is None:
        return "left 0\n"
    number = os.waitstatus_to_exitcode(code)
    return f"exit {number}\n" if number >= 0 else f"signal {-number}\n"


def _write_end_time(last: bytes) -> None:
    """Leave the time, whole or not at all; a folder that has gone needs none."""
    if last:
        with suppress(OSError):
            with open(last + b".new", "w", encoding="ascii") as file:  # noqa: PTH123
                file.write(f"{time.time():.6f}\n")
            os.replace(last + b".new", last)  # noqa: PTH105 - pathlib starts slowly


def _write_status(status: int, line: str) -> None:
    with suppress(OSError):  # cub may have died
        os.write(status, line.encode())
