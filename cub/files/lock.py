"""The project's lock: one writing command at a time, and a dead one never blocks."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cub.errors import CubError
from cub.files.reading import trouble

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK = ".cub/lock"


@contextmanager
def exclusive(root: Path, timeout: float = 5.0) -> Iterator[None]:
    """Hold the lock of the project at `root`; wait up to `timeout` seconds for it.

    The kernel frees the lock of a process that dies. A `.cub/` that holds nothing but the lock
    is removed again.
    """
    path = root / LOCK
    if not path.parent.resolve().is_relative_to(root):
        raise CubError("this leads out of the project", where=".cub", hint="replace the link")
    held = _acquire(path, timeout)
    try:
        with suppress(OSError):
            path.write_bytes(os.fsencode(_signature()))
        yield
    finally:
        _tidy(path)
        held.release()


def _acquire(path: Path, timeout: float) -> BaseFileLock:
    from filelock import FileLock, Timeout

    deadline = time.monotonic() + timeout
    while True:
        try:
            path.parent.mkdir(exist_ok=True)
            lock = FileLock(path, timeout=max(0.0, deadline - time.monotonic()))
            return lock.acquire().lock
        except Timeout:
            raise CubError(
                "another cub is at work here",
                where=LOCK,
                hint="wait for it to end, then run the command again",
                details=[f"held by {holder}"] if (holder := _holder(path)) else [],
            ) from None
        except FileNotFoundError as error:
            # The holder before us removed an empty .cub/ between our two calls: once more.
            if time.monotonic() > deadline:
                raise trouble(error, ".cub", "cannot be created") from error
        except FileExistsError:
            raise CubError(
                "this is a file, where cub needs a folder", where=".cub", hint="move it away"
            ) from None
        except OSError as error:
            raise trouble(error, ".cub", "cannot be written") from error


def _signature() -> str:
    command = " ".join(["cub", *sys.argv[1:]])
    return f"process {os.getpid()} on {socket.gethostname()}: {command}\n"


def _holder(path: Path) -> str:
    with suppress(OSError):
        return os.fsdecode(path.read_bytes()).strip()
    return ""


def _tidy(path: Path) -> None:
    """Leave no trace of the lock, and no folder that held nothing else.

    A waiter that has the removed file open notices that it has no name any more, and starts
    over (filelock checks the link count); Windows keeps the file, which is ignored by git.
    """
    with suppress(OSError):
        path.unlink()
    with suppress(OSError):
        path.parent.rmdir()
