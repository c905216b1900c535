"""Define what a harness does: start an agent, read its output as events, and judge its success.

A transcript adds the events up to the final message, the costs, and how the agent ended.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, get_args

from cub.agent_profiles.agent_profile import AgentProfile
from cub.checks.terminal_text import to_plain_text
from cub.files.internal_files import replace_file
from cub.files.read_files import make_os_error
from cub.harness.line_splitter import LineSplitter
from cub.harness.refusals import Refusal, RefusalKind
from cub.masking import mask_text
from cub.tokens import TokenUsage, compute_dollars


class LaunchRequest(NamedTuple):
    """Hold what a harness needs to start an agent for an attempt.

    prompt.md and system.md in the attempt's `folder` have the two prompts; the agent can only read
    it. It can write in `scratch`, which is the path that it sees. Attempts of a task count from 1.
    `permissions` is `auto` or `bypass`. `system_prompt` has the contract of a run, and the
    instructions that the agent would miss otherwise. The `arguments` keep it from loading a text
    twice. If not `can_nest`, the walls around it, such as Landlock's, let no sandbox of its own
    start, and it has to do without.
    """

    prompt: str
    system_prompt: str
    folder: Path
    scratch: Path
    task_id: str
    attempt: int
    model: str | None
    permissions: str
    arguments: tuple[str, ...] = ()
    can_nest: bool = True


class LaunchCommand(NamedTuple):
    """Hold the process to start: its arguments, its stdin, and additional variables.

    It needs `files` in the request's scratch folder.
    """

    argv: tuple[str, ...]
    stdin: bytes
    environ: Mapping[str, str]
    files: Mapping[str, bytes] = {}

    def write_files(self, scratch: Path) -> None:
        """Write the files. Raises CubError if that fails.

        `scratch` is the path outside of the attempt's place. No link that an agent may have left
        there is followed.
        """
        for name, data in self.files.items():
            path = scratch / name
            try:
                replace_file(path, [data])
            except OSError as error:
                raise make_os_error(error, path.as_posix(), "cannot be written") from error


def encode_text(text: str) -> bytes:
    """Return a text for an agent; what UTF-8 can't have becomes a question mark."""
    return text.encode("utf-8", "replace")


class LineReader(ABC):
    """Read the stdout and stderr of one attempt line by line. Never raises."""

    def __init__(self) -> None:
        self._lines, self._error_lines = LineSplitter(), LineSplitter()

    def read(self, data: bytes) -> Iterator[AgentEvent]:
        """Yield the events of the lines that end in this piece."""
        return self._read_lines(self._lines.feed(data))

    def read_errors(self, data: bytes) -> Iterator[AgentEvent]:
        """Yield what the lines of stderr say that end in this piece."""
        for line in self._error_lines.feed(data):
            yield from self.read_error_line(line)

    def read_error_line(self, line: bytes) -> Iterable[AgentEvent]:  # noqa: ARG002 - few need it
        """Return what a line of stderr says of refusals, denials, and tokens."""
        return ()

    def finish(self) -> Iterator[AgentEvent]:
        """Yield the events of the last line if no newline ended it."""
        return self._read_lines(self._lines.flush())

    @abstractmethod
    def _read_lines(self, lines: list[bytes]) -> Iterator[AgentEvent]:
        """Yield the events of whole lines."""


class Harness(ABC):
    """Drive one kind of agent."""

    __slots__ = ()
    reader: ClassVar[type[LineReader]]

    @property
    @abstractmethod
    def facts(self) -> AgentProfile:
        """Return what is known of the agent; "" is its program if only an attempt knows it."""

    @property
    @abstractmethod
    def environ(self) -> Mapping[str, str]:
        """Return additional variables for the agent."""

    @property
    @abstractmethod
    def reads(self) -> str:
        """Return the agent whose instruction files it reads, as in cub.project.agent_reading."""

    @property
    def name(self) -> str:
        """Return the name that a person gave it."""
        return self.facts.name

    @property
    def installation(self) -> str:
        """Return the command that installs it; "" if cub knows none."""
        return self.facts.installation

    @abstractmethod
    def build_command(self, request: LaunchRequest) -> LaunchCommand:
        """Return the command for an attempt.

        Raises CubError if the agent can't take such a prompt.
        """

    def open_reader(self) -> LineReader:
        """Return a new reader for one attempt."""
        return self.reader()

    def is_success(self, transcript: Transcript, exit_code: int | None) -> bool:
        """Return whether it ended with 0, and with a result that is not a failure."""
        return exit_code == 0 and transcript.has_result and not transcript.has_failed

    @abstractmethod
    def lacks_reply(self, transcript: Transcript) -> bool:
        """Return whether no model gave a usable reply; False if the output doesn't tell."""

    @abstractmethod
    def find_refusal(self, transcript: Transcript, stderr: str, now: datetime) -> Refusal | None:
        """Return what kept the agent from working, None if nothing did."""


EventKind = Literal[
    "text", "tool", "usage", "cost", "session", "model", "limit", "login", "service", "setup",
    "denied", "result", "other",
]  # fmt: skip
REFUSAL_KINDS: tuple[RefusalKind, ...] = get_args(RefusalKind)


class AgentEvent(NamedTuple):
    """Hold one event of an agent.

    The `text` of a text event is a piece that the next one follows directly, so a whole line or
    message ends with a newline; if it has `failed`, it is the agent's own message about an error,
    and not its model's. Tokens and dollars are added to those before. A limit, login, service or
    setup event says why the agent can't go on; a tool event, or the model that answers, shows that
    it went on. A result event is the agent's last word; `failed` is what it says of itself.
    """

    kind: EventKind
    text: str = ""
    tokens: TokenUsage | None = None
    usd: float | None = None
    failed: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return the event under the keys of cub's event protocol."""
        tree: dict[str, object] = {"type": self.kind}
        if self.text or self.kind in ("text", "tool", "result"):
            tree["id" if self.kind == "session" else "text"] = self.text
        if self.tokens is not None:
            tree |= self.tokens._asdict()
        if self.usd is not None:
            tree["usd"] = self.usd
        if self.kind == "result" or self.failed:
            tree["failed"] = self.failed
        return tree


MAX_FINAL = 64 * 1024  # characters
MAX_DENIALS = 20


@dataclass(slots=True)
class Transcript:
    """Add up the events of an attempt.

    Tokens and dollars are None if the agent reported none. `has_started`: there was any event.
    `has_words`: there was text, and not only about errors. `has_reply`: there was a tool, or a
    result that says something. `has_result`: there was a result event.
    `refusal` is the last event about a limit, a login, the service or the setup that the agent has
    not got over, and `error` the last message of its own about an error. Secrets are masked in both
    and in the final message.
    """

    tokens: TokenUsage | None = None
    usd: float | None = None
    session: str = ""
    model: str = ""
    denials: list[str] = field(default_factory=list)
    refusal: AgentEvent | None = None
    error: str = ""
    has_started: bool = False
    has_words: bool = False
    has_reply: bool = False
    has_failed: bool = False
    has_result: bool = False
    _result: str = ""
    _text: str = ""

    @property
    def final_message(self) -> str:
        """Return the end of the result's text, or else of all text since the last tool.

        It is masked as a whole, because a secret may take several pieces.
        """
        text = self._result or self._text
        # Remove escapes first: they could hide a secret.
        return mask_text(to_plain_text(text) if "\x1b" in text else text).strip()

    def add_event(self, event: AgentEvent) -> None:
        """Take an event into account."""
        self.has_started |= event.kind != "other"
        if event.tokens is not None:
            self.tokens = self.tokens.add(event.tokens) if self.tokens else event.tokens
        if event.usd is not None:
            self.usd = (self.usd or 0.0) + event.usd
        match event.kind:
            case "text":
                self._add_text(event)
            case "tool":
                self._text = ""
                self.refusal, self.error, self.has_reply = None, "", True  # the agent went on
            case "session":
                self.session = event.text or self.session
            case "model":
                self.model = event.text or self.model
                self.refusal = None  # it answers
            case "limit" | "login" | "service" | "setup":
                self.refusal = event._replace(text=mask_text(event.text))
            case "denied":
                self.denials += [mask_text(event.text)] if len(self.denials) < MAX_DENIALS else []
            case "result":
                self.has_result, self.has_failed = True, event.failed
                self._result = event.text[-MAX_FINAL:]
                self.has_reply |= bool(event.text.strip())
                self.refusal = self.refusal if event.failed else None

    def _add_text(self, event: AgentEvent) -> None:
        if event.failed:
            self.error = mask_text(event.text)
            return
        self.has_words |= bool(event.text.strip())
        self._text = (self._text + event.text)[-MAX_FINAL:]


class AttemptCost(NamedTuple):
    """Hold the dollars of an attempt, None if they are not known, and where they come from."""

    usd: float | None
    source: Literal["reported", "computed", "none"]


UNKNOWN_COST = AttemptCost(None, "none")


def determine_cost(transcript: Transcript, model: str | None) -> AttemptCost:
    """Return the cost that the agent reported, or else one computed from its tokens.

    `model` is the one that was asked for; what the agent names comes first.
    """
    if transcript.usd is not None:
        return AttemptCost(transcript.usd, "reported")
    name = transcript.model or model or ""
    usd = compute_dollars(name, transcript.tokens) if name and transcript.tokens else None
    return AttemptCost(usd, "none" if usd is None else "computed")
