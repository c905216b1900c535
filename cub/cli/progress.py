"""A bar on stderr for work that takes a person's patience, and nothing for work that does not."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cub.cli import output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 1.0  # seconds


def _is_welcome() -> bool:
    return sys.stderr.isatty() and not output.is_muted()


class Bar:
    """Called with what is done and what there is to do; shows after a while, on a terminal."""

    def __init__(self, title: str, patience: float = _PATIENCE) -> None:
        self._title = title
        self._patience = patience
        self._start = time.monotonic()
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int) -> None:
        """Tell how far it is, in any unit."""
        if done >= total:  # what is printed next must not meet the bar
            self._stop()
            return
        if self._bar is None:
            if time.monotonic() - self._start < self._patience or not _is_welcome():
                return
            self._bar = self._shown(total)
        progress, task = self._bar
        progress.update(task, completed=done, refresh=True)

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

    def _shown(self, total: int) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import Progress

        # No thread that redraws: the processes that parse are forked from this one.
        progress = Progress(console=Console(stderr=True), transient=True, auto_refresh=False)
        task = progress.add_task(self._title, total=total)
        progress.start()
        return progress, task
