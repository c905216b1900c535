"""Execute a run, and show its events live, in lines, or as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain, islice

from cub.actions.command_options import RunOptions
from cub.actions.context_settings import ContextSettings
from cub.actions.run.idle_run import find_idle_end
from cub.actions.run.notifications import send_notifications
from cub.actions.run.run_loop import INTERRUPTED, run_tasks
from cub.actions.run.run_setup import RunEnvironment, prepare_run
from cub.actions.run.run_status import PlaceRoots, RunStatus, save_status
from cub.actions.tasks.stores import Stores
from cub.cli import output
from cub.cli.commands.run.event_lines import format_event_lines
from cub.cli.stop_signals import handle_stop_signals
from cub.errors import CubError
from cub.masking import mask_text
from cub.processes.command import StopRequest
from cub.store.events import Event

_INTERRUPTED = 130
_STOPPING = "stopping the agent; a second signal exits immediately"
ShowEvent = Callable[[Event], None]


def execute_run(
    stores: Stores,
    options: RunOptions,
    *,
    json: bool,
    environ: Mapping[str, str] = os.environ,
    confirmed: ContextSettings | None = None,
) -> int:
    """Run tasks and show the events; return the exit code.

    `confirmed` are the context commands that the user has approved.
    """
    last_event: Event = {}
    message = "" if json or output.supports_live_output() else _STOPPING
    with _mask_errors(), handle_stop_signals(message) as stop:
        write_error: OSError | None = None
        environment = RunEnvironment(stop, environ, confirmed=confirmed)
        if end := find_idle_end(stores, options, environment):
            _show_idle_end(end, json=json)
            return 0
        with prepare_run(stores, options, environment) as prepared:
            output.print_warnings(prepared.warnings)
            context = prepared.context
            places = context.open_places()
            roots = [(place.root, place.get_inner_root(place.tree)) for place in places]
            status = RunStatus(places=tuple(PlaceRoots(*root) for root in roots))
            events = send_notifications(run_tasks(context), context)
            events = save_status(events, context.folder, status)
            names_tasks = len(places) > 1
            display = _choose_display(status, stop, json=json, names_tasks=names_tasks)
            # The events end before the locks are released: attempts may run in other threads.
            with display as show, closing(events):
                for last_event in chain(prepared.events, events):
                    try:
                        if write_error is None:
                            show(last_event)
                    except OSError as error:  # stdout is closed: end the run in order
                        write_error = error
                        stop.request()
        if write_error is not None:
            raise write_error
    if last_event.get("end") == INTERRUPTED:
        return _INTERRUPTED
    return 0 if last_event.get("ok") else 1


@contextmanager
def _mask_errors() -> Iterator[None]:
    """Mask secrets in an error that ends the run: git quotes what hooks print."""
    try:
        yield
    except CubError as error:
        error.args = (mask_text(str(error)),)
        error.message, error.hint = mask_text(error.message), mask_text(error.hint)
        error.details = tuple(mask_text("\n".join(error.details)).splitlines())
        raise


@contextmanager
def _choose_display(
    status: RunStatus, stop: StopRequest, *, json: bool, names_tasks: bool
) -> Iterator[ShowEvent]:
    if json:
        yield _print_json_event
        return
    format_event = partial(format_event_lines, names_tasks=names_tasks)
    if output.supports_live_output():
        from cub.cli.commands.run.live_view import show_live_panel

        with show_live_panel(status, stop) as write:
            yield partial(_write_lines, write, format_event)
    else:
        yield partial(_write_lines, output.print_flushed_line, format_event)


def _show_idle_end(event: Event, *, json: bool) -> None:
    """Show the end of a run that never started: nothing is above its first line."""
    if json:
        _print_json_event(event)
        return
    for text in islice(format_event_lines(event), 1, None):
        output.print_paragraph(text)


def _print_json_event(event: Event) -> None:
    if event["ev"] != "tick":
        output.print_json_line({"v": 1, **event})


def _write_lines(
    write: Callable[[str], None], format_event: Callable[[Event], Iterator[str]], event: Event
) -> None:
    for text in format_event(event):
        for part in output.wrap_line(text):
            write(part)
