"""How a run stands, kept in a file while it works, for `cub run status` and for who comes after.

Telling a person: `run.notify` is called when a run stops, a task is parked, money is gone.

The last line that a client said, out of the pieces in which its words come.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cub.actions.run.run_context import RunContext
from cub.actions.run.run_folders import STATUS_FILE, RunFolder, is_alive, write_json
from cub.checks.terminal_text import to_plain_text
from cub.files.internal_files import read_json
from cub.masking import mask_text
from cub.processes.command import TimeLimits, make_shell_command
from cub.processes.runner import run_and_capture
from cub.store.events import (
    ATTEMPT_END,
    ATTEMPT_START,
    RUN_END,
    RUN_START,
    TASK_STATE,
    Event,
    mask_event,
)
from cub.store.task_schema import PARKED

_LIMITS = TimeLimits(30.0, None)
_OUTPUT = 65_536  # bytes, of which the last line is told


def send_notifications(events: Iterable[Event], context: RunContext) -> Iterator[Event]:
    """The events, and a notice where telling the person failed."""
    for event in events:
        yield event
        if (
            context.settings.notify_command
            and (kind := classify_event(event))
            and (failure := _run_notify_command(context, kind, event))
        ):
            yield context.make_event("notice", text=f"run.notify failed: {failure}")


def classify_event(event: Event) -> str:
    """What an event is to a person: "stop", "stuck" or "budget"; "" for nothing."""
    name = event["ev"]
    if name == RUN_END:
        return "budget" if event["end"] == "budget" else "stop"
    return "stuck" if name == TASK_STATE and event["status"] == PARKED else ""


def _run_notify_command(context: RunContext, kind: str, event: Event) -> str:
    """Run the command with the event on its stdin; why it failed, or ""."""
    environ = {**context.environ, "CUB_EVENT": kind, "CUB_RUN": context.folder.id}
    if "task" in event:
        environ["CUB_TASK"] = str(event["task"])
    data = json.dumps(event).encode() + b"\n"
    command = make_shell_command(
        context.settings.notify_command, context.initial_stores.project.root, environ, data
    )
    done = run_and_capture(command, _LIMITS, None, _OUTPUT)
    if done.result.exit_code == 0:
        return ""
    last = mask_text(done.output.decode("utf-8", "replace")).strip().splitlines()[-1:]
    how = (
        f"signal {done.result.signal}"
        if done.result.signal
        else f"exit code {done.result.exit_code}"
    )
    return " ".join([done.result.cause or done.result.start_error or how, *last])


MAX_LAST_LINE = 160  # characters
_MAX_READ = 2_000  # of a line; beyond, nothing is looked at


@dataclass(slots=True)
class LastLine:
    """`text` is what a terminal would show of the last line with a letter or a digit, cut."""

    text: str = ""
    _open: str = ""

    def add_text(self, piece: str) -> None:
        """Go on by a piece; a line end in it ends the line."""
        first, *others = piece.split("\n")
        lines = [(self._open + first)[:_MAX_READ], *others]
        self._open = lines[-1][:_MAX_READ]
        for line in reversed(lines):
            shown = " ".join(to_plain_text(line[:_MAX_READ]).split())
            if shown != line:  # what was left out may have stood within a secret
                shown = mask_text(shown)
            if any(map(str.isalnum, shown)):
                self.text = (
                    shown if len(shown) <= MAX_LAST_LINE else f"{shown[: MAX_LAST_LINE - 1]}…"
                )
                return


_SAVE_SECONDS = 1.0  # seconds between two writings of what changes all the time
_LONGEST, _READ = 120, 2_000  # characters of what a client does: shown, and looked at
_BEGINNING, _AT_WORK = "beginning", "at work"


@dataclass(slots=True)
class RunStatus:
    """What the events of a run add up to. The live view shows it, too."""

    run: str = ""
    started: str = ""
    at: str = ""
    harness: str = ""
    task: str = ""
    title: str = ""
    attempt: int = 0
    attempt_started: str = ""
    doing: str = "starting"
    waiting_until: str = ""
    said: str = ""
    ready: int = 0
    attempts: int = 0
    tokens: int = 0
    usd: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    ended: str = ""
    last_line: LastLine = field(default_factory=LastLine, repr=False)

    def apply_event(self, event: Event) -> None:
        """Go on by an event."""
        self.at = event.get("ts", self.at)
        self.run = event.get("run", self.run)
        name = event["ev"]
        take = _HANDLERS.get(name)
        if take:
            take(self, event)

    def to_json(self) -> dict[str, Any]:
        """The same as a tree."""
        return {name: getattr(self, name) for name in _JSON_FIELDS}


_JSON_FIELDS = tuple(name for name in RunStatus.__slots__ if name != "last_line")


def _run_start(status: RunStatus, event: Event) -> None:
    status.started, status.harness = event["ts"], event["harness"]


def _attempt_start(status: RunStatus, event: Event) -> None:
    status.task, status.title, status.attempt = event["task"], event.get("title", ""), event["n"]
    status.attempt_started, status.harness = event["ts"], event["harness"]
    status.ready, status.doing, status.waiting_until = event.get("waiting", 0), _BEGINNING, ""
    status.said, status.last_line = "", LastLine()


def _client(status: RunStatus, event: Event) -> None:
    kind, text = event.get("type"), event.get("text") or ""
    if kind == "tool" and text.strip():
        status.doing = mask_text(to_plain_text(text.strip().splitlines()[0][:_READ]))[:_LONGEST]
    elif kind == "text" or status.doing == _BEGINNING:
        status.doing = _AT_WORK
    if kind in ("text", "result"):
        status.last_line.add_text(text)
        status.said = status.last_line.text
    status.tokens += sum(event.get(name, 0) for name in ("input", "output", "cache_write"))
    status.usd += event.get("usd") or 0.0


def _check_start(status: RunStatus, event: Event) -> None:
    before = " on the files as they were" if event.get("base") else ""
    status.doing = f"check{before}: {event['cmd']}"


def _check_end(status: RunStatus, event: Event) -> None:
    status.doing = _BEGINNING if event["base"] else status.doing


def _tick(status: RunStatus, event: Event) -> None:  # noqa: ARG001
    status.doing = _AT_WORK if status.doing == _BEGINNING else status.doing


def _attempt_end(status: RunStatus, event: Event) -> None:
    outcome = "ok" if event["ok"] else event["fail"]["class"]
    status.outcomes[outcome] = status.outcomes.get(outcome, 0) + 1
    status.attempts += 1
    status.doing, status.task, status.title, status.attempt = outcome, "", "", 0
    status.said = ""


def _waiting(status: RunStatus, event: Event) -> None:
    status.waiting_until, status.doing = event["until"], "waiting for the end of a limit"
    status.ready = event["ready"]


def _run_end(status: RunStatus, event: Event) -> None:
    status.ended, status.doing, status.ready = event["end"], "", event.get("ready", 0)
    status.waiting_until = ""


_HANDLERS = {
    RUN_START: _run_start,
    ATTEMPT_START: _attempt_start,
    "client": _client,
    "tick": _tick,
    "check_start": _check_start,
    "check_end": _check_end,
    ATTEMPT_END: _attempt_end,
    "waiting": _waiting,
    RUN_END: _run_end,
}


def save_status(events: Iterable[Event], folder: RunFolder, status: RunStatus) -> Iterator[Event]:
    """The events, while the file in the run's folder follows them."""
    last = 0.0
    for event in events:
        status.apply_event(event)
        if event["ev"] != "client" or time.monotonic() - last >= _SAVE_SECONDS:
            write_json(folder.state / STATUS_FILE, status.to_json())
            last = time.monotonic()
        yield event


class StoredStatus(NamedTuple):
    """How a run stands, and whether its process is there."""

    status: RunStatus
    is_alive: bool


def read_status(folder: RunFolder) -> StoredStatus:
    """What a run last wrote down of itself."""
    found = read_json(folder.state / STATUS_FILE)
    known = {name: value for name, value in found.items() if name in _JSON_FIELDS}
    known = mask_event(known, mask_text)  # an older cub may have written it, or an agent
    return StoredStatus(RunStatus(**{**known, "run": folder.id}), is_alive(folder))
