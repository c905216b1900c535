"""Messages come back from their JSON as they were, and other JSON is refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest
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
)
from cub.agent.message_json import read_message, write_message
from cub.errors import NewerVersionError
from cub.store.jsonl import decode_record, encode_record

_texts = st.text()  # half of a surrogate pair included
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
_trees = st.dictionaries(_texts, _values, max_size=3)
_shown = st.builds(TextBlock, _texts) | st.builds(ImageBlock, _texts, _texts)
BLOCKS: st.SearchStrategy[Block] = st.one_of(
    _shown,
    st.builds(ToolCall, _texts, _texts, _trees, _texts, _trees),
    st.builds(ReasoningBlock, _texts, _texts, _trees).filter(lambda block: not block.is_bound),
    st.builds(ToolResult, _texts, st.lists(_shown, max_size=3).map(tuple), st.booleans()),
)
MESSAGES = st.builds(
    Message, st.sampled_from(["user", "assistant"]), st.lists(BLOCKS, max_size=4).map(tuple)
)


@given(MESSAGES)
def test_a_message_comes_back_from_its_line(message: Message) -> None:
    line = encode_record(write_message(message))
    assert b"\n" not in line
    assert read_message(decode_record(line)) == message


def test_the_form_stays_as_it_is() -> None:
    message = Message(
        "assistant",
        (
            ReasoningBlock("deepseek", "Hm.", {"reasoning_content": "Hm."}),
            TextBlock("I look."),
            ToolCall("c1", "Read", {"file_path": "a.py"}, "", {"gemini": {"signature": "x"}}),
            ToolCall("c2", "Read", {}, "the arguments are not valid JSON"),
            ToolResult("c1", (TextBlock("1"), ImageBlock("image/png", "iVBO"))),
            ToolResult("c2", (), is_error=True),
        ),
    )
    assert write_message(message) == {
        "v": 1,
        "role": "assistant",
        "blocks": [
            {"type": "reasoning", "model": "deepseek", "text": "Hm.",
             "data": {"reasoning_content": "Hm."}},
            {"type": "text", "text": "I look."},
            {"type": "call", "id": "c1", "name": "Read", "arguments": {"file_path": "a.py"},
             "extra": {"gemini": {"signature": "x"}}},
            {"type": "call", "id": "c2", "name": "Read", "arguments": {},
             "fault": "the arguments are not valid JSON"},
            {"type": "result", "call_id": "c1", "content": [
                {"type": "text", "text": "1"},
                {"type": "image", "media_type": "image/png", "data": "iVBO"},
            ]},
            {"type": "result", "call_id": "c2", "content": [], "is_error": True},
        ],
    }  # fmt: skip


def test_what_a_newer_version_wrote_is_not_read_in_part() -> None:
    newer = {"v": 2, "role": "user", "blocks": [{"type": "video", "data": "x"}]}
    with pytest.raises(NewerVersionError, match=r"by a newer cub .format 2, this cub knows 1"):
        read_message(newer)


_USER = {"v": 1, "role": "user"}


@pytest.mark.parametrize(
    "tree",
    [[], {}, {**_USER, "role": "robot", "blocks": []}, _USER, {**_USER, "blocks": 5}],
)
def test_what_is_not_a_message_is_refused(tree: Any) -> None:
    with pytest.raises(ValueError, match="not a message"):
        read_message(tree)


@pytest.mark.parametrize(
    "block",
    [
        "text",
        {},
        {"type": ["text"]},
        {"type": "video"},
        {"type": "text"},
        {"type": "text", "text": 5},
        {"type": "call", "id": "1", "name": "Read"},
        {"type": "call", "id": "1", "name": "Read", "arguments": "x"},
        {"type": "result", "call_id": "1"},
        {"type": "result", "call_id": "1", "content": "text"},
        {"type": "result", "call_id": "1", "content": [{}]},
        {"type": "result", "call_id": "1", "content": [{"type": "result", "call_id": "2"}]},
    ],
)
def test_what_is_not_a_block_is_refused(block: object) -> None:
    with pytest.raises(ValueError, match="not a message"):
        read_message({**_USER, "blocks": [block]})
