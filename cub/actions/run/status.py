"""How a run stands, kept in a file while it works, for `cub run status` and for who comes after."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cub.actions.run.folders import STATUS, RunFolder, write_json
from cub.actions.run.locks import is_alive
from cub.checks.plain import plain
from cub.files.private import read_json
from cub.harness.last_line import LastLine
from cub.masking import masked
from cub.store.events import (
    ATTEMPT_END,
    ATTEMPT_START,
    RUN_END,
    RUN_START,
    Event,
    masked_event,
)

_OFTEN = 1.0  # seconds between two writings of what changes all the time
_LONGEST, _READ = 120, 2_000  # characters of what a client does: shown, and looked at
_BEGINNING, _AT_WORK = "beginning", "at work"


@dataclass(slots=True)
class Standing:
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

    def take(self, event: Event) -> None:
        """Go on by an event."""
        self.at = event.get("ts", self.at)
        self.run = event.get("run", self.run)
        name = event["ev"]
        take = _TAKEN.get(name)
        if take:
            take(self, event)

    def to_json(self) -> dict[str, Any]:
        """The same as a tree."""
        return {name: getattr(self, name) for name in _TOLD}


_TOLD = tuple(name for name in Standing.__slots__ if name != "last_line")


def _run_start(now: Standing, event: Event) -> None:
    now.started, now.harness = event["ts"], event["harness"]


def _attempt_start(now: Standing, event: Event) -> None:
    now.task, now.title, now.attempt = event["task"], event.get("title", ""), event["n"]
    now.attempt_started, now.harness = event["ts"], event["harness"]
    now.ready, now.doing, now.waiting_until = event.get("waiting", 0), _BEGINNING, ""
    now.said, now.last_line = "", LastLine()


def _client(now: Standing, event: Event) -> None:
    kind, text = event.get("type"), event.get("text") or ""
    if kind == "tool" and text.strip():
        now.doing = masked(plain(text.strip().splitlines()[0][:_READ]))[:_LONGEST]
    elif kind == "text" or now.doing == _BEGINNING:
        now.doing = _AT_WORK
    if kind in ("text", "result"):
        now.last_line.add(text)
        now.said = now.last_line.text
    now.tokens += sum(event.get(name, 0) for name in ("input", "output", "cache_write"))
    now.usd += event.get("usd") or 0.0


def _check_start(now: Standing, event: Event) -> None:
    before = " on the files as they were" if event.get("base") else ""
    now.doing = f"check{before}: {event['cmd']}"


def _check_end(now: Standing, event: Event) -> None:
    now.doing = _BEGINNING if event["base"] else now.doing


def _tick(now: Standing, event: Event) -> None:  # noqa: ARG001
    now.doing = _AT_WORK if now.doing == _BEGINNING else now.doing


def _attempt_end(now: Standing, event: Event) -> None:
    outcome = "ok" if event["ok"] else event["fail"]["class"]
    now.outcomes[outcome] = now.outcomes.get(outcome, 0) + 1
    now.attempts += 1
    now.doing, now.task, now.title, now.attempt = outcome, "", "", 0
    now.said = ""


def _waiting(now: Standing, event: Event) -> None:
    now.waiting_until, now.doing = event["until"], "waiting for the end of a limit"
    now.ready = event["ready"]


def _run_end(now: Standing, event: Event) -> None:
    now.ended, now.doing, now.ready = event["end"], "", event.get("ready", 0)
    now.waiting_until = ""


_TAKEN = {
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


def recorded(events: Iterable[Event], folder: RunFolder, standing: Standing) -> Iterator[Event]:
    """The events, while the file in the run's folder follows them."""
    last = 0.0
    for event in events:
        standing.take(event)
        if event["ev"] != "client" or time.monotonic() - last >= _OFTEN:
            write_json(folder.state / STATUS, standing.to_json())
            last = time.monotonic()
        yield event


class Known(NamedTuple):
    """How a run stands, and whether its process is there."""

    standing: Standing
    alive: bool


def standing_of(folder: RunFolder) -> Known:
    """What a run last wrote down of itself."""
    found = read_json(folder.state / STATUS)
    known = {name: value for name, value in found.items() if name in _TOLD}
    known = masked_event(known, masked)  # an older cub may have written it, or an agent
    return Known(Standing(**{**known, "run": folder.id}), is_alive(folder))
