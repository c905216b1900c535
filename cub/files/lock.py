"""Take the project's lock, the only way to write, and recover an interrupted change first.

All writers wait for the lock by one rule. Warnings of recovery, and of waiting, go to the sink that
the command line registers.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.debug_log import log_debug
from cub.edit.plan import PlanWarning
from cub.errors import CubError, InternalError
from cub.files.disk import Disk
from cub.files.journal import warn_pending_change
from cub.files.read_files import describe_file_type, make_os_error, make_stat_signature
from cub.files.recovery import recover_change
from cub.files.temporary_files import remove_stale_temps

if TYPE_CHECKING:
    from filelock import BaseFileLock


LOCK_FILE = ".cub/lock"


@dataclass(frozen=True, slots=True)
class ProjectLock:
    """Prove that the project at `root` is locked, and that no interrupted change is left in it.

    Only `lock_project` makes one, and applying or appending requires it, so nothing writes without
    the lock or over an unfinished change. `recovery_warnings` says what was finished first; the
    user has seen it.
    """

    root: Path
    recovery_warnings: tuple[PlanWarning, ...]
    lock: BaseFileLock

    def require_held(self) -> None:
        """Raise InternalError if the lock has been released."""
        if not self.lock.is_locked:
            raise InternalError("a write without the project's lock")


@contextmanager
def lock_project(
    root: Path, disk: Disk | None = None, wait: LockWaitPolicy | None = None
) -> Iterator[ProjectLock]:
    """Hold the lock of the project at `root`, after ending a change that was interrupted.

    Waits for the holder. The kernel frees the lock of a process that dies. A `.cub/` that contains
    only the lock is removed again.
    """
    disk, path = disk or Disk(), root / LOCK_FILE
    if not path.parent.resolve().is_relative_to(root):
        raise CubError("this leads out of the project", where=".cub", hint="replace the link")
    require_lock_file(path, LOCK_FILE)
    lock = _acquire_lock(path, wait or LockWaitPolicy(), disk)
    log_debug("the project is locked")
    try:
        with suppress(OSError):
            disk.write_unsynced(path, os.fsencode(_describe_holder()))
        warnings = tuple(recover_change(root, disk))
        get_message_sink().warn(warnings)
        for folder in (path.parent, path.parent / "cache"):
            remove_stale_temps(folder)
        yield ProjectLock(root, warnings, lock)
    except KeyboardInterrupt:
        get_message_sink().warn(warn_pending_change(root))
        raise
    finally:
        _remove_traces(path, disk)
        lock.release()


def require_lock_file(path: Path, where: str) -> None:
    """Raise CubError if there is something else than a file; `where` is its name in messages."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:  # it is missing, or taking the lock will fail in the same way
        return
    if not stat.S_ISREG(mode):
        raise CubError(
            f"this is {describe_file_type(mode)}, not a file",
            where=where,
            hint=f"delete it: rm {'-r ' if stat.S_ISDIR(mode) else ''}{where}",
        )


def _acquire_lock(path: Path, wait: LockWaitPolicy, disk: Disk) -> BaseFileLock:
    from filelock import FileLock, Timeout

    pauses = _pause_between_tries(path, wait)
    while True:
        _make_folder(path.parent, disk)
        try:
            return FileLock(path).acquire(blocking=False).lock
        except (Timeout, FileNotFoundError):
            # A holder has it, or has removed an empty .cub/ between our two calls: try again.
            next(pauses)
        except OSError as error:
            where = LOCK_FILE if os.path.lexists(path) else ".cub"
            raise make_os_error(error, where, "cannot be written") from error


def _make_folder(folder: Path, disk: Disk) -> None:
    """Make .cub/ and sync its name before anything in it counts."""
    if folder.is_dir():
        return
    try:
        disk.make_folder(folder)
        disk.sync_folder(folder.parent)
    except FileExistsError:
        raise CubError(
            "this is a file, but cub needs a directory", where=".cub", hint="move it away"
        ) from None
    except OSError as error:
        raise make_os_error(error, ".cub", "cannot be created") from error


def _describe_holder() -> str:
    command = " ".join(["cub", *sys.argv[1:]])
    return f"process {os.getpid()} on {socket.gethostname()}: {command}\n"


def _remove_traces(path: Path, disk: Disk) -> None:
    """Remove the lock, and its folder if that is empty.

    A waiter that has the removed file open notices that it has no name left, and starts over
    (filelock checks the link count). Windows keeps the file, which git ignores.
    """
    with suppress(OSError):
        disk.unlink(path)
    with suppress(OSError):
        disk.remove_folder(path.parent)


# Seconds. A holder that dies frees the lock, and most hold it for a moment only. One that holds it
# for this long is stopped, or waits for a user.
WAIT_LIMIT = 120.0
_NOTICE_SECONDS = 1.0  # until the user is informed
_POLL_SECONDS = 0.05  # between two tries


@dataclass(frozen=True, slots=True)
class LockWaitPolicy:
    """Say how long to wait for one holder; tests pass their own clock."""

    limit: float = WAIT_LIMIT
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def _pause_between_tries(path: Path, wait: LockWaitPolicy) -> Iterator[None]:
    """Wait a moment at each step; CubError if the time is over.

    Each new holder of the lock at `path` is progress and restarts the time.
    """
    started_at = holder_since = wait.clock()
    holder, has_informed = None, False
    while True:
        now, mark = wait.clock(), _read_mark(path)
        if mark not in (None, holder):
            holder, holder_since = mark, now
        if now - holder_since >= wait.limit:
            raise _make_busy_error(_read_holder(path))
        if not has_informed and now - started_at >= _NOTICE_SECONDS:
            has_informed = True
            get_message_sink().inform(f"Waiting for {_read_holder(path) or 'another cub'}")
        wait.sleep(_POLL_SECONDS)
        yield


def _make_busy_error(holder: str) -> CubError:
    return CubError(
        "another cub is running here",
        where=LOCK_FILE,
        hint="wait for it to end, then run the command again",
        details=[f"held by {holder}"] if holder else [],
    )


def _read_mark(path: Path) -> tuple[int, ...] | None:
    """Return a value that each holder changes, as it creates and signs the file; None if gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return make_stat_signature(status)


def _read_holder(path: Path) -> str:
    with suppress(OSError):
        return os.fsdecode(path.read_bytes()).strip()
    return ""


class MessageSink(NamedTuple):
    """Hold the functions that show warnings and status lines; without a sink, nothing is shown."""

    warn: Callable[[Sequence[PlanWarning]], object]
    inform: Callable[[str], object]


_SILENT = MessageSink(lambda _: None, lambda _: None)
_SINK: ContextVar[MessageSink] = ContextVar("listener", default=_SILENT)


def get_message_sink() -> MessageSink:
    """Return the message sink of this command."""
    return _SINK.get()


@contextmanager
def use_message_sink(sink: MessageSink) -> Iterator[None]:
    """Send messages to `sink` inside the block.

    A lock is taken in many places far below the command line: with a context variable, none of them
    can forget to pass the sink on.
    """
    token = _SINK.set(sink)
    try:
        yield
    finally:
        _SINK.reset(token)
