"""Tell a person about a run: call `run.notify` when it ends, and when a task is parked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from cub.actions.run.run_context import RunContext
from cub.masking import mask_text
from cub.processes.command import TimeLimits, make_shell_command
from cub.processes.runner import run_and_capture
from cub.store.events import RUN_END, TASK_STATE, Event
from cub.store.task_schema import PARKED

_LIMITS = TimeLimits(30.0, None)
_MAX_OUTPUT = 65_536  # bytes, of which the last line is reported


def send_notifications(events: Iterable[Event], context: RunContext) -> Iterator[Event]:
    """Yield the events, and a notice if `run.notify` failed."""
    for event in events:
        yield event
        kind = _classify_event(event) if context.settings.notify_command else ""
        if kind and (failure := _run_notify_command(context, kind, event)):
            yield context.make_event("notice", text=f"run.notify failed: {failure}")


def _classify_event(event: Event) -> str:
    """Return "stop", "stuck" or "budget" for an event that a person is told of, else ""."""
    name = event["ev"]
    if name == RUN_END:
        return "budget" if event["end"] == "budget" else "stop"
    return "stuck" if name == TASK_STATE and event["status"] == PARKED else ""


def _run_notify_command(context: RunContext, kind: str, event: Event) -> str:
    """Run the command with the event on its stdin; return why it failed, or ""."""
    environ = {**context.environ, "CUB_EVENT": kind, "CUB_RUN": context.folder.id}
    if "task" in event:
        environ["CUB_TASK"] = str(event["task"])
    data = json.dumps(event).encode() + b"\n"
    root = context.initial_stores.project.root
    command = make_shell_command(context.settings.notify_command, root, environ, data)
    captured = run_and_capture(command, _LIMITS, None, _MAX_OUTPUT)
    end = captured.result
    if end.exit_code == 0:
        return ""
    last_line = mask_text(captured.out.decode("utf-8", "replace")).strip().splitlines()[-1:]
    how = f"signal {end.signal}" if end.signal else f"exit code {end.exit_code}"
    return " ".join([end.cause or end.start_error or how, *last_line])
