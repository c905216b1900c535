from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
    drop_bound_reasoning,
    make_user_message,
    repair_conversation,
)


def call(name: str) -> ToolCall:
    return ToolCall(name, "Read", {"file_path": name})


def result(name: str) -> ToolResult:
    return ToolResult(name, (TextBlock(f"text of {name}"),))


def test_a_valid_conversation_stays_as_it_is() -> None:
    messages = [
        make_user_message("go"),
        Message("assistant", (TextBlock("I look."), call("a"), call("b"))),
        Message("user", (result("a"), result("b"))),
        Message("assistant", (TextBlock("Done."),)),
    ]
    assert repair_conversation(messages) == messages


def test_a_call_without_a_result_gets_one() -> None:
    messages = [Message("assistant", (call("a"), call("b"))), Message("user", (result("b"),))]
    _, answer = repair_conversation(messages)
    first, second = answer.results
    assert (first.call_id, first.is_error) == ("a", True)
    assert "interrupted" in first.text
    assert second == result("b")


def test_a_call_at_the_end_or_before_another_reply_is_answered() -> None:
    messages = [Message("assistant", (call("a"),)), Message("assistant", (call("b"),))]
    roles = [message.role for message in repair_conversation(messages)]
    assert roles == ["assistant", "user", "assistant", "user"]


def test_a_result_without_its_call_and_an_empty_message_are_left_out() -> None:
    messages = [Message("user", (result("a"),)), Message("assistant", ()), make_user_message("x")]
    assert repair_conversation(messages) == [make_user_message("x")]


def test_results_come_first_and_in_the_order_of_the_calls() -> None:
    blocks: tuple[Block, ...] = (TextBlock("also"), result("b"), result("a"))
    messages = [Message("assistant", (call("a"), call("b"))), Message("user", blocks)]
    assert repair_conversation(messages)[1].blocks == (result("a"), result("b"), TextBlock("also"))


def test_the_text_of_a_message_has_no_results() -> None:
    image = ImageBlock("image/png", "aGk=")
    message = Message("user", (ToolResult("a", (TextBlock("x"), image)), TextBlock("y")))
    assert (message.text, message.results[0].text) == ("y", "x")


def think(model: str = "claude-sonnet-5-5") -> ReasoningBlock:
    return ReasoningBlock(model, "Hm.", {"type": "thinking", "thinking": "Hm.", "signature": "s"})


def test_reasoning_that_nothing_follows_is_left_out() -> None:
    messages = [
        Message("assistant", (think(), TextBlock("Hi"), think(), think())),
        Message("assistant", (think(),)),
        Message("assistant", (think(), TextBlock("Hi"), think(), call("a"))),
        Message("user", (result("a"),)),
    ]
    assert repair_conversation(messages) == [
        Message("assistant", (think(), TextBlock("Hi"))),
        *messages[2:],
    ]


def test_reasoning_that_a_service_wants_back_in_any_case_stays() -> None:
    """DeepSeek refuses calls without what the model thought before them."""
    messages = [
        Message("assistant", (think(), call("a"))),
        Message("assistant", (think("deepseek-v4-pro"), call("b"))),
        Message("user", (result("a"),)),
    ]
    dropped = Message("assistant", (call("a"),))
    assert [*map(drop_bound_reasoning, messages)] == [dropped, *messages[1:]]


BLOCKS = st.one_of(
    st.builds(think),
    st.builds(TextBlock, st.text(min_size=1)),
    st.sampled_from("abcd").map(call),
    st.sampled_from("abcd").map(result),
)
OTHERS_BLOCKS = {"assistant": ToolResult, "user": ToolCall | ReasoningBlock}
MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(("user", "assistant")),
        st.lists(BLOCKS, max_size=4, unique_by=repr).map(tuple),
    ),
    max_size=8,
).map(
    lambda messages: [
        message._replace(
            blocks=tuple(
                block
                for block in message.blocks
                if not isinstance(block, OTHERS_BLOCKS[message.role])
            )
        )
        for message in messages
    ]
)


@given(MESSAGES)
def test_every_call_is_answered_by_the_next_message_whatever_was_before(
    messages: list[Message],
) -> None:
    repaired = repair_conversation(messages)
    for number, message in enumerate(repaired):
        previous = repaired[number - 1].calls if number else []
        assert message.blocks
        assert not isinstance(message.blocks[-1], ReasoningBlock)
        assert [one.call_id for one in message.results] == [one.id for one in previous]
        if message.calls:
            assert number + 1 < len(repaired)
    assert repair_conversation(repaired) == repaired
    assert not [a for a, b in pairwise(repaired) if a.role == b.role == "user"]
    assert list_texts(repaired) == list_texts(messages)


def list_texts(messages: list[Message]) -> list[str]:
    """The texts of messages that are no results."""
    blocks = (block for message in messages for block in message.blocks)
    return [block.text for block in blocks if isinstance(block, TextBlock)]


def test_messages_of_the_user_in_a_row_become_one() -> None:
    call = ToolCall("1", "Read", {})
    repaired = repair_conversation(
        [
            make_user_message("first"),
            make_user_message("second"),
            Message("assistant", (call,)),
            Message("user", (ToolResult("1", ()),)),
            make_user_message("third"),
        ]
    )
    assert [(m.role, len(m.blocks)) for m in repaired] == [
        ("user", 2),
        ("assistant", 1),
        ("user", 2),
    ]
    assert repaired[-1].blocks == (ToolResult("1", ()), TextBlock("third"))
