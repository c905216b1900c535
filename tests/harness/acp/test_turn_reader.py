from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cub.harness.acp.turn_reader import TurnReader


class Turn(TurnReader):
    """A reader that keeps its events."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        super().__init__(lambda event: self.events.append(dict(event)), Path("/p"))

    def read(self, name: str, **fields: Any) -> None:
        self.read_update({"sessionUpdate": name, **fields})

    def say(self, text: str, **more: Any) -> None:
        self.read("agent_message_chunk", content={"type": "text", "text": text}, **more)

    def of(self, kind: str) -> list[str]:
        return [event["text"] for event in self.events if event["type"] == kind]


def test_chunks_become_messages_at_a_new_id_a_tool_or_the_end() -> None:
    turn = Turn()
    turn.say("Warning\n\n")
    for text, name in (("a", "1"), ("b", "1"), ("c", "2")):
        turn.say(text, messageId=name)
    turn.read("tool_call", toolCallId="t", title="ls", status="completed")
    turn.say("d")
    turn.say("e")
    turn.end_turn()
    assert turn.of("text") == ["Warning\n\n", "ab", "c", "de"]
    assert turn.last_words == "de"


def test_the_last_words_are_all_since_the_last_tool() -> None:
    turn = Turn()
    turn.say("One.", messageId="1")
    turn.say("Two.", messageId="2")
    turn.end_turn()
    assert turn.last_words == "One.\n\nTwo."


def test_a_tool_call_is_told_once_and_at_the_latest_in_the_end() -> None:
    turn = Turn()
    turn.read("tool_call", toolCallId="a", title="Preparing", kind="edit", status="pending")
    assert turn.of("tool") == []
    for status in ("in_progress", "completed", "completed"):
        turn.read("tool_call_update", toolCallId="a", title="Write a.py", status=status)
    turn.read("tool_call", toolCallId="b", title="ls", status="pending")
    turn.end_turn()
    turn.end_turn()
    assert turn.of("tool") == ["edit: Write a.py", "ls"]


def test_a_plan_is_told_by_the_step_at_work() -> None:
    turn = Turn()
    for status in ("pending", "in_progress", "in_progress", "completed"):
        entries = [{"content": "Look", "status": "completed"}, {"content": "Do", "status": status}]
        turn.read("plan", entries=entries)
    assert turn.of("tool") == ["plan 2/2: Do"]
    assert not turn.has_worked


def test_the_turn_waits_for_a_tool_until_it_has_ended() -> None:
    turn = Turn()
    waits = [turn.is_waiting]
    for status in ("pending", "in_progress", "completed"):
        turn.read("tool_call", toolCallId="a", title="make", status=status)
        waits.append(turn.is_waiting)
    assert waits == [True, False, False, True]


@pytest.mark.parametrize(
    ("result", "tokens", "is_unused"),
    [
        ({"usage": {"inputTokens": 5, "outputTokens": 2, "cachedReadTokens": 3}}, (5, 2, 3), False),
        ({"_meta": {"quota": {"token_count": {"input_tokens": 5, "output_tokens": 2}}}},
         (5, 2, 0), False),
        ({"usage": None, "_meta": {"quota": {"token_count": None}}}, None, True),
        ({"usage": None}, None, True),
        ({}, None, False),
        ({"usage": [], "_meta": 5}, None, True),
    ],
)  # fmt: skip
def test_the_tokens_of_a_response(result: Any, tokens: Any, is_unused: bool) -> None:
    turn = Turn()
    assert turn.read_response(result) is is_unused
    usage = [(one["input"], one["output"], one["cache_read"]) for one in turn.events]
    assert usage == ([tokens] if tokens else [])


def test_tokens_of_each_request_have_no_cached_ones_in_their_input() -> None:
    """As Qwen Code tells them, in chunks without text."""
    turn = Turn()
    for _ in range(2):
        turn.say("", _meta={"usage": {"inputTokens": 9, "outputTokens": 1, "cachedReadTokens": 4}})
    assert turn.read_response({"stopReason": "end_turn", "usage": None}) is False
    usage = {"type": "usage", "input": 5, "output": 1, "cache_read": 4, "cache_write": 0}
    assert turn.events == [usage, usage]


def test_dollars_are_told_when_they_are_new() -> None:
    turn = Turn()
    for amount in (0.5, 0.5, 0.75, 0.25, "x", -1):
        turn.read("usage_update", cost={"amount": amount, "currency": "USD"})
    turn.read("usage_update", cost={"amount": 9, "currency": "EUR"})
    assert [event["usd"] for event in turn.events] == [0.5, 0.0, 0.25, 0.0]


def test_only_the_model_and_tools_are_signs_of_life() -> None:
    turn = Turn()
    turn.sign_time = 0.0
    for name in ("available_commands_update", "usage_update", "session_info_update"):
        turn.read(name)
    assert turn.sign_time == 0.0
    turn.read("agent_thought_chunk")
    assert turn.sign_time > 0.0
    assert turn.events == []


def test_a_failed_request_is_over_when_the_agent_goes_on() -> None:
    turn = Turn()
    error = {"willRetry": True, "message": "Reconnecting"}
    turn.read("session_info_update", _meta={"codex": {"error": error}})
    turn.say("On.")
    turn.end_turn()
    assert not turn.is_retrying
    assert [event["type"] for event in turn.events] == ["service", "model", "text"]


def test_notices_without_an_id_are_no_words_of_the_model() -> None:
    turn = Turn()
    turn.say("Warning: no metadata")
    turn.say("Done.", messageId="1")
    turn.end_turn()
    assert (turn.of("text"), turn.last_words) == (["Warning: no metadata", "Done."], "Done.")


@pytest.mark.parametrize(
    ("title", "words", "denied"),
    [
        ("git push", "Permission denied: Permission to use Bash with git push has been denied.",
         ["execute: git push"]),
        ("", 'Tool execution for "Shell" denied by policy.',
         ['Tool execution for "Shell" denied by policy.']),
        ("git push", "The user has specified a rule which prevents you from using this",
         ["execute: git push"]),
        ("Review", "Status: Denied\nAction: exec git push", ["execute: Review"]),
        ("ls /root", "ls: /root: Permission denied", []),
    ],
)  # fmt: skip
def test_what_the_agents_own_rules_deny_is_reported(
    title: str, words: str, denied: list[str]
) -> None:
    turn = Turn()
    content = [{"type": "content", "content": {"type": "text", "text": words}}]
    tool = {"toolCallId": "t", "kind": "execute", "title": title, "content": content}
    turn.read("tool_call_update", **tool, status="completed")
    assert turn.of("denied") == []
    turn.read("tool_call_update", **tool, status="failed")
    assert turn.of("denied") == denied


def test_very_many_tool_calls_are_not_all_remembered() -> None:
    turn = Turn()
    for number in range(3_000):
        turn.read("tool_call", toolCallId=str(number), title="x", status="completed")
    assert len(turn._tools) == 1_000  # noqa: SLF001 - its memory
