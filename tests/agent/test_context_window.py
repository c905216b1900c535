from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cub.agent.conversation import (
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
    make_user_message,
)
from cub.agent.model import ModelError
from cub.tokens import TokenUsage, estimate_tokens, has_price_table
from tests.agent.exchanges import make_conversation, make_window


def test_all_kinds_of_blocks_are_counted() -> None:
    blocks = (
        ReasoningBlock("m", "", {"signature": "QUJD" * 100}),
        TextBlock("word " * 100),
        ToolCall("1", "Bash", {"command": "true " * 100}),
    )
    result = ToolResult("1", (TextBlock("line " * 100), ImageBlock("image/png", "A" * 9_000)))
    window = make_window(overhead=7)
    assert window.estimate([]) == 7
    counts = [window.estimate_block(block) for block in (*blocks, result)]
    assert counts[1] == 100
    assert all(count >= 100 for count in counts)
    assert counts[3] == 1_600
    conversation = [Message("assistant", blocks), Message("user", (result,))]
    assert window.estimate(conversation) == sum(counts) + window.estimate([]) + 2 * 4


# How texts are made of random numbers, and how many of their characters are a token for
# vocabularies of today: at least, and at most.
KINDS: dict[str, tuple[Callable[[random.Random], str], float, float]] = {
    "cjk": (lambda r: "".join(chr(r.randrange(0x4E00, 0x9FFF)) for _ in range(500)), 0.5, 1.5),
    "kana": (lambda r: "".join(chr(r.randrange(0x3041, 0x3096)) for _ in range(500)), 0.5, 1.5),
    "base64": (lambda r: base64.b64encode(r.randbytes(500)).decode(), 1.2, 2.5),
    "hex": (lambda r: r.randbytes(500).hex(), 1.2, 3.0),
    "integers": (lambda r: json.dumps([r.getrandbits(40) for _ in range(50)]), 1.3, 3.0),
    "floats": (lambda r: json.dumps([r.random() for _ in range(50)]), 1.3, 3.0),
}


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers())
@settings(max_examples=20)
def test_an_estimate_is_near_for_texts_that_are_not_english(kind: str, seed: int) -> None:
    make_text, least, most = KINDS[kind]
    text = make_text(random.Random(seed))
    assert least <= len(text) / estimate_tokens(text) <= most


@given(st.lists(st.text(max_size=300), max_size=6), st.text(max_size=300))
def test_a_longer_conversation_has_more_tokens(texts: list[str], last: str) -> None:
    window = make_window()
    messages = [make_user_message(text) for text in texts]
    assert window.measure([*messages, make_user_message(last)]) > window.measure(messages)


def test_what_the_service_has_counted_corrects_the_estimate() -> None:
    window = make_window()
    messages = make_conversation(4_000, 4_000)
    window.record_usage(messages, TokenUsage(100, 500, 4_000, 2_400))
    assert window.measure(messages) == 7_000
    more = [*messages, make_user_message("word " * 50)]
    assert window.measure(more) == 7_000 + 50 + 4
    shorter = make_conversation(4_000)
    part = window.estimate(shorter) / window.estimate(messages)
    assert window.measure(shorter) == pytest.approx(7_000 * part, abs=1)


def test_a_count_that_can_not_be_is_not_believed() -> None:
    window, messages = make_window(), make_conversation(40_000)
    estimate = window.estimate(messages)
    window.record_usage(messages, TokenUsage(3, 5))  # of a server that counts what is new
    assert window.measure(messages) == estimate // 2
    window.record_usage(messages, TokenUsage())  # of one that does not count
    assert window.measure(messages) == estimate


@pytest.mark.parametrize(
    ("setting", "size", "expected"),
    [
        (160_000, None, 160_000),
        (160_000, 1_000_000, 160_000),
        (160_000, 200_000, 160_000),
        (160_000, 128_000, 128_000 - 16_384 - 6_400),
        (160_000, 32_768, 32_768 - 8_192 - 1_638),
        (5_000, 32_768, 5_000),
    ],
)
def test_the_threshold_is_the_setting_or_what_the_window_allows(
    setting: int, size: int | None, expected: int
) -> None:
    assert make_window(setting, size, 16_384).find_threshold(50_000) == expected


def test_a_reply_takes_a_quarter_of_a_small_window() -> None:
    assert make_window(size=8_192, reply=16_384).reply_limit == 2_048
    assert make_window(size=200_000, reply=16_384).reply_limit == 16_384


def test_the_price_table_has_the_window_of_a_known_model() -> None:
    if not has_price_table():
        pytest.skip("genai-prices is not installed")
    window = make_window(reply=16_384)
    window.model = "gpt-4o"
    assert window.find_threshold(2_000) == 160_000  # nothing is loaded for so few
    assert window.find_threshold(20_000) == 128_000 - 16_384 - 6_400


def test_a_refusal_says_how_much_the_model_can_read() -> None:
    window, messages = make_window(reply=1_000), make_conversation(*[20_000] * 4)
    assert window.record_refusal(messages, 32_000) == 32_000  # the estimate was too low
    assert window.find_threshold(0) == 32_000 - 1_000 - 1_600
    assert window.measure(messages) == 32_000


def test_after_a_refusal_without_a_number_the_conversation_stays_below_it() -> None:
    window, messages = make_window(), make_conversation(*[20_000] * 4)
    tokens = window.measure(messages)
    assert window.record_refusal(messages, None) == tokens
    assert window.find_threshold(0) == tokens * 3 // 4


def test_an_error_says_the_window_and_what_to_do() -> None:
    error = ModelError("answered 400: prompt is too long", "request", status=400, is_too_long=True)
    explained = make_window(size=8_192).explain_refusal(error)
    assert "the model's window of 8,192 tokens: answered 400" in explained
    assert explained.endswith("; write a shorter prompt, or choose a model with a larger window")
    assert "window: answered 400" in make_window().explain_refusal(error)
