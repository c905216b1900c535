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
from cub.cli.commands.run.event_lines import format_event_lines
from cub.errors import CubError

if TYPE_CHECKING:
    from cub.actions.run.run_options import RunOptions
    from cub.actions.run.run_status import RunStatus
    from cub.actions.tasks.stores import Stores
    from cub.processes.command import StopRequest
    from cub.store.events import Event

_INTERRUPTED = 130
_STOPPING = "stopping: the client is ended, and its changes put back; a second signal ends at once"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
ShowEvent = Callable[["Event"], None]


def execute_run(
    stores: Stores,
    request: RunOptions,
    profile: str | None,
    *,
    json: bool,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Run, and show it; the exit code."""
    from cub.actions.run.run_loop import INTERRUPTED, run_tasks
    from cub.actions.run.run_setup import RunEnvironment, prepare_run
    from cub.actions.run.run_status import RunStatus, save_status, send_notifications

    end: Event = {}
    is_told = not (json or output.supports_live_output())
    with _errors_masked(), _stoppable(is_told=is_told) as stop:
        around = RunEnvironment(stop, environ, profile)
        with prepare_run(stores, request, around) as it:
            output.print_warnings(it.warnings)
            standing = RunStatus()
            steps = send_notifications(run_tasks(it.context), it.context)
            unread: OSError | None = None
            with _shown(standing, stop, json=json) as show:
                for event in chain(
                    it.recovery_events, save_status(steps, it.context.folder, standing)
                ):
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
    from cub.masking import mask_text

    try:
        yield
    except CubError as error:
        error.args = (mask_text(str(error)),)
        error.message, error.hint = mask_text(error.message), mask_text(error.hint)
        error.details = tuple(mask_text("\n".join(error.details)).splitlines())
        raise


@contextmanager
def _stoppable(*, is_told: bool) -> Iterator[StopRequest]:
    """The first signal asks for an end, and `is_told` of that; the second one ends at once."""
    from cub.processes.command import StopRequest

    stop = StopRequest()

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if stop.is_requested:
            raise KeyboardInterrupt
        stop.request()
        if is_told:
            output.print_message_from_signal(_STOPPING)

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
def _shown(status: RunStatus, stop: StopRequest, *, json: bool) -> Iterator[ShowEvent]:
    if json:
        yield _as_json
    elif output.supports_live_output():
        from cub.cli.commands.run.live_view import show_live_panel

        with show_live_panel(status, stop) as write:
            yield partial(_as_lines, write)
    else:
        yield partial(_as_lines, output.print_flushed_line)


def _as_json(event: Event) -> None:
    if event["ev"] != "tick":
        output.print_json_line({"v": 1, **event})


def _as_lines(write: Callable[[str], None], event: Event) -> None:
    for text in format_event_lines(event):
        for part in output.wrap_line(text):
            write(part)
