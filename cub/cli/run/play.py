"""A run from the first event to the exit code: shown live, in lines, or as JSON."""

from __future__ import annotations

import json as _json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.run.lines import lines_of

if TYPE_CHECKING:
    from cub.actions.run.settings import Asked
    from cub.actions.run.status import Standing
    from cub.actions.tasks.stores import Stores
    from cub.processes.stop import Stop
    from cub.store.events import Event

_INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
Show = Callable[["Event"], None]


def play(stores: Stores, asked: Asked, profile: str | None, *, json: bool) -> int:
    """Run, and show it; the exit code."""
    from cub.actions.run.loop import INTERRUPTED, loop
    from cub.actions.run.notify import notified
    from cub.actions.run.opening import Surroundings, opened
    from cub.actions.run.status import Standing, recorded

    end: Event = {}
    with _stoppable() as stop, opened(stores, asked, Surroundings(stop, profile=profile)) as it:
        standing = Standing()
        output.warn(it.warnings)
        with _shown(standing, it.run.stop, json=json) as show:
            for event in it.events:
                show(event)
            steps = notified(loop(it.run), it.run)
            for event in recorded(steps, it.run.folder, standing):
                show(event)
                end = event if event["ev"] == "run_end" else end
    if end.get("end") == INTERRUPTED:
        return _INTERRUPTED
    return 0 if end.get("ok") else 1


@contextmanager
def _stoppable() -> Iterator[Stop]:
    """The first signal asks for an end, the second one ends at once."""
    from cub.processes.stop import Stop

    stop = Stop()

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if stop.requested:
            raise KeyboardInterrupt
        stop.request()

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, old in before.items():
            signal.signal(number, old)
        stop.close()


@contextmanager
def _shown(standing: Standing, stop: Stop, *, json: bool) -> Iterator[Show]:
    if json:
        yield _as_json
        return
    live: AbstractContextManager[object] = nullcontext()
    if output.is_live():
        from cub.cli.run.live import panel

        live = panel(standing, stop)
    with live:
        yield _as_lines


def _as_json(event: Event) -> None:
    if event["ev"] != "tick":
        output.line(_json.dumps({"v": 1, **event}))
        sys.stdout.flush()


def _as_lines(event: Event) -> None:
    texts = list(lines_of(event))
    for text in texts:
        output.line(text)
    if texts:
        sys.stdout.flush()
