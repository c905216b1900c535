"""Conversations of calls of `Read` with results of some length."""

from __future__ import annotations

from cub.agent.context_window import ContextWindow
from cub.agent.conversation import Message, TextBlock, ToolCall, ToolResult, make_user_message


def make_exchange(number: int, size: int) -> list[Message]:
    call = ToolCall(f"c{number}", "Read", {"file_path": f"{number}.py"})
    result = ToolResult(call.id, (TextBlock("x" * size),))
    return [Message("assistant", (call,)), Message("user", (result,))]


def make_conversation(*sizes: int) -> list[Message]:
    exchanges = [make_exchange(number, size) for number, size in enumerate(sizes)]
    return [make_user_message("go"), *(message for pair in exchanges for message in pair)]


def list_results(messages: list[Message]) -> list[str]:
    return [result.text for message in messages for result in message.results]


def make_window(
    threshold: int = 160_000, size: int | None = None, reply: int = 1_000, system: str = ""
) -> ContextWindow:
    return ContextWindow("fake", system, threshold, reply, size)
