"""Follow a run by its events, and keep its status in a file.

`cub run status`, the live view and recovery read the status.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from cub.actions.run.run_folders import STATUS_FILE, RunFolder, write_json
from cub.checks.terminal_text import to_plain_text
from cub.files.read_files import read_small_file
from cub.json_values import parse_object
from cub.masking import mask_text
from cub.store.events import (
    ATTEMPT_END,
    ATTEMPT_START,
    RUN_END,
    RUN_START,
    Event,
    get_usage,
    mask_event,
)
from cub.text import truncate_text
from cub.tokens import TokenUsage

_MAX_STATUS = 64 << 20  # bytes
MAX_LAST_LINE = 160  # characters
_MAX_READ = 2_000  # characters of a line
_MAX_DOING = 120  # characters of what an agent does
_SAVE_SECONDS = 1.0  # between two writes for the agent's events
_MAX_NAMED = 200  # files of an attempt
# An edit in the words of an agent: the tool, and the files that it gets.
_EDIT = re.compile(
    r"(?:(?:multi|notebook|str_replace_)?edit(?:_file|or)?|write(?:_file)?|create|replace|patch)"
    r":?\s+(?P<paths>\S.*)",
    re.IGNORECASE,
)
_BEGINNING, _AT_WORK = "beginning", "at work"


@dataclass(slots=True)
class LastLine:
    """Find the last line of a text that comes in pieces.

    `text` is what a terminal would show of the last line with a letter or a digit, cut.
    """

    text: str = ""
    _open: str = ""

    def add_text(self, piece: str) -> None:
        """Append a piece; a line ending in it ends the line."""
        first, *others = piece.split("\n")
        lines = [(self._open + first)[:_MAX_READ], *others]
        self._open = lines[-1][:_MAX_READ]
        for line in reversed(lines):
            text = " ".join(to_plain_text(line[:_MAX_READ]).split())
            if text != line:  # what was left out may have been within a secret
                text = mask_text(text)
            if any(map(str.isalnum, text)):
                self.text = truncate_text(text, MAX_LAST_LINE)
                return


class PlaceRoots(NamedTuple):
    """Hold the project's folder in a place, and the same one as the agent there sees it."""

    root: Path
    inner: Path


@dataclass(slots=True)
class AttemptRow:
    """Hold what a running attempt does; most fields are the keys of an attempt in status.json.

    `task_number` and `task_count` are 0 for a single task.
    """

    harness: str = ""
    task: str = ""
    title: str = ""
    attempt: int = 0
    task_number: int = 0
    task_count: int = 0
    attempt_started: str = ""
    doing: str = ""
    said: str = ""
    last_line: LastLine = field(default_factory=LastLine, repr=False)
    usd: float | None = field(default=None, repr=False)  # that the agent has reported
    place: PlaceRoots | None = field(default=None, repr=False)
    named_files: dict[str, None] = field(default_factory=dict, repr=False)

    def list_changed_files(self) -> list[str]:
        """Return the files that the agent's edits name and that have changed, the newest first."""
        if self.place is None or not self.attempt_started:
            return []
        start = datetime.fromisoformat(self.attempt_started).timestamp() - 1
        names = reversed(list(self.named_files))
        return [name for name in names if _is_changed(self.place.root / name, start)]

    def to_json(self) -> dict[str, Any]:
        """Return the fields of status.json."""
        return {name: getattr(self, name) for name in _ROW_FIELDS}


@dataclass(slots=True)
class RunStatus:
    """Add up the events of a run; most fields are keys of status.json.

    `running` are the attempts under way by their tasks, the oldest first; `current` is the oldest
    one, or what there is to say between attempts. `tokens` and `usd` are None as long as no agent
    has reported any. `end` is the event run_end. `places` are where agents work, one after another.
    """

    run: str = ""
    started: str = ""
    at: str = ""
    waiting_until: str = ""
    ready: int = 0
    attempts: int = 0
    tokens: int | None = None
    usd: float | None = None
    estimated: bool = False
    outcomes: dict[str, int] = field(default_factory=dict)
    ended: str = ""
    end: Event | None = None
    current: AttemptRow = field(default_factory=lambda: AttemptRow(doing="starting"))
    running: dict[str, AttemptRow] = field(default_factory=dict)
    usd_ended: float | None = field(default=None, repr=False)  # of attempts that have ended
    places: tuple[PlaceRoots, ...] = field(default=(), repr=False)

    def apply_event(self, event: Event) -> None:
        """Update the status by an event."""
        self.at = event.get("ts", self.at)
        self.run = event.get("run", self.run)
        if handle := _HANDLERS.get(event["ev"]):
            handle(self, event)

    def find_row(self, event: Event) -> AttemptRow:
        """Return the attempt that an event belongs to."""
        return self.running.get(str(event.get("task")), self.current)

    def add_up_dollars(self) -> None:
        """Update the dollars that the run has used."""
        known = [self.usd_ended, *(row.usd for row in self.running.values())]
        amounts = [usd for usd in known if usd is not None]
        self.usd = sum(amounts) if amounts else None

    def to_json(self) -> dict[str, Any]:
        """Return the fields of status.json."""
        own = {name: getattr(self, name) for name in _RUN_FIELDS}
        running = [row.to_json() for row in self.running.values()]
        return {**own, **self.current.to_json(), "running": running}

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> RunStatus:
        """Return a status from the fields of status.json, as far as they are known."""
        running = {row.task: row for row in map(_read_row, tree.get("running", ()))}
        own = {name: tree[name] for name in _RUN_FIELDS if name in tree}
        return cls(**own, current=_read_row(tree), running=running)


_ROW_FIELDS = AttemptRow.__slots__[: AttemptRow.__slots__.index("last_line")]
_RUN_FIELDS = RunStatus.__slots__[: RunStatus.__slots__.index("current")]


def _read_row(tree: Mapping[str, Any]) -> AttemptRow:
    return AttemptRow(**{name: tree[name] for name in _ROW_FIELDS if name in tree})


def _is_changed(file: Path, start: float) -> bool:
    try:
        return os.lstat(file).st_mtime >= start
    except (OSError, ValueError):
        return False


def _list_edited_files(line: str, place: Path) -> Iterator[str]:
    """Yield the files that an agent's line about an edit names, relative to where it works."""
    match = _EDIT.fullmatch(line)
    for name in match["paths"].split(", ") if match else ():
        path = place / name  # an absolute name stays as it is
        if path != place and path.is_relative_to(place) and ".." not in path.parts:
            yield path.relative_to(place).as_posix()


def _handle_run_start(status: RunStatus, event: Event) -> None:
    status.started, status.current.harness = event["ts"], event["harness"]


def _handle_attempt_start(status: RunStatus, event: Event) -> None:
    row = AttemptRow(
        event["harness"], event["task"], event.get("title", ""), event["n"],
        event.get("task_number", 0), event.get("task_count", 0), event["ts"], _BEGINNING,
    )  # fmt: skip
    number = event.get("slot", 1)
    row.place = status.places[number - 1] if number <= len(status.places) else None
    status.running[row.task] = row
    status.current = next(iter(status.running.values()))
    status.ready, status.waiting_until = event.get("waiting", 0), ""


def _handle_agent_event(status: RunStatus, event: Event) -> None:
    row, kind, text = status.find_row(event), event.get("type"), event.get("text") or ""
    if kind == "tool" and text.strip():
        line = text.strip().splitlines()[0][:_MAX_READ]
        plain = mask_text(to_plain_text(line))
        row.doing = plain[:_MAX_DOING]
        for name in _list_edited_files(plain, row.place.inner) if row.place else ():
            row.named_files.pop(name, None)
            if len(row.named_files) < _MAX_NAMED:
                row.named_files[name] = None
    elif kind == "text" or row.doing == _BEGINNING:
        row.doing = _AT_WORK
    if kind in ("text", "result"):
        row.last_line.add_text(text)
        row.said = row.last_line.text
    if "input" in event:
        used = TokenUsage(*(event[name] for name in TokenUsage._fields))
        status.tokens = (status.tokens or 0) + used.total
    if "usd" in event:
        row.usd = (row.usd or 0.0) + event["usd"]
        status.add_up_dollars()


def _handle_check_start(status: RunStatus, event: Event) -> None:
    before = " on the files as they were" if event.get("base") else ""
    status.find_row(event).doing = f"check{before}: {event['cmd']}"


def _handle_check_end(status: RunStatus, event: Event) -> None:
    if event["base"]:
        status.find_row(event).doing = _BEGINNING


def _handle_attempt_end(status: RunStatus, event: Event) -> None:
    outcome = "ok" if event["ok"] else event["fail"]["class"]
    status.outcomes[outcome] = status.outcomes.get(outcome, 0) + 1
    status.attempts += 1
    row = status.running.pop(str(event.get("task")), status.current)
    usage, used = get_usage(event), row.usd
    if usage.usd is not None:  # an estimate is known only now
        used = usage.usd
        status.estimated |= usage.is_estimated
    if used is not None:
        status.usd_ended = (status.usd_ended or 0.0) + used
    status.add_up_dollars()
    idle = AttemptRow(row.harness, attempt_started=row.attempt_started, doing=outcome)
    idle.task_number, idle.task_count = row.task_number, row.task_count
    status.current = next(iter(status.running.values()), idle)


def _handle_waiting(status: RunStatus, event: Event) -> None:
    status.waiting_until, status.current.doing = event["until"], f"waiting: {event['why']}"
    status.ready = event["ready"]


def _handle_run_end(status: RunStatus, event: Event) -> None:
    status.ended, status.current.doing = event["end"], ""
    status.ready = event.get("ready", 0)
    status.waiting_until, status.end = "", {"v": 1, **event}


_HANDLERS = {
    RUN_START: _handle_run_start,
    ATTEMPT_START: _handle_attempt_start,
    "client": _handle_agent_event,
    "tick": _handle_agent_event,
    "check_start": _handle_check_start,
    "check_end": _handle_check_end,
    ATTEMPT_END: _handle_attempt_end,
    "waiting": _handle_waiting,
    RUN_END: _handle_run_end,
}


def save_status(
    events: Iterable[Event], folder: RunFolder, status: RunStatus
) -> Generator[Event, None, None]:
    """Yield the events, and keep `status` and its file up to date."""
    saved_at = 0.0
    for event in events:
        status.apply_event(event)
        if event["ev"] != "client" or time.monotonic() - saved_at >= _SAVE_SECONDS:
            with suppress(OSError):  # such as of a full disk: the run goes on, or says so itself
                write_json(folder.state / STATUS_FILE, status.to_json())
            saved_at = time.monotonic()
        yield event


def read_status(folder: RunFolder) -> RunStatus:
    """Return the status that a run wrote last, masked: an agent may have changed the file."""
    tree = mask_event(parse_object(read_small_file(folder.state, STATUS_FILE, _MAX_STATUS)))
    return RunStatus.from_json({**tree, "run": folder.id})
