from __future__ import annotations

import pytest

from cub.agent.conversation import (
    ImageBlock,
    Message,
    TextBlock,
    ToolCall,
    ToolResult,
    make_user_message,
    repair_conversation,
)
from cub.agent.summaries import build_summary_request, can_summarize, replace_old_messages
from cub.tokens import estimate_tokens
from tests.agent.exchanges import list_results, make_conversation


def test_a_summary_replaces_all_but_the_last_six_messages() -> None:
    messages = make_conversation(1, 2, 3, 4, 5, 6)
    assert can_summarize(messages)
    assert not can_summarize(messages[:-1])
    compacted = replace_old_messages(messages, "the task", " it went well ")
    assert len(compacted) == 7
    assert compacted[0].text.startswith("the task\n\n")
    assert "<summary>\nit went well\n</summary>" in compacted[0].text
    assert compacted[1:] == messages[-6:]


def test_a_summary_that_cuts_between_a_call_and_its_result_is_repaired() -> None:
    messages = [*make_conversation(1, 2, 3), make_user_message("more")]
    compacted = replace_old_messages(messages, "task", "summary")
    assert compacted == repair_conversation(compacted)
    assert list_results(compacted) == ["xx", "xxx"]


def test_what_is_summarized_is_bounded_and_has_all_kinds_of_blocks() -> None:
    image = ToolResult("c", (ImageBlock("image/png", "AAAA"),))
    messages = [
        make_user_message("find the bug"),
        Message("assistant", (TextBlock("I look"), ToolCall("c", "Read", {"file_path": "a.py"}))),
        Message("user", (image,)),
        *make_conversation(*[50_000] * 900),
    ]
    request = build_summary_request(messages, 100_000)
    text = request.messages[0].text
    assert estimate_tokens(text) < 101_000
    assert not request.tools
    small = build_summary_request(messages[:9], 100_000).messages[0].text
    for words in ("[user] find the bug", "[assistant] I look", 'calls Read {"file_path": "a.py"}'):
        assert words in small


def test_a_long_prompt_is_cut_and_the_summary_stays() -> None:
    prompt = "p" * 50_000 + "do this"
    compacted = replace_old_messages(make_conversation(1, 2, 3, 4), prompt, "the summary")
    assert "pppdo this\n\nThe conversation was summarized" in compacted[0].text
    assert "the summary" in compacted[0].text
    assert len(compacted[0].text) < 21_000


def test_a_prompt_among_the_last_messages_is_not_repeated() -> None:
    messages = [*make_conversation(1, 2, 3, 4), make_user_message("and now this")]
    compacted = replace_old_messages(messages, "and now this", "summary")
    assert compacted[0].text.startswith("The conversation was summarized")
    assert compacted[-1].text == "and now this"


def test_without_a_summary_the_model_is_told_so() -> None:
    compacted = replace_old_messages(make_conversation(1, 2, 3, 4), "task", " ", kept=2)
    assert "No summary could be written" in compacted[0].text
    assert len(compacted) == 3


@pytest.mark.parametrize("word", ["word ", "漢字"])
def test_a_transcript_fits_the_window_of_the_model(word: str) -> None:
    messages = [make_user_message(word * 900) for _ in range(100)]
    text = build_summary_request(messages, 5_000).messages[0].text
    assert 4_000 < estimate_tokens(text) < 6_000
