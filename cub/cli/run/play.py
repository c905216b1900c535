"""A run from the first event to the exit code: shown live, in lines, or as JSON."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from types import FrameType
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.run.lines import lines_of
from cub.errors import CubError

if TYPE_CHECKING:
    from cub.actions.run.settings import Asked
    from cub.actions.run.status import Standing
    from cub.actions.tasks.stores import Stores
    from cub.processes.stop import Stop
    from cub.store.events import Event

_INTERRUPTED = 130
_STOPPING = "stopping: the client is ended, and its changes put back; a second signal ends at once"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
Show = Callable[["Event"], None]


def play(
    stores: Stores,
    asked: Asked,
    profile: str | None,
    *,
    json: bool,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Run, and show it; the exit code."""
    from cub.actions.run.loop import INTERRUPTED, loop
    from cub.actions.run.notify import notified
    from cub.actions.run.opening import Surroundings, opened
    from cub.actions.run.status import Standing, recorded

    end: Event = {}
    is_told = not (json or output.is_live())
    with _errors_masked(), _stoppable(is_told=is_told) as stop:
        around = Surroundings(stop, environ, profile)
        with opened(stores, asked, around) as it:
            output.warn(it.warnings)
            standing = Standing()
            steps = notified(loop(it.run), it.run)
            unread: OSError | None = None
            with _shown(standing, stop, json=json) as show:
                for event in chain(it.events, recorded(steps, it.run.folder, standing)):
                    end = event
                    try:
                        if unread is None:
                            show(event)
                    except OSError as error:  # who reads along is gone: end, but end well
                        unread = error
                        stop.request()
        if unread is not None:
            raise unread
    if end.get("end") == INTERRUPTED:
        return _INTERRUPTED
    return 0 if end.get("ok") else 1


@contextmanager
def _errors_masked() -> Iterator[None]:
    """What ends a run is told without secrets, as its events are: git quotes what hooks print."""
    from cub.masking import masked

    try:
        yield
    except CubError as error:
        error.args = (masked(str(error)),)
        error.message, error.hint = masked(error.message), masked(error.hint)
        error.details = tuple(masked("\n".join(error.details)).splitlines())
        raise


@contextmanager
def _stoppable(*, is_told: bool) -> Iterator[Stop]:
    """The first signal asks for an end, and `is_told` of that; the second one ends at once."""
    from cub.processes.stop import Stop

    stop = Stop()

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if stop.requested:
            raise KeyboardInterrupt
        stop.request()
        if is_told:
            output.talk_from_handler(_STOPPING)

    # Who was started with a signal ignored, as by nohup, is to live on.
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in heard}
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
    elif output.is_live():
        from cub.cli.run.live import panel

        with panel(standing, stop) as write:
            yield partial(_as_lines, write)
    else:
        yield partial(_as_lines, output.flushed_line)


def _as_json(event: Event) -> None:
    if event["ev"] != "tick":
        output.as_json_line({"v": 1, **event})


def _as_lines(write: Callable[[str], None], event: Event) -> None:
    for text in lines_of(event):
        for part in output.wrap_line(text):
            write(part)
