"""Define the messages of a conversation, and keep it one that a model's service accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from operator import eq
from types import MappingProxyType
from typing import Literal, NamedTuple

from cub.json_values import JsonObject

Role = Literal["user", "assistant"]
_NO_RESULT = "This call was not finished: the turn was interrupted before it had a result."


class TextBlock(NamedTuple):
    """Hold a text, which is not empty."""

    text: str


class ImageBlock(NamedTuple):
    """Hold an image in base64."""

    media_type: str
    data: str


class ReasoningBlock(NamedTuple):
    """Hold what a model thought before what follows; `text` is for people, and may be "".

    `data` is as the service sent it, signatures included: it is sent back unchanged, to the model
    of this name alone.
    """

    model: str
    text: str
    data: JsonObject

    @property
    def is_bound(self) -> bool:
        """Return whether its service refuses it once anything before it has changed."""
        return "claude" in self.model  # through whichever service; others only want all of it back


class ToolCall(NamedTuple):
    """Hold a model's call of a tool; `fault` says why its arguments can't be read, or is "".

    `extra` has what a service attached to the call, by the name of the model that wants it back.
    """

    id: str
    name: str
    arguments: JsonObject
    fault: str = ""
    extra: JsonObject = MappingProxyType({})


class ToolResult(NamedTuple):
    """Hold what a call of a tool has led to."""

    call_id: str
    content: tuple[TextBlock | ImageBlock, ...]
    is_error: bool = False

    @property
    def text(self) -> str:
        """Return its texts as one."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextBlock))


Block = TextBlock | ImageBlock | ReasoningBlock | ToolCall | ToolResult


class Message(NamedTuple):
    """Hold a message of the user, results of tools included, or of the model."""

    role: Role
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """Return its own texts as one."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextBlock))

    @property
    def calls(self) -> list[ToolCall]:
        """Return the calls of tools."""
        return [block for block in self.blocks if isinstance(block, ToolCall)]

    @property
    def results(self) -> list[ToolResult]:
        """Return the results of tools."""
        return [block for block in self.blocks if isinstance(block, ToolResult)]


def make_user_message(text: str) -> Message:
    """Return a text as a message of the user."""
    return Message("user", (TextBlock(text),))


def add_user_text(messages: Sequence[Message], text: str) -> list[Message]:
    """Return messages with a text of the user at the end, in the last message if it is theirs."""
    added = make_user_message(text)
    if messages and messages[-1].role == "user":
        added = added._replace(blocks=(*messages[-1].blocks, *added.blocks))
        return [*messages[:-1], added]
    return [*messages, added]


def repair_conversation(messages: Iterable[Message]) -> list[Message]:
    """Return a conversation in which every call has its result in the message that follows.

    A call without one gets a result that says so, and a result without its call is left out: a
    service answers either with an error (400). Messages of the user in a row become one: templates
    of some models take no others. Messages without a block are left out as well, and
    so is reasoning that nothing of the same reply follows: it led to nothing.
    """
    repaired: list[Message] = []
    open_calls: list[ToolCall] = []
    for message in messages:
        if message.role == "assistant":
            if open_calls:
                repaired.append(_answer_calls(open_calls, ()))
            message = _drop_last_reasoning(message)  # noqa: PLW2901 - the same one
            open_calls = message.calls
        else:
            message = _answer_calls(open_calls, message.blocks)  # noqa: PLW2901 - the same one
            open_calls = []
        if message.role == "user" and repaired and repaired[-1].role == "user":
            repaired[-1] = Message("user", repaired[-1].blocks + message.blocks)
        elif message.blocks:
            repaired.append(message)
    if open_calls:
        repaired.append(_answer_calls(open_calls, ()))
    return repaired


def change_results(
    messages: Iterable[Message], change: Callable[[ToolResult], ToolResult]
) -> list[Message]:
    """Return messages with each result as the function returns it."""
    return [
        message._replace(
            blocks=tuple(
                change(block) if isinstance(block, ToolResult) else block
                for block in message.blocks
            )
        )
        for message in messages
    ]


def count_same(messages: Sequence[Message], previous: Sequence[Message]) -> int:
    """Return how many of the first messages are the same."""
    return sum(takewhile(bool, map(eq, messages, previous)))


def drop_bound_reasoning(message: Message) -> Message:
    """Return a message without the reasoning that its service takes only where it was made."""
    blocks = (
        block
        for block in message.blocks
        if not (isinstance(block, ReasoningBlock) and block.is_bound)
    )
    return message._replace(blocks=tuple(blocks))


def _drop_last_reasoning(message: Message) -> Message:
    blocks = message.blocks
    while blocks and isinstance(blocks[-1], ReasoningBlock):
        blocks = blocks[:-1]
    return message if blocks is message.blocks else message._replace(blocks=blocks)


def _answer_calls(calls: Sequence[ToolCall], blocks: Sequence[Block]) -> Message:
    """Return a user message with a result for each call, in their order, then the other blocks."""
    results = {block.call_id: block for block in blocks if isinstance(block, ToolResult)}
    missing = ToolResult("", (TextBlock(_NO_RESULT),), is_error=True)
    answers = [results.get(call.id) or missing._replace(call_id=call.id) for call in calls]
    others = [block for block in blocks if not isinstance(block, ToolResult)]
    return Message("user", (*answers, *others))
