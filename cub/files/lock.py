"""The one door to writing in a project: its lock, behind which no change is left half done.

How long a writer waits for the lock that another one holds: one rule for all of them.

Who hears what comes up while a lock is taken: the command line, which shows it.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.debug_log import log_debug
from cub.edit.plan import PlanWarning
from cub.errors import CubError, InternalError
from cub.files.disk import Disk
from cub.files.journal import warn_pending_change
from cub.files.read_files import make_os_error
from cub.files.recovery import recover_change
from cub.files.stat_signature import StatSignature

if TYPE_CHECKING:
    from filelock import BaseFileLock


LOCK_FILE = ".cub/lock"


@dataclass(frozen=True, slots=True)
class ProjectLock:
    """The lock of the project at `root`, held, with no interrupted change left in it.

    Only `lock_project` makes one, and whoever applies or appends has to show it. So nobody can
    write without the lock, or over what another command left half done. `recovery_warnings` says
    what was ended first; the person has been told.
    """

    root: Path
    recovery_warnings: tuple[PlanWarning, ...]
    lock: BaseFileLock

    def require_held(self) -> None:
        """InternalError where the lock has been given back."""
        if not self.lock.is_locked:
            raise InternalError("a write without the project's lock")


@contextmanager
def lock_project(
    root: Path, disk: Disk | None = None, wait: LockWaitPolicy | None = None
) -> Iterator[ProjectLock]:
    """Hold the lock of the project at `root`, and end first what another command left half done.

    Waits for who has it. The kernel frees the lock of a process that dies. A `.cub/` that holds
    nothing but the lock is removed again.
    """
    disk, path = disk or Disk(), root / LOCK_FILE
    _require_own(root, path)
    lock = _acquire(path, wait or LockWaitPolicy(), disk)
    log_debug("the project is locked")
    try:
        with suppress(OSError):
            disk.write_unsynced(path, os.fsencode(_signature()))
        recovered = tuple(recover_change(root, disk))
        get_message_sink().warn(recovered)
        yield ProjectLock(root, recovered, lock)
    except KeyboardInterrupt:
        get_message_sink().warn(warn_pending_change(root))
        raise
    finally:
        _tidy(path, disk)
        lock.release()


def _require_own(root: Path, path: Path) -> None:
    """Refuse what leads elsewhere, under the name that leads there."""
    if not path.parent.resolve().is_relative_to(root):
        raise CubError("this leads out of the project", where=".cub", hint="replace the link")
    if path.is_symlink():
        raise CubError(
            "this is a symbolic link, where cub needs a file of its own",
            where=LOCK_FILE,
            hint=f"delete the link: rm {LOCK_FILE}",
        )


def _acquire(path: Path, wait: LockWaitPolicy, disk: Disk) -> BaseFileLock:
    from filelock import FileLock, Timeout

    waiting = LockWaiter(path, wait)
    while True:
        _make_folder(path.parent, disk)
        try:
            return FileLock(path).acquire(blocking=False).lock
        except Timeout:
            waiting.pause(LOCK_FILE)
        except FileNotFoundError as error:
            # The holder before us removed an empty .cub/ between our two calls: once more.
            waiting.pause(LOCK_FILE, error)
        except OSError as error:
            where = LOCK_FILE if os.path.lexists(path) else ".cub"
            raise make_os_error(error, where, "cannot be written") from error


def _make_folder(folder: Path, disk: Disk) -> None:
    """Make .cub/, and have its name on disk before anything in it counts."""
    if folder.is_dir():
        return
    try:
        disk.make_folder(folder)
        disk.sync_folder(folder.parent)
    except FileExistsError:
        raise CubError(
            "this is a file, where cub needs a folder", where=".cub", hint="move it away"
        ) from None
    except OSError as error:
        raise make_os_error(error, ".cub", "cannot be created") from error


def _signature() -> str:
    command = " ".join(["cub", *sys.argv[1:]])
    return f"process {os.getpid()} on {socket.gethostname()}: {command}\n"


def _tidy(path: Path, disk: Disk) -> None:
    """Leave no trace of the lock, and no folder that held nothing else.

    A waiter that has the removed file open notices that it has no name any more, and starts
    over (filelock checks the link count); Windows keeps the file, which is ignored by git.
    """
    with suppress(OSError):
        disk.unlink(path)
    with suppress(OSError):
        disk.remove_folder(path.parent)


# Seconds. A holder that dies frees the lock, and most work for a moment only. One that has it for
# so long is stopped, or waits for a person.
WAIT_LIMIT = 120.0
_NOTICE = 1.0  # until the person is told
_STEP = 0.05  # between two tries
_VANISHED = 5.0  # for a folder that is gone again each time


@dataclass(frozen=True, slots=True)
class LockWaitPolicy:
    """How long one and the same holder is waited for; the clock is a test's."""

    limit: float = WAIT_LIMIT
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class LockWaiter:
    """One wait for the lock at `path`. Each new holder is progress: the time begins anew."""

    path: Path
    policy: LockWaitPolicy
    started_at: float = field(init=False)
    holder_since: float = field(init=False)
    holder_mark: StatSignature | None = None
    has_informed: bool = False

    def __post_init__(self) -> None:
        self.started_at = self.holder_since = self.policy.clock()

    def pause(self, where: str, missing: OSError | None = None) -> None:
        """Wait a moment; CubError where that has been done for long enough."""
        now, mark = self.policy.clock(), _mark(self.path)
        if mark not in (None, self.holder_mark):
            self.holder_mark, self.holder_since = mark, now
        if missing and now - self.holder_since >= min(_VANISHED, self.policy.limit):
            raise make_os_error(missing, where, "cannot be created") from missing
        if now - self.holder_since >= self.policy.limit:
            raise _at_work(where, _holder(self.path))
        if not self.has_informed and now - self.started_at >= _NOTICE:
            self.has_informed = True
            get_message_sink().inform(f"Waiting for {_holder(self.path) or 'another cub'}")
        self.policy.sleep(_STEP)


def _at_work(where: str, holder: str) -> CubError:
    return CubError(
        "another cub is at work here",
        where=where,
        hint="wait for it to end, then run the command again",
        details=[f"held by {holder}"] if holder else [],
    )


def _mark(path: Path) -> StatSignature | None:
    """What tells one holder from the next: each makes the file anew and signs it."""
    try:
        status = path.stat()
    except OSError:
        return None
    return StatSignature.from_stat(status)


def _holder(path: Path) -> str:
    with suppress(OSError):
        return os.fsdecode(path.read_bytes()).strip()
    return ""


class MessageSink(NamedTuple):
    """Shows a person warnings, and lines of talk. Without one, nothing is shown."""

    warn: Callable[[Sequence[PlanWarning]], object]
    inform: Callable[[str], object]


_SILENT = MessageSink(lambda _: None, lambda _: None)
_CURRENT: ContextVar[MessageSink] = ContextVar("listener", default=_SILENT)


def get_message_sink() -> MessageSink:
    """The listener of this command."""
    return _CURRENT.get()


@contextmanager
def use_message_sink(sink: MessageSink) -> Iterator[None]:
    """Have a listener hear what comes up meanwhile.

    A lock is taken in many places far below the command line; so none of them can forget to pass
    it on.
    """
    token = _CURRENT.set(sink)
    try:
        yield
    finally:
        _CURRENT.reset(token)
