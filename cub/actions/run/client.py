"""A client at work on one attempt: started, listened to, and ended when its time is over."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple, Self

from cub.actions.run.budget import Budget
from cub.actions.run.folders import ENDED, ERRORS, EVENTS, AttemptFolder, RunFolder
from cub.actions.tasks.inside import ATTEMPT, RUN, TASK
from cub.actions.tasks.marks import Mark, to_mark
from cub.checks.plain import plain
from cub.harness.base import Harness, Launch
from cub.harness.events import ClientEvent
from cub.harness.lines import Lines
from cub.harness.transcript import Transcript
from cub.masking import PiecesMask, masked
from cub.processes.command import Command, Ended, Limits
from cub.processes.running import Running
from cub.processes.stop import Stop

_KEPT = 20 << 20  # bytes of a client's output that are kept
_ERRORS = 64 << 10  # bytes of stderr that are looked at
_SHOWN = 5_000  # texts of one attempt, then one a tick, are passed on; all are in the file
_GOING_ON = ("text", "tool")
TICK = 1.0  # seconds
RUN_MARK = RUN
_OWN = (RUN, TASK, ATTEMPT, "CUB_AGENT")


class Worked(NamedTuple):
    """How a client ended, what it told, the end of its stderr without secrets."""

    ended: Ended
    told: Transcript
    errors: str


class Session(NamedTuple):
    """All that a client is started with."""

    harness: Harness
    launch: Launch
    folder: Path
    environ: Mapping[str, str]
    mark: str
    wrap: Sequence[str]
    limits: Limits
    stop: Stop
    budget: Budget


def work(session: Session, files: AttemptFolder) -> Generator[ClientEvent | None, None, Worked]:
    """Run the client to its end; yields what it tells, and None now and then.

    What is yielded, and the end of stderr, is without secrets; the files have all of it.
    """
    start = session.harness.start(session.launch)
    argv = (*session.wrap, *start.argv)
    environ = {**session.environ, **start.environ}
    command = Command(argv, session.folder, environ, start.stdin, session.mark)
    told, lines, stream = Transcript(), Lines(), session.harness.stream()
    errors, passing = bytearray(), _Passing()
    with ExitStack() as stack:
        # Before the client can have their names lead elsewhere.
        out, err = (stack.enter_context(_Log(files, name)) for name in (EVENTS, ERRORS))
        running = stack.enter_context(
            Running(command, session.limits, session.stop, files.state / ENDED, TICK)
        )
        for piece in running.pieces():
            if piece.stream == "err":
                err.write(piece.data)
                errors = (errors + piece.data)[-_ERRORS:]
                continue
            if not piece.stream:
                yield from passing.waiting()
                yield None
                continue
            out.write(piece.data)
            for line in lines.feed(piece.data):
                for event in stream.read(line):
                    told.add(event)
                    yield from passing.next(event)
                    # Who has come to an end may say so: what is paid for is not thrown away.
                    if event.kind in _GOING_ON and session.budget.with_attempt(told).is_over:
                        running.end()
        for line in lines.rest():
            for event in stream.read(line):
                told.add(event)
                yield from passing.last(event)
    return Worked(running.ended, told, masked(plain(errors.decode("utf-8", "replace"))))


def environment(hidden: Sequence[str], environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What clients and checks get of this environment: all but what is hidden, and but what
    tells of an attempt that this very process is a part of.
    """
    return {
        name: value
        for name, value in environ.items()
        if name not in _OWN and not any(fnmatchcase(name, pattern) for pattern in hidden)
    }


def of_attempt(
    folder: RunFolder, files: AttemptFolder, task: str, agent: str, environ: Mapping[str, str]
) -> dict[str, str]:
    """What a client gets beyond that: which attempt it is a part of, and a `cub` to call."""
    own = (folder.id, task, str(files.path), agent)
    found = {**environ, **dict(zip(_OWN, own, strict=True)), "CUB_ROOT": str(folder.root)}
    if shutil.which("cub", path=environ.get("PATH")) is None:
        found["PATH"] = os.pathsep.join(filter(None, [environ.get("PATH"), _shim(folder)]))
    return found


def mark_of(folder: RunFolder, files: AttemptFolder, task: str) -> str:
    """Return what all processes of an attempt are told by, whatever their environment says."""
    return to_mark(Mark(str(folder.root), task, str(files.state)))


def _shim(folder: RunFolder) -> str:
    """A folder with this cub in it, for agents on a machine where it is not in PATH."""
    shim = folder.path / "bin" / "cub"
    if not shim.exists():
        shim.parent.mkdir(parents=True, exist_ok=True)
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cub "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
    return str(shim.parent)


@dataclass(slots=True)
class _Passing:
    """Which events are passed on, without secrets: all but for texts beyond the first `_SHOWN`, of
    which the newest one waits for the next tick.
    """

    _texts: int = 0
    _newest: ClientEvent | None = None
    _mask: PiecesMask = field(default_factory=PiecesMask)

    def next(self, event: ClientEvent) -> Iterator[ClientEvent]:
        """The event, if it is passed on now."""
        self._texts += event.kind == "text"
        if event.kind != "text" or self._texts <= _SHOWN:
            yield from self.last(event)
            return
        if self._newest:  # nobody sees it, but a key may begin or end in it
            self._mask.follow(self._newest.text)
        self._newest = event

    def waiting(self) -> Iterator[ClientEvent]:
        """The text that waits, if there is one."""
        if self._newest:
            yield self._masked(self._newest)
        self._newest = None

    def last(self, event: ClientEvent) -> Iterator[ClientEvent]:
        """An event that is passed on in any case."""
        if event.kind == "text" and self._newest:
            self._mask.follow(self._newest.text)
            self._newest = None
        yield self._masked(event)

    def _masked(self, event: ClientEvent) -> ClientEvent:
        if not event.text:
            return event
        mask = self._mask.masked if event.kind == "text" else masked
        return replace(event, text=mask(event.text))


class _Log:
    """A file that takes what it is given up to a size, and says that there was more."""

    def __init__(self, files: AttemptFolder, name: str) -> None:
        self._left = _KEPT
        self._file = files.opened(name)

    def __enter__(self) -> Self:
        return self

    def write(self, data: bytes) -> None:
        """Add to it."""
        with suppress(OSError):  # a full disk costs the rest of a log, and not the attempt
            if self._left > 0:
                self._file.write(data[: self._left])
                if len(data) > self._left:
                    self._file.write(b"\n[cub keeps no more of this]\n")
                self._left -= len(data)

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._file.close()
