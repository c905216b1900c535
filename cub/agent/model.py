"""Define what a model is asked, what comes back as it is written, and how that may fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from cub.agent.conversation import Message, ReasoningBlock, ToolCall
from cub.errors import CubError
from cub.json_values import JsonObject
from cub.tokens import TokenUsage

StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal"]
# As the events of cub's protocol: too many requests, a key that is missing, wrong, or without
# credit, a failure of the service or the network, and a request that the service does not take.
FailureKind = Literal["limit", "login", "service", "request"]
_RETRIED = (408, 409, 429)  # and those from 500 on
MAX_RETRY_AFTER = 120.0  # seconds that a service may want before it is asked again


class ToolDefinition(NamedTuple):
    """Describe a tool to a model; `schema` is the JSON Schema of its arguments, an object."""

    name: str
    description: str
    schema: JsonObject


class ModelRequest(NamedTuple):
    """Hold what a model is to answer; `max_tokens` limits the reply.

    A service is asked to cache all of it, and also up to the ends of the messages `cache_ends`.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolDefinition]
    max_tokens: int
    cache_ends: Sequence[int] = ()


class TextDelta(NamedTuple):
    """Hold a piece of text that the next one follows directly."""

    text: str


class ReplyEnd(NamedTuple):
    """Say why a reply has ended, and what it used; all zeros if the service did not say."""

    stop_reason: StopReason
    usage: TokenUsage = TokenUsage()


ReplyEvent = TextDelta | ReasoningBlock | ToolCall | ReplyEnd


class Model(Protocol):
    """Answer a conversation."""

    @property
    def name(self) -> str:
        """Return the model's name, as price tables have it."""

    def stream_reply(self, request: ModelRequest) -> Iterator[ReplyEvent]:
        """Yield a reply as it comes: text, and each call once it is complete; a ReplyEnd is last.

        A ReasoningBlock comes before what it led to. A call that was cut has that as its fault.
        The id of a call may be "", or one that another call has: a turn gives each call its own.
        Makes no other request if one has failed, except without reasoning that the service refused.
        Raises ModelError.
        """

    def close(self) -> None:
        """Close the connections to the service."""


class ModelError(CubError):
    """Report that a model did not answer.

    `status` is the HTTP status, None without an answer or in the middle of one. `retry_after` are
    the seconds after which the service wants to be asked again, None if it does not say. A request
    that `is_too_long` may succeed once it is shorter; `window` are the tokens that the model can
    read, None if the service did not say.
    """

    def __init__(
        self,
        message: str,
        kind: FailureKind,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        is_too_long: bool = False,
        window: int | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind, self.status, self.retry_after = kind, status, retry_after
        self.is_too_long, self.window = is_too_long, window

    @property
    def is_retryable(self) -> bool:
        """Return whether the same request may succeed soon: 408, 409, 429, 5xx, no connection."""
        if self.is_too_long or self.kind == "login" or (self.retry_after or 0.0) > MAX_RETRY_AFTER:
            return False
        if self.status is None:
            return self.kind in ("limit", "service")
        return self.status in _RETRIED or self.status >= 500


def classify_status(status: int) -> FailureKind:
    """Return the kind of failure that an HTTP status means."""
    if status == 429:
        return "limit"
    if status in (401, 403):
        return "login"
    return "service" if status in _RETRIED or status >= 500 else "request"


class ModelEndpoint(NamedTuple):
    """Name a model of a service: its id there, the service's address, and the key.

    `base_url` is "" for the vendor's own address, `key` for a server that needs none. A server that
    sends nothing for `timeout` seconds has failed. `key_variable` names the variable for the key
    if this address needs one. `effort` is how much the model thinks, "" for the service's default.
    """

    model: str
    base_url: str = ""
    key: str = ""
    timeout: float = 300.0
    key_variable: str = ""
    effort: str = ""
