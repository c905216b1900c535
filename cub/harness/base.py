"""What every client has: a way to start it, a reader of what it prints, a rule of success."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from cub.harness.events import ClientEvent
from cub.harness.transcript import Transcript


class Launch(NamedTuple):
    """An attempt that a client is to be started for.

    `folder` is the attempt's own; prompt.md and system.md in it have the two texts. Attempts
    of a task count from 1. `permissions` are `auto` or `bypass`.
    """

    prompt: str
    system: str
    folder: Path
    task: str
    attempt: int
    model: str | None
    permissions: str


class Start(NamedTuple):
    """The process to start: its arguments, what it reads, and what its environment has more."""

    argv: tuple[str, ...]
    stdin: bytes
    environ: Mapping[str, str]


class Stream(Protocol):
    """A reader of one attempt's stdout."""

    def read(self, line: bytes) -> Iterable[ClientEvent]:
        """What a line tells: without its end, perhaps cut, of any bytes. Never raises."""


class Harness(Protocol):
    """A client."""

    @property
    def name(self) -> str:
        """What a person calls it."""

    @property
    def program(self) -> str:
        """The first word of its command; "" where only an attempt tells it."""

    @property
    def environ(self) -> Mapping[str, str]:
        """What its environment has more."""

    def start(self, launch: Launch) -> Start:
        """How to start it; it may write files of its own into the attempt's folder.

        CubError if this client can't be given such a prompt.
        """

    def stream(self) -> Stream:
        """A new reader, for one attempt."""

    def succeeded(self, told: Transcript, exit: int | None) -> bool:  # noqa: A002 - a run's word
        """Whether an attempt ended well; `exit` is None or below 0 where a signal ended it."""
