from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cub.agent.compaction import (
    MAX_OLD_RESULT,
    RECENT_RESULTS,
    build_summary_request,
    can_summarize,
    estimate_conversation,
    replace_old_messages,
    truncate_old_results,
)
from cub.agent.conversation import (
    ImageBlock,
    Message,
    TextBlock,
    ToolCall,
    ToolResult,
    make_user_message,
    repair_conversation,
)


def make_exchange(number: int, size: int) -> list[Message]:
    call = ToolCall(f"c{number}", "Read", {"file_path": f"{number}.py"})
    result = ToolResult(call.id, (TextBlock("x" * size),))
    return [Message("assistant", (call,)), Message("user", (result,))]


def make_conversation(*sizes: int) -> list[Message]:
    exchanges = [make_exchange(number, size) for number, size in enumerate(sizes)]
    return [make_user_message("go"), *(message for pair in exchanges for message in pair)]


def list_results(messages: list[Message]) -> list[str]:
    return [result.text for message in messages for result in message.results]


def test_old_large_results_are_truncated_and_the_last_three_stay() -> None:
    large = MAX_OLD_RESULT + 1
    texts = list_results(truncate_old_results(make_conversation(large, 5, large, large, large)))
    notice = f"[content truncated — {large} chars]"
    assert texts == [notice, "xxxxx", "x" * large, "x" * large, "x" * large]


def test_results_that_the_model_has_not_seen_stay() -> None:
    calls = [ToolCall(str(number), "Read", {}) for number in range(8)]
    results = [ToolResult(call.id, (TextBlock("x" * 20_000),)) for call in calls]
    messages = [Message("assistant", tuple(calls)), Message("user", tuple(results))]
    assert truncate_old_results(messages) == messages
    seen = truncate_old_results([*messages, Message("assistant", (TextBlock("I see."),))])
    assert [len(text) > 100 for text in list_results(seen)] == [False] * 5 + [True] * 3


def test_rules_after_an_old_result_stay() -> None:
    messages = make_conversation(1, 1, 1, 1)
    texts = (TextBlock("x" * 20_000), TextBlock("the rules"))
    messages[2] = Message("user", (ToolResult("c0", texts),))
    notice = "[content truncated — 20000 chars]\nthe rules"
    assert list_results(truncate_old_results(messages))[0] == notice


def test_an_old_image_is_truncated_too() -> None:
    image = ImageBlock("image/png", "A" * 20_000)
    messages = make_conversation(1, 1, 1, 1)
    messages[2] = Message("user", (ToolResult("c0", (image,)),))
    assert list_results(truncate_old_results(messages))[0] == "[content truncated — 20000 chars]"


@given(st.lists(st.integers(0, 30_000), max_size=8))
def test_truncation_touches_nothing_else(sizes: list[int]) -> None:
    messages = make_conversation(*sizes)
    shortened = truncate_old_results(messages)
    assert truncate_old_results(shortened) == shortened
    assert len(shortened) == len(messages)
    assert estimate_conversation("", shortened) <= estimate_conversation("", messages)
    results = zip(list_results(messages), list_results(shortened), strict=True)
    changed = [number for number, (old, new) in enumerate(results) if old != new]
    assert changed == [n for n, size in enumerate(sizes[:-RECENT_RESULTS]) if size > MAX_OLD_RESULT]


def test_an_estimate_counts_four_characters_as_a_token() -> None:
    message = Message("assistant", (TextBlock("x" * 400), ToolCall("1", "Bash", {})))
    assert estimate_conversation("y" * 40, [message]) == 10 + 4 + 100 + 1


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
        *make_conversation(*[50_000] * 300),
    ]
    request = build_summary_request(messages)
    text = request.messages[0].text
    assert len(text) < 401_000
    assert not request.tools
    small = build_summary_request(messages[:9]).messages[0].text
    for words in ("[user] find the bug", "[assistant] I look", 'calls Read {"file_path": "a.py"}'):
        assert words in small


def test_a_long_prompt_is_cut_and_the_summary_stays() -> None:
    prompt = "p" * 50_000 + "do this"
    compacted = replace_old_messages(make_conversation(1, 2, 3, 4), prompt, "the summary")
    assert "pppdo this\n\nThe conversation was summarized" in compacted[0].text
    assert "the summary" in compacted[0].text
    assert len(compacted[0].text) < 21_000
