"""The one door to writing in a project: its lock, behind which no change is left half done."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cub.debug_log import log_debug
from cub.edit.plan import PlanWarning
from cub.errors import CubError, InternalError
from cub.files.disk import Disk
from cub.files.journal import pending
from cub.files.listener import listener
from cub.files.lock_wait import LockWait, Waiting
from cub.files.reading import trouble
from cub.files.recovery import recover

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK = ".cub/lock"


@dataclass(frozen=True, slots=True)
class Held:
    """The lock of the project at `root`, held, with no interrupted change left in it.

    Only `exclusive` makes one, and whoever applies or appends has to show it. So nobody can write
    without the lock, or over what another command left half done. `recovered` says what was ended
    first; the person has been told.
    """

    root: Path
    recovered: tuple[PlanWarning, ...]
    lock: BaseFileLock

    def require(self) -> None:
        """InternalError where the lock has been given back."""
        if not self.lock.is_locked:
            raise InternalError("a write without the project's lock")


@contextmanager
def exclusive(root: Path, disk: Disk | None = None, wait: LockWait | None = None) -> Iterator[Held]:
    """Hold the lock of the project at `root`, and end first what another command left half done.

    Waits for who has it. The kernel frees the lock of a process that dies. A `.cub/` that holds
    nothing but the lock is removed again.
    """
    disk, path = disk or Disk(), root / LOCK
    _require_own(root, path)
    lock = _acquire(path, wait or LockWait(), disk)
    log_debug("the project is locked")
    try:
        with suppress(OSError):
            disk.write_unsynced(path, os.fsencode(_signature()))
        recovered = tuple(recover(root, disk))
        listener().warn(recovered)
        yield Held(root, recovered, lock)
    except KeyboardInterrupt:
        listener().warn(pending(root))
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
            where=LOCK,
            hint=f"delete the link: rm {LOCK}",
        )


def _acquire(path: Path, wait: LockWait, disk: Disk) -> BaseFileLock:
    from filelock import FileLock, Timeout

    waiting = Waiting(path, wait)
    while True:
        _make_folder(path.parent, disk)
        try:
            return FileLock(path).acquire(blocking=False).lock
        except Timeout:
            waiting.pause(LOCK)
        except FileNotFoundError as error:
            # The holder before us removed an empty .cub/ between our two calls: once more.
            waiting.pause(LOCK, error)
        except OSError as error:
            where = LOCK if os.path.lexists(path) else ".cub"
            raise trouble(error, where, "cannot be written") from error


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
        raise trouble(error, ".cub", "cannot be created") from error


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
