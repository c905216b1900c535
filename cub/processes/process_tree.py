"""Find and end what a command left behind: orphans, other sessions, whatever ignores TERM.

Most of it runs in the keeper's process (keeper.py), so it imports little. On Linux orphans become
the keeper's children, so none gets away. Elsewhere the command's group and session identify them.
"""

from __future__ import annotations

import os
import select
import sys
import time

# Every command waits for its keeper: contextlib, collections.abc, typing and the enums of `signal`
# take longer to start than all of Python that a keeper needs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable, Iterator

    Prctl = Callable[[int, int], int]
else:
    import _signal as signal

GIVE_UP_SECONDS = 5.0  # after KILL: what lives then belongs to another user
SUBREAPER, PARENT_DEATH = 36, 1  # what prctl(2) sets

# Imported, not run as a file: so it is compiled only once.
_MAIN = """\
import sys
sys.path.append(sys.argv[1])
from cub.processes.keeper import main
control, status, after_int, after_term = sys.argv[2:6]
main(int(control), int(status), (float(after_int), float(after_term)))
"""
_OPTIONS = ("-I", "-S", "-c", _MAIN)
_KEEPER_WORDS = 5  # arguments of a keeper before the mark
_MAX_ANCESTORS = 1000


def end_descendants(command_pid: int, wake: int, adopts: bool, grace: float) -> None:
    """End all that is left of `command_pid`: TERM, `grace` seconds, then KILL until none is left.

    `wake` can be read when a child has ended; `adopts` says that orphans become our children.
    """
    start = time.monotonic()
    asked = set[int]()
    while time.monotonic() < start + grace + GIVE_UP_SECONDS:
        if _reap_children() and adopts:
            return
        if time.monotonic() >= start + grace:
            # What a killed child leaves is our child next: no chain of forks is faster.
            left = (_list_children() if adopts else []) or find_descendant_pids(command_pid, adopts)
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
    """Return the processes below this one that are not of its session, but for `excluded_pids` and
    what is below those. Where orphans are not adopted, add `command_pid`'s group and session.
    """
    own = os.getpid()
    parents = dict(_list_from_proc() if sys.platform == "linux" else _list_from_ps())
    pids = {own}
    if not adopts:
        pids |= {pid for pid in parents if command_pid in (_get_session(pid), _get_group(pid))}
    while more := {pid for pid, parent in parents.items() if parent in pids} - pids - excluded_pids:
        pids |= more
    return sorted(pid for pid in pids if _get_session(pid) not in (-1, _get_session(own)))


def kill_process_group(process: int) -> None:
    """Kill a process with its whole group: it is of a session below us, so nobody else's."""
    if _get_group(process) not in (-1, 0, 1, _get_group(0)):
        signal_group(_get_group(process), signal.SIGKILL)
    _send(process, signal.SIGKILL)


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group, and wake it if it was stopped."""
    try:
        os.killpg(group, number)
        os.killpg(group, signal.SIGCONT)
    except OSError:
        pass


def drain_pipe(wake: int) -> None:
    """Read and drop what was written to `wake`."""
    try:  # noqa: SIM105 - contextlib starts slowly
        os.read(wake, 4096)
    except BlockingIOError:
        pass


def load_prctl() -> Prctl:
    """Load Linux's prctl(2); elsewhere, return a function that always fails."""
    if sys.platform == "linux":
        from _ctypes import call_function, dlopen, dlsym  # ctypes itself starts slowly

        try:
            # typeshed does not know that None is the program with its libraries.
            address = dlsym(dlopen(None, 0), "prctl")  # type: ignore[arg-type]
            return lambda option, value: int(call_function(address, (option, value, 0, 0, 0)))
        except OSError:
            pass
    return lambda _option, _value: -1


def make_keeper_argv(words: Iterable[str], mark: str) -> list[str]:
    """Return the arguments of a keeper after the name of Python: its five words, and its mark."""
    return [*_OPTIONS, *words, mark]


def iter_keeper_marks() -> Iterator[str]:
    """Yield the marks of the keepers above this process, the nearest one first.

    Whatever the environment says, the keeper of a command is above it.
    """
    for _, argv in _iter_ancestors():
        words = argv[1:]
        if tuple(words[: len(_OPTIONS)]) == _OPTIONS and len(words) > len(_OPTIONS) + _KEEPER_WORDS:
            mark = words[len(_OPTIONS) + _KEEPER_WORDS]
            if mark:
                yield mark


def iter_ancestor_pids() -> Iterator[int]:
    """Yield the processes above this one, the nearest one first."""
    return (pid for pid, _ in _iter_ancestors())


def _reap_children() -> bool:
    """Reap the children that have ended; return True if there are no others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _list_children() -> list[int]:
    """Return this process's children, where Linux lists them (proc_pid_task(5))."""
    own = os.getpid()
    try:
        with open(f"/proc/{own}/task/{own}/children", "rb") as file:  # noqa: PTH123
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _list_from_proc() -> Iterator[tuple[int, int]]:
    """Yield each living process and its parent."""
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - pathlib starts slowly
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except OSError:  # it has gone
            continue
        if state not in b"ZX":
            yield int(name), int(parent)


def _list_from_ps() -> Iterator[tuple[int, int]]:
    """Yield the same, read from the ps of every POSIX system."""
    with os.popen("ps -A -o pid= -o ppid= -o stat=") as lines:  # noqa: S605, S607 - of the system
        for process, parent, state in (line.split()[:3] for line in lines):
            if not state.startswith("Z"):
                yield int(process), int(parent)


def _get_session(process: int) -> int:
    try:
        return os.getsid(process)
    except OSError:
        return -1


def _get_group(process: int) -> int:
    try:
        return os.getpgid(process)
    except OSError:
        return -1


def _send(process: int, number: int) -> None:
    try:
        os.kill(process, number)
        os.kill(process, signal.SIGCONT)
    except OSError:
        pass


def _iter_ancestors() -> Iterator[tuple[int, list[str]]]:
    """Yield each ancestor and its command line, the nearest one first."""
    is_linux = sys.platform == "linux"
    return _iter_ancestors_from_proc() if is_linux else _iter_ancestors_from_psutil()


def _iter_ancestors_from_proc() -> Iterator[tuple[int, list[str]]]:
    """Read them as proc_pid_stat(5) and proc_pid_cmdline(5) describe."""
    process = os.getppid()
    for _ in range(_MAX_ANCESTORS):
        if process <= 1:
            return
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:  # noqa: PTH123 - pathlib is slow
                yield process, [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
            with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
                process = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:  # it has gone, or is hidden
            return


def _iter_ancestors_from_psutil() -> Iterator[tuple[int, list[str]]]:
    from contextlib import suppress

    from psutil import Error, Process

    with suppress(Error):
        for parent in Process().parents():
            with suppress(Error):
                yield parent.pid, parent.cmdline()
