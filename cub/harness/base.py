"""What every client has: a way to start it, a reader of what it prints, a rule of success.

What a client tells while it works, in the same few words for every client.

What an attempt's events come to: the final message, the costs, and how the client ended.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from cub.checks.terminal_text import to_plain_text
from cub.masking import mask_text


class LaunchRequest(NamedTuple):
    """An attempt that a client is to be started for.

    `folder` is the attempt's own; prompt.md and system.md in it have the two texts. Attempts
    of a task count from 1. `permissions` are `auto` or `bypass`.
    """

    prompt: str
    system_prompt: str
    folder: Path
    task_id: str
    attempt: int
    model: str | None
    permissions: str


class LaunchCommand(NamedTuple):
    """The process to start: its arguments, what it reads, and what its environment has more."""

    argv: tuple[str, ...]
    stdin: bytes
    environ: Mapping[str, str]


class OutputReader(Protocol):
    """A reader of one attempt's stdout."""

    def read_line(self, line: bytes) -> Iterable[AgentEvent]:
        """What a line tells: without its end, perhaps cut, of any bytes. Never raises."""


class Harness(Protocol):
    """A client."""

    @property
    def name(self) -> str:
        """What a person calls it."""

    @property
    def program(self) -> str:
        """The first word of its command; "" where only an attempt tells it."""

    @property
    def environ(self) -> Mapping[str, str]:
        """What its environment has more."""

    def build_command(self, launch: LaunchRequest) -> LaunchCommand:
        """How to start it; it may write files of its own into the attempt's folder.

        CubError if this client can't be given such a prompt.
        """

    def open_reader(self) -> OutputReader:
        """A new reader, for one attempt."""

    def is_success(self, transcript: Transcript, exit_code: int | None) -> bool:
        """Whether an attempt ended well; `exit_code` is None or below 0 where a signal ended it."""


EventKind = Literal[
    "text", "tool", "usage", "cost", "session", "limit", "denied", "result", "other",
]  # fmt: skip


class TokenUsage(NamedTuple):
    """Tokens that a client used; `input` is without those that a cache had."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def add(self, other: TokenUsage) -> TokenUsage:
        """Both together."""
        return TokenUsage(*(mine + more for mine, more in zip(self, other, strict=True)))

    @property
    def total(self) -> int:
        """What counts against a budget: reading from a cache does not."""
        return self.input + self.output + self.cache_write


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One thing that a client told.

    `text` of a text event is a piece: the next one follows directly, so that a whole line or
    message ends with a line end. Tokens and dollars are new ones, to be added to those before.
    A result event is the client's last word; `failed` if the client says that it failed.
    """

    kind: EventKind
    text: str = ""
    tokens: TokenUsage | None = None
    usd: float | None = None
    failed: bool = False

    def to_json(self) -> str:
        """One line of JSON, without its end, in the form of cub's event protocol."""
        return json.dumps(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The same as a tree."""
        told: dict[str, Any] = {"type": self.kind}
        if self.text or self.kind in ("text", "tool", "result"):
            told["id" if self.kind == "session" else "text"] = self.text
        if self.tokens is not None:
            told |= self.tokens._asdict()
        if self.usd is not None:
            told["usd"] = self.usd
        if self.kind == "result":
            told["failed"] = self.failed
        return told


MAX_FINAL = 64 * 1024  # characters
MAX_DENIALS = 20


@dataclass(slots=True)
class Transcript:
    """The sum of the events so far.

    `has_cost`: the client told what it cost. `has_result`: there was a result event.
    `limit_message` are the last words about a limit. What is said there and in the final message is
    without secrets.
    """

    tokens: TokenUsage = field(default_factory=TokenUsage)
    usd: float = 0.0
    has_cost: bool = False
    session: str = ""
    denials: list[str] = field(default_factory=list)
    limit_message: str = ""
    has_failed: bool = False
    has_result: bool = False
    _result: str = ""
    _said: deque[str] = field(default_factory=deque)
    _length: int = 0
    _final: str | None = None

    @property
    def final_message(self) -> str:
        """The final message: the result's text, else what was said since the last tool.

        No more than its last 64 Ki characters. Masked as a whole: a secret may take several pieces.
        """
        if self._final is None:
            said = (self._result or "".join(self._said))[-MAX_FINAL:]
            # Escapes could stand within a secret, and are left out wherever it is shown.
            self._final = mask_text(to_plain_text(said) if "\x1b" in said else said).strip()
        return self._final

    def add_event(self, event: AgentEvent) -> None:
        """Take an event into account."""
        self._final = None
        if event.tokens is not None:
            self.tokens = self.tokens.add(event.tokens)
        if event.usd is not None:
            self.usd, self.has_cost = self.usd + event.usd, True
        match event.kind:
            case "text":
                self._say(event.text)
            case "tool":
                self._said.clear()
                self._length = 0
            case "session":
                self.session = event.text or self.session
            case "limit":
                self.limit_message = mask_text(event.text) or self.limit_message
            case "denied":
                self.denials += [mask_text(event.text)] if len(self.denials) < MAX_DENIALS else []
            case "result":
                self.has_result, self.has_failed = True, event.failed
                self._result = event.text[-MAX_FINAL:]

    def _say(self, text: str) -> None:
        self._said.append(text[-MAX_FINAL:])
        self._length += len(self._said[-1])
        while self._length - len(self._said[0]) > MAX_FINAL:
            self._length -= len(self._said.popleft())
