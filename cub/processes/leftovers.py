"""What a command left behind, found and ended: orphans, other sessions, whatever ignores TERM.

Runs in the keeper's process (see keeper.py): few imports, and none of cub's own.
"""

from __future__ import annotations

import os
import select
import sys
import time

from cub.processes.light import signal, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

GIVE_UP = 5.0  # seconds after KILL: what lives then belongs to another user


def sweep(client: int, wake: int, adopts: bool, grace: float) -> None:
    """End all that is left of `client`: TERM, `grace` seconds, then KILL until there is nothing.

    `wake` can be read when a child has ended; `adopts` says that orphans become our children.
    """
    start = time.monotonic()
    asked = set[int]()
    while time.monotonic() < start + grace + GIVE_UP:
        if _reap() and adopts:
            return
        if time.monotonic() >= start + grace:
            # What a killed child leaves is our child next: no chain of forks is faster.
            left = (_children() if adopts else []) or left_by(client, adopts)
            for process in left:
                kill(process)
        else:
            left = left_by(client, adopts)
            for process in set(left) - asked:
                _send(process, signal.SIGTERM)
            asked.update(left)
        if not left and not adopts:
            return
        select.select([wake], [], [], 0.05)
        quieten(wake)


def left_by(client: int, adopts: bool, spared: frozenset[int] = frozenset()) -> list[int]:
    """The processes below this one, and where orphans go elsewhere `client`'s group and session.

    Without those of this one's own session, those `spared`, and what is below these.
    """
    own = os.getpid()
    parents = dict(_from_proc() if sys.platform == "linux" else _from_ps())
    found = {own}
    if not adopts:
        found |= {one for one in parents if client in (_session(one), _group(one))}
    while more := {one for one, parent in parents.items() if parent in found} - found - spared:
        found |= more
    return sorted(one for one in found if _session(one) not in (-1, _session(own)))


def send_group(group: int, number: int) -> None:
    """Send a signal to a process group, and wake it if it was stopped."""
    with suppress(OSError):
        os.killpg(group, number)
        os.killpg(group, signal.SIGCONT)


def quieten(wake: int) -> None:
    """Take what was written to `wake`."""
    with suppress(BlockingIOError):
        os.read(wake, 4096)


def _reap() -> bool:
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


def _from_proc() -> Iterator[tuple[int, int]]:
    """Each living process and its parent."""
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - pathlib starts slowly
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            state, parent = file.read().rpartition(b")")[2].split()[:2]
            if state not in b"ZX":
                yield int(name), int(parent)


def _from_ps() -> Iterator[tuple[int, int]]:
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


def kill(process: int) -> None:
    """Kill a process with its whole group: it is of a session below us, so nobody else's."""
    if _group(process) not in (-1, 0, 1, _group(0)):
        send_group(_group(process), signal.SIGKILL)
    _send(process, signal.SIGKILL)


def _send(process: int, number: int) -> None:
    with suppress(OSError):
        os.kill(process, number)
        os.kill(process, signal.SIGCONT)
