"""Disks that tell their steps, and that stop at one of them: by an error, ^C or death."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NoReturn

from cub.files.disk import Disk
from tests.forked import fork

Work = Callable[[Disk], object]
WHOLE = 1 << 20  # more than any file here: each is written in one piece


def steps(work: Work, chunk: int = WHOLE) -> list[tuple[str, Path]]:
    """Every step that `work` takes, in order."""
    taken: list[tuple[str, Path]] = []
    work(Disk(before=lambda name, path: taken.append((name, path)), chunk=chunk))
    return taken


def stopping(stops: dict[int, Callable[[Path], None]], chunk: int = WHOLE) -> Disk:
    """A disk that calls one of `stops` just before the step of that number, counted from 1."""
    numbers = count(1)

    def before(_: str, path: Path) -> None:
        if stop := stops.get(next(numbers)):
            stop(path)

    return Disk(before=before, chunk=chunk)


def die(_: Path) -> NoReturn:
    """Like a power cut: nothing is flushed, nothing is cleaned up."""
    os._exit(9)


def refuse(path: Path) -> NoReturn:
    """A disk that has no room left."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def interrupt(_: Path) -> NoReturn:
    """A person who has pressed ^C."""
    raise KeyboardInterrupt


def in_child(work: Callable[[], object]) -> int:
    """Run `work` in a forked process and return its exit code: 0 if it came to its end."""
    child = fork()
    if child == 0:
        code = 70
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
