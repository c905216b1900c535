"""The words of this room: a command, its limits, what it says and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

Cause = Literal["", "wall", "idle", "stopped", "ended"]


class Command(NamedTuple):
    """A program with its arguments, run in `folder` with exactly this environment.

    `mark` tells whoever runs below it what it is a part of: see `ancestors.find_mark`.
    """

    argv: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str]
    stdin: bytes = b""
    mark: str = ""


class Limits(NamedTuple):
    """Seconds that a command may take, and may be silent; None for no limit.

    `grace` is what it has to end by itself: after INT, and then after TERM.
    """

    wall: float | None = None
    idle: float | None = None
    grace: tuple[float, float] = (2.0, 3.0)


class Piece(NamedTuple):
    """Up to 64 KiB that a command said, or a tick: no stream and no data."""

    stream: Literal["out", "err", ""]
    data: bytes


class Ended(NamedTuple):
    """How a command ended: by an exit code, or by a signal.

    Neither is set if it could not be started, for the reason in `missing`, or if it could not be
    ended since it belongs to another user. `cause` says why cub ended it, "" if it did so by
    itself ("ended" is the caller's own wish); `seconds` is the time it took.
    """

    exit: int | None
    signal: int | None
    cause: Cause
    missing: str
    seconds: float


def shell(
    text: str, folder: Path, environ: Mapping[str, str], stdin: bytes = b"", mark: str = ""
) -> Command:
    """The command that has the shell run a line of text."""
    return Command(("/bin/sh", "-c", text), folder, environ, stdin, mark)
