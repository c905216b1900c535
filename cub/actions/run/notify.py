"""Telling a person: `run.notify` is called when a run stops, a task is parked, money is gone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from cub.actions.run.run import Run
from cub.masking import masked
from cub.processes.captured import captured
from cub.processes.command import Limits, shell
from cub.store.events import RUN_END, TASK_STATE, Event
from cub.store.spelling import PARKED

_LIMITS = Limits(30.0, None)
_OUTPUT = 65_536  # bytes, of which the last line is told


def notified(events: Iterable[Event], run: Run) -> Iterator[Event]:
    """The events, and a notice where telling the person failed."""
    for event in events:
        yield event
        if (
            run.settings.notify
            and (kind := kind_of(event))
            and (failure := _tell(run, kind, event))
        ):
            yield run.event("notice", text=f"run.notify failed: {failure}")


def kind_of(event: Event) -> str:
    """What an event is to a person: "stop", "stuck" or "budget"; "" for nothing."""
    name = event["ev"]
    if name == RUN_END:
        return "budget" if event["end"] == "budget" else "stop"
    return "stuck" if name == TASK_STATE and event["status"] == PARKED else ""


def _tell(run: Run, kind: str, event: Event) -> str:
    """Run the command with the event on its stdin; why it failed, or ""."""
    environ = {**run.environ, "CUB_EVENT": kind, "CUB_RUN": run.folder.id}
    if "task" in event:
        environ["CUB_TASK"] = str(event["task"])
    data = json.dumps(event).encode() + b"\n"
    command = shell(run.settings.notify, run.opened.project.root, environ, data)
    done = captured(command, _LIMITS, None, _OUTPUT)
    if done.ended.exit == 0:
        return ""
    last = masked(done.output.decode("utf-8", "replace")).strip().splitlines()[-1:]
    how = f"signal {done.ended.signal}" if done.ended.signal else f"exit code {done.ended.exit}"
    return " ".join([done.ended.cause or done.ended.missing or how, *last])
