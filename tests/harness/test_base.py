from __future__ import annotations

from cub.harness.base import AgentEvent
from cub.tokens import TokenUsage
from tests.harness.agent_streams import collect_events


def text(said: str) -> AgentEvent:
    return AgentEvent("text", said)


def test_the_final_message_is_what_was_said_since_the_last_tool() -> None:
    found = collect_events(
        text("first\n"), AgentEvent("tool", "ls"), text("a"), text("b\n"), text("c\n")
    )
    assert found.final_message == "ab\nc"
    assert not found.has_result


def test_the_text_of_the_result_goes_first() -> None:
    found = collect_events(text("said"), AgentEvent("result", "told"), text("later"))
    assert (found.final_message, found.has_result, found.has_failed) == ("told", True, False)
    assert collect_events(text("said"), AgentEvent("result")).final_message == "said"


def test_the_last_result_counts() -> None:
    found = collect_events(AgentEvent("result", "a", failed=True), AgentEvent("result", "b"))
    assert (found.final_message, found.has_failed) == ("b", False)


def test_the_final_message_is_bounded() -> None:
    found = collect_events(*(text(f"{number:07}\n") for number in range(20_000)))
    assert len(found.final_message) <= 64 * 1024
    assert found.final_message.endswith("0019999")
    assert found.final_message.startswith("0011")
    assert len(collect_events(text("x" * 999_999)).final_message) == 64 * 1024
    assert len(collect_events(AgentEvent("result", "x" * 999_999)).final_message) == 64 * 1024


def test_tokens_and_dollars_add_up() -> None:
    one = AgentEvent("usage", tokens=TokenUsage(1, 2, 3, 4))
    found = collect_events(one, one, AgentEvent("result", usd=0.5), AgentEvent("cost", usd=0.25))
    assert found.tokens == TokenUsage(2, 4, 6, 8)
    assert found.tokens.total == 14
    assert found.usd == 0.75
    assert collect_events(one).usd is None


def test_what_else_is_kept() -> None:
    found = collect_events(
        AgentEvent("session", "s-1"),
        AgentEvent("session"),
        AgentEvent("limit", "resets 3pm"),
        AgentEvent("other", "noise"),
    )
    assert (found.session, found.refusal) == ("s-1", AgentEvent("limit", "resets 3pm"))


def test_a_refusal_that_the_agent_gets_over_is_cleared() -> None:
    limit = AgentEvent("limit", "resets 3pm")
    assert collect_events(limit, AgentEvent("text", "Waiting.")).refusal == limit
    assert collect_events(limit, AgentEvent("result", "no", failed=True)).refusal == limit
    assert collect_events(limit, AgentEvent("tool", "edit a.py")).refusal is None
    assert collect_events(limit, AgentEvent("result", "done")).refusal is None
    assert collect_events(limit, AgentEvent("login", "401")).refusal == AgentEvent("login", "401")


def test_no_more_than_twenty_denied_commands_are_kept() -> None:
    found = collect_events(*(AgentEvent("denied", f"rm {number}") for number in range(30)))
    assert len(found.denials) == 20
    assert found.denials[-1] == "rm 19"
