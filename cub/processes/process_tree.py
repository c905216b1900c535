"""What a command left behind, found and ended: orphans, other sessions, whatever ignores TERM.

Runs in the keeper's process (see keeper.py): few imports, and none of cub's own.

`signal`, `suppress` and prctl(2) for keepers: every command pays for what its keeper imports,
and the standard modules cost 10 ms of CPU, more than all else in it (they import enum, functools).

What a process is a part of, by its ancestors: whatever its environment says, the keeper of a
command is above it, and carries a mark.

On Linux orphans go to the keeper, so that nothing below it gets away; elsewhere they do.
"""

from __future__ import annotations

import os
import select
import sys
import time

GIVE_UP_SECONDS = 5.0  # seconds after KILL: what lives then belongs to another user


def end_descendants(command_pid: int, wake: int, adopts: bool, grace: float) -> None:
    """End all that is left of `command_pid`: TERM, `grace` seconds, then KILL until there is
    nothing.

    `wake` can be read when a child has ended; `adopts` says that orphans become our children.
    """
    start = time.monotonic()
    asked = set[int]()
    while time.monotonic() < start + grace + GIVE_UP_SECONDS:
        if _reap_children() and adopts:
            return
        if time.monotonic() >= start + grace:
            # What a killed child leaves is our child next: no chain of forks is faster.
            left = (_children() if adopts else []) or find_descendant_pids(command_pid, adopts)
            for process in left:
                kill_process_group(process)
        else:
            left = find_descendant_pids(command_pid, adopts)
            for process in set(left) - asked:
                _send(process, signal.SIGTERM)
            asked.update(left)
        if not left and not adopts:
            return
        select.select([wake], [], [], 0.05)
        drain_pipe(wake)


def find_descendant_pids(
    command_pid: int, adopts: bool, excluded_pids: frozenset[int] = frozenset()
) -> list[int]:
    """The processes below this one, and where orphans go elsewhere `command_pid`'s group and
    session.

    Without those of this one's own session, those `excluded_pids`, and what is below these.
    """
    own = os.getpid()
    parents = dict(_list_from_proc() if sys.platform == "linux" else _list_from_ps())
    found = {own}
    if not adopts:
        found |= {one for one in parents if command_pid in (_session(one), _group(one))}
    while (
        more := {one for one, parent in parents.items() if parent in found} - found - excluded_pids
    ):
        found |= more
    return sorted(one for one in found if _session(one) not in (-1, _session(own)))


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group, and wake it if it was stopped."""
    with suppress(OSError):
        os.killpg(group, number)
        os.killpg(group, signal.SIGCONT)


def drain_pipe(wake: int) -> None:
    """Take what was written to `wake`."""
    with suppress(BlockingIOError):
        os.read(wake, 4096)


def _reap_children() -> bool:
    """Bury the children that have ended; True if there are no others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _children() -> list[int]:
    """This process's children, where Linux lists them (proc_pid_task(5))."""
    own = os.getpid()
    with suppress(OSError), open(f"/proc/{own}/task/{own}/children", "rb") as file:  # noqa: PTH123
        return [int(word) for word in file.read().split()]
    return []


def _list_from_proc() -> Iterator[tuple[int, int]]:
    """Each living process and its parent."""
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - pathlib starts slowly
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            state, parent = file.read().rpartition(b")")[2].split()[:2]
            if state not in b"ZX":
                yield int(name), int(parent)


def _list_from_ps() -> Iterator[tuple[int, int]]:
    """The same, from the ps of every POSIX system."""
    with os.popen("ps -A -o pid= -o ppid= -o stat=") as lines:  # noqa: S605, S607 - of the system
        for process, parent, state in (line.split()[:3] for line in lines):
            if not state.startswith("Z"):
                yield int(process), int(parent)


def _session(process: int) -> int:
    with suppress(OSError):
        return os.getsid(process)
    return -1


def _group(process: int) -> int:
    with suppress(OSError):
        return os.getpgid(process)
    return -1


def kill_process_group(process: int) -> None:
    """Kill a process with its whole group: it is of a session below us, so nobody else's."""
    if _group(process) not in (-1, 0, 1, _group(0)):
        signal_group(_group(process), signal.SIGKILL)
    _send(process, signal.SIGKILL)


def _send(process: int, number: int) -> None:
    with suppress(OSError):
        os.kill(process, number)
        os.kill(process, signal.SIGCONT)


__all__ = ["PARENT_DEATH", "SUBREAPER", "load_prctl", "signal", "suppress"]

SUBREAPER, PARENT_DEATH = 36, 1  # what prctl(2) sets

TYPE_CHECKING = False  # as in typing, which costs more than both
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import suppress

    Prctl = Callable[[int, int], int]
else:
    import _signal as signal  # what signal.py wraps: the same functions, with plain numbers

    class suppress:  # noqa: N801 - contextlib's name
        """contextlib's, in short."""

        def __init__(self, *errors: type[BaseException]) -> None:
            self._errors = errors

        def __enter__(self) -> None: ...

        def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
            return isinstance(error, self._errors)


def load_prctl() -> Prctl:
    """Load Linux's prctl(2); elsewhere, return one that always says no."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import _ctypes  # ctypes itself is more than two milliseconds

            class Function(_ctypes.CFuncPtr):  # it takes and returns what is int in C
                _flags_ = _ctypes.FUNCFLAG_CDECL

            call = Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl"))  # type: ignore[arg-type]
            return lambda what, value: int(call(what, value, 0, 0, 0))
    return lambda _what, _value: -1


# Imported, not run as a file: so it is compiled only once.
_MAIN = """\
import sys
sys.path.append(sys.argv[1])
from cub.processes.keeper import main
control, status, after_int, after_term = sys.argv[2:6]
main(int(control), int(status), (float(after_int), float(after_term)))
"""
_OPTIONS = ("-I", "-S", "-c", _MAIN)
_WORDS = 5  # of a keeper, in front of the mark
_HIGHEST = 1000  # ancestors: nobody has more


def make_keeper_argv(words: Iterable[str], mark: str) -> list[str]:
    """Return the arguments of a keeper behind the name of Python: its five words, and its mark."""
    return [*_OPTIONS, *words, mark]


def iter_keeper_marks() -> Iterator[str]:
    """Yield the marks of the keepers above this process, the nearest one first."""
    lines = (
        _iter_ancestors_from_proc() if sys.platform == "linux" else _iter_ancestors_from_psutil()
    )
    for argv in lines:
        words = argv[1:]
        if tuple(words[: len(_OPTIONS)]) == _OPTIONS and len(words) > len(_OPTIONS) + _WORDS:
            mark = words[len(_OPTIONS) + _WORDS]
            if mark:
                yield mark


def _iter_ancestors_from_proc() -> Iterator[list[str]]:
    """The command line of each ancestor (proc_pid_stat(5), proc_pid_cmdline(5))."""
    process = os.getppid()
    for _ in range(_HIGHEST):
        if process <= 1:
            return
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:  # noqa: PTH123 - pathlib is slow
                yield [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
            with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
                process = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:  # it has gone, or is hidden
            return


def _iter_ancestors_from_psutil() -> Iterator[list[str]]:
    from psutil import Error, Process

    with suppress(Error):
        for parent in Process().parents():
            with suppress(Error):
                yield parent.cmdline()
