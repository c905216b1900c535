"""The ledger, `.cub/ledger.jsonl`: what happened, one event a line, only ever added to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from cub.files import exclusive
from cub.files.disk import Disk
from cub.files.reading import locate, trouble
from cub.masking import masked
from cub.store.appending import append, require_appendable
from cub.store.events import ATTEMPT_END, Event, Mask, line_of
from cub.store.jsonl import encode
from cub.store.place import LEDGER
from cub.store.scanning import ANY, Follower, events_back, events_in


@dataclass(frozen=True, slots=True)
class Ledger:
    """The events below `root`; `path` says where, `mask` hides what is secret in them."""

    root: Path
    path: str = LEDGER
    disk: Disk = field(default_factory=Disk)
    mask: Mask = masked

    def append(self, *events: Event) -> None:
        """Add events; they are on disk when this returns. Takes the project's lock."""
        lines = [line_of({"v": 1, **event}, self.mask) for event in events]
        with exclusive(self.root) as held:
            append(held, self.path, lines, self.disk)

    def require_writable(self) -> None:
        """CubError if no event may be added: for those who write something else first."""
        require_appendable(self.root, self.path)

    def events(self) -> Iterator[Event]:
        """All events from the first to the last; lines that are none are passed over."""
        with self.opened() as file:
            yield from events_in(file or ())

    def newest(self, task: str, kinds: tuple[str, ...] = (ATTEMPT_END,)) -> Iterator[Event]:
        """The events of a task, the last one first: looked for from the end, read as they come."""
        for event in self.backwards(task):
            if event.get("task") == task and event.get("ev") in kinds:
                yield event

    def backwards(self, text: str = "") -> Iterator[Event]:
        """The events that hold `text` as a string of their own, the last one first."""
        with self.opened() as file:
            yield from events_back(file, encode_text(text) if text else ANY) if file else ()

    def follow(self, count: int) -> Iterator[Event | None]:
        """The last events, then each one as it is added; None whenever there is nothing new."""
        follower = Follower(self.opened)
        yield from follower.begin(count)
        while True:
            yield from follower.news()
            yield None

    @contextmanager
    def opened(self) -> Iterator[BinaryIO | None]:
        """The file to be read; None where there is none yet."""
        real = locate(self.root, self.path)
        if real is None:
            yield None
            return
        try:
            file = real.open("rb")
        except OSError as error:
            raise trouble(error, self.path, "cannot be read") from error
        with file:
            yield file


def encode_text(text: str) -> bytes:
    """A text as JSON spells it in a line of cub's."""
    return encode({"": text})[4:-1]
