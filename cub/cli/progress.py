"""Draw a progress bar on stderr for work that takes long."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cub.cli import output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 0.3  # seconds; about as many have passed since the user pressed Enter
_LONG_WORK = 2_000_000  # bytes to read, in about half a second: shown at once


def _should_show() -> bool:
    return sys.stderr.isatty() and not output.is_muted()


class ProgressBar:
    """Show how far a step is, after a while, on a terminal."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._start = time.monotonic()
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int, step: str) -> None:
        """Tell how far a step is, in any unit."""
        if done >= total:  # what is printed next must not meet the bar
            self._stop()
            return
        if self._bar is None:
            is_early = time.monotonic() - self._start < self._patience and total < _LONG_WORK
            if is_early or not _should_show():
                return
            self._bar = self._start_bar()
        progress, task = self._bar
        # Until something is done, the share is unknown: the bar has no end then.
        known_total = total if done else None
        progress.update(task, description=step, total=known_total, completed=done, refresh=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._bar:
            self._bar[0].stop()
            self._bar = None

    def _start_bar(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import Progress

        # No thread that redraws: the processes that parse are forked from this one.
        progress = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
        task = progress.add_task("", total=None)
        progress.start()
        return progress, task
