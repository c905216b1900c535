from __future__ import annotations

from cub.harness.events import ClientEvent, Tokens
from cub.harness.transcript import Transcript


def told(*events: ClientEvent) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.add(event)
    return transcript


def text(said: str) -> ClientEvent:
    return ClientEvent("text", said)


def test_the_final_message_is_what_was_said_since_the_last_tool() -> None:
    found = told(text("first\n"), ClientEvent("tool", "ls"), text("a"), text("b\n"), text("c\n"))
    assert found.final == "ab\nc"
    assert not found.ended


def test_the_text_of_the_result_goes_first() -> None:
    found = told(text("said"), ClientEvent("result", "told"), text("later"))
    assert (found.final, found.ended, found.failed) == ("told", True, False)
    assert told(text("said"), ClientEvent("result")).final == "said"


def test_the_last_result_counts() -> None:
    found = told(ClientEvent("result", "a", failed=True), ClientEvent("result", "b"))
    assert (found.final, found.failed) == ("b", False)


def test_the_final_message_is_bounded() -> None:
    found = told(*(text(f"{number:07}\n") for number in range(20_000)))
    assert len(found.final) <= 64 * 1024
    assert found.final.endswith("0019999")
    assert found.final.startswith("0011")
    assert len(told(text("x" * 999_999)).final) == 64 * 1024
    assert len(told(ClientEvent("result", "x" * 999_999)).final) == 64 * 1024


def test_tokens_and_dollars_add_up() -> None:
    one = ClientEvent("usage", tokens=Tokens(1, 2, 3, 4))
    found = told(one, one, ClientEvent("result", usd=0.5), ClientEvent("cost", usd=0.25))
    assert (found.tokens, found.tokens.total) == (Tokens(2, 4, 6, 8), 14)
    assert (found.usd, found.priced) == (0.75, True)
    assert not told(one).priced


def test_what_else_is_kept() -> None:
    found = told(
        ClientEvent("session", "s-1"),
        ClientEvent("session"),
        ClientEvent("limit", "resets 3pm"),
        ClientEvent("other", "noise"),
    )
    assert (found.session, found.limit) == ("s-1", "resets 3pm")


def test_no_more_than_twenty_denied_commands_are_kept() -> None:
    found = told(*(ClientEvent("denied", f"rm {number}") for number in range(30)))
    assert len(found.denied) == 20
    assert found.denied[-1] == "rm 19"
