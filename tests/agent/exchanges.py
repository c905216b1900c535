"""Conversations of calls of `Read` with results of some length."""

from __future__ import annotations

from cub.agent.context_window import ContextWindow, SessionLimits
from cub.agent.conversation import Message, TextBlock, ToolCall, ToolResult, make_user_message
from cub.agent.old_results import ResultCutter


def make_turn(name: str, *texts: str) -> list[Message]:
    """A reply with calls, whose ids begin with a name, and their results."""
    calls = [
        ToolCall(f"c{name}{number}", "Read", {"file_path": f"{name}{number}.py"})
        for number in range(len(texts))
    ]
    results = (
        ToolResult(one.id, (TextBlock(text),)) for one, text in zip(calls, texts, strict=True)
    )
    return [Message("assistant", tuple(calls)), Message("user", tuple(results))]


def make_conversation(*sizes: int) -> list[Message]:
    """A prompt, and a turn with one call for each size of a result."""
    turns = (make_turn(f"{number}.", "x" * size) for number, size in enumerate(sizes))
    return [make_user_message("go"), *(message for turn in turns for message in turn)]


def cut_old_results(messages: list[Message]) -> list[Message]:
    """As above the threshold."""
    return ResultCutter().cut(messages, make_window(), at_once=True)


def list_results(messages: list[Message]) -> list[str]:
    return [result.text for message in messages for result in message.results]


def make_window(
    threshold: int = 160_000, size: int | None = None, reply: int = 1_000, overhead: int = 0
) -> ContextWindow:
    return ContextWindow("fake", overhead, SessionLimits(reply, threshold, window=size))
