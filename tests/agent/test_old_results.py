from __future__ import annotations

from itertools import pairwise

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
)
from cub.agent.old_results import (
    CACHE_SECONDS,
    MAX_OLD_RESULT,
    RECENT_RESULTS,
    ResultCutter,
    bound_results,
    shorten_result,
)
from tests.agent.exchanges import (
    cut_old_results,
    list_results,
    make_conversation,
    make_turn,
    make_window,
)


def test_old_large_results_are_truncated_and_the_last_three_stay() -> None:
    large = MAX_OLD_RESULT + 1
    texts = list_results(cut_old_results(make_conversation(large, 5, large, large, large)))
    notice = f"[content truncated — {large} chars]"
    assert texts == [notice, "xxxxx", "x" * large, "x" * large, "x" * large]


def test_results_that_the_model_has_not_seen_stay() -> None:
    calls = [ToolCall(str(number), "Read", {}) for number in range(8)]
    results = [ToolResult(call.id, (TextBlock("x" * 20_000),)) for call in calls]
    messages = [Message("assistant", tuple(calls)), Message("user", tuple(results))]
    assert cut_old_results(messages) == messages
    messages += [Message("assistant", (TextBlock("I see."),))]
    assert cut_old_results(messages) == messages
    small = make_turn("small", *["x"] * RECENT_RESULTS)
    cut = list_results(cut_old_results([*messages[:-1], *small]))
    assert [len(text) for text in cut] == [33] * 8 + [1] * 3


def test_results_of_one_message_are_cut_together() -> None:
    """If only some were, the service would cache the others again."""
    turns = [make_turn(name, *["x" * 20_000] * 4) for name in ("a", "b")]
    messages = [message for turn in turns for message in turn]
    for count in range(RECENT_RESULTS + 1):
        cut = list_results(cut_old_results([*messages, *make_turn("c", *["y"] * count)]))
        large = [len(text) == 20_000 for text in cut[:8]]
        assert large == [False] * 4 + [count < RECENT_RESULTS] * 4


def test_rules_after_an_old_result_stay() -> None:
    messages = make_conversation(1, 1, 1, 1)
    texts = (TextBlock("x" * 20_000), TextBlock("the rules"))
    messages[2] = Message("user", (ToolResult("c0", texts),))
    notice = "[content truncated — 20000 chars]\nthe rules"
    assert list_results(cut_old_results(messages))[0] == notice


def test_an_old_image_is_truncated_too() -> None:
    image = ImageBlock("image/png", "A" * 20_000)
    messages = make_conversation(1, 1, 1, 1)
    messages[2] = Message("user", (ToolResult("c0", (image,)),))
    assert list_results(cut_old_results(messages))[0] == "[content truncated — 20000 chars]"


@given(st.lists(st.integers(0, 30_000), max_size=8))
def test_truncation_touches_nothing_else(sizes: list[int]) -> None:
    messages = make_conversation(*sizes)
    shortened = cut_old_results(messages)
    assert cut_old_results(shortened) == shortened
    assert len(shortened) == len(messages)
    assert make_window().estimate(shortened) <= make_window().estimate(messages)
    results = zip(list_results(messages), list_results(shortened), strict=True)
    changed = [number for number, (old, new) in enumerate(results) if old != new]
    assert changed == [n for n, size in enumerate(sizes[:-RECENT_RESULTS]) if size > MAX_OLD_RESULT]


class Clock:
    """Says how many seconds have passed, as a test has it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def list_cuts(*sizes: int, at_once: bool = False) -> list[int]:
    """How many results are cut after each turn of a session whose calls have these results."""
    cutter, window = ResultCutter(Clock()), make_window()
    messages, counts = make_conversation(), list[int]()
    cutter.prepare_messages(messages)
    for number in range(1, len(sizes) + 1):
        messages += make_conversation(*sizes[:number])[-2:]
        messages = cutter.cut(messages, window, at_once=at_once)
        counts.append(sum("truncated" in text for text in list_results(messages)))
        cutter.prepare_messages(messages)
    return counts


def test_results_of_equal_size_are_cut_in_batches() -> None:
    counts = list_cuts(*[12_000] * 20)
    batches = sorted({*counts})
    assert batches[0] == 0
    assert 3 <= len(batches) <= 6
    assert min(b - a for a, b in pairwise(batches)) >= 3


def test_a_large_result_between_small_ones_is_cut_as_soon_as_it_is_old() -> None:
    assert list_cuts(60_000, 400, 400, 400, 400) == [0, 0, 0, 1, 1]


def test_what_must_be_cut_is_not_cut_in_batches() -> None:
    assert list_cuts(*[12_000] * 6, at_once=True) == [0, 0, 0, 1, 2, 3]


def test_small_results_are_never_cut() -> None:
    assert list_cuts(*[MAX_OLD_RESULT] * 30) == [0] * 30


def test_a_cut_is_free_once_the_service_has_forgotten_the_conversation() -> None:
    clock = Clock()
    messages = make_conversation(*[12_000] * 5)
    resumed = ResultCutter(clock)
    assert resumed.cut(messages, make_window()) == cut_old_results(messages)
    cutter = ResultCutter(clock)
    cutter.prepare_messages(messages)
    assert cutter.cut(messages, make_window()) is messages
    clock.seconds = CACHE_SECONDS + 1
    assert cutter.cut(messages, make_window()) == cut_old_results(messages)


def test_the_cache_ends_where_the_next_request_begins_to_differ() -> None:
    cutter, window = ResultCutter(), make_window()
    messages = make_conversation(5, 5)
    assert cutter.prepare_messages(messages)[1] == [4]  # nothing was sent, or can be cut
    messages += make_turn("a", *["x" * 20_000] * 4)
    assert cutter.prepare_messages(messages)[1] == [4, 5]  # what was sent, and up to the calls
    messages += make_turn("b", "x", "x", "x")
    cut = cutter.cut(messages, window)
    assert cut != messages
    assert cutter.prepare_messages(cut)[1] == [5, 8]


def test_reasoning_is_dropped_from_the_first_change_on() -> None:
    thought = ReasoningBlock("claude", "", {"type": "thinking"})
    turns = [make_turn(name, "x" * 20_000) for name in "abc"]
    replies = [Message("assistant", (thought, *reply.blocks)) for reply, _ in turns]
    messages = [
        message for reply, turn in zip(replies, turns, strict=True) for message in (reply, turn[1])
    ]
    cutter = ResultCutter()
    assert cutter.prepare_messages(messages[:-2])[0] == messages[:-2]
    assert cutter.prepare_messages(messages)[0] == messages
    shorter = [messages[0], *cut_old_results(messages * 2)[1:6]]
    kept, _ = cutter.prepare_messages(shorter)
    assert kept[:2] == shorter[:2]
    assert [len(reply.blocks) for reply in kept[::2]] == [2, 1, 1]


def make_results(*sizes: int) -> Message:
    results = (ToolResult(str(n), (TextBlock("word " * size),)) for n, size in enumerate(sizes))
    return Message("user", tuple(results))


@given(st.lists(st.integers(1, 30_000), min_size=1, max_size=9), st.integers(0, 200_000))
@settings(max_examples=30)
def test_the_results_of_a_turn_are_bounded_together(sizes: list[int], before: int) -> None:
    window, message = make_window(), make_results(*sizes)
    bounded = bound_results(message, before, window)
    limit = window.limit_results(before, sum(sizes))
    assert 40_000 <= limit <= 80_000
    total = sum(map(window.estimate_block, bounded.results))
    assert total <= limit + 60 * len(sizes)  # and the notices
    if sum(sizes) <= limit:
        assert bounded == message
    assert [result.call_id for result in bounded.results] == [
        result.call_id for result in message.results
    ]


def test_the_longest_results_of_a_turn_are_cut_and_the_model_is_told() -> None:
    message = make_results(100, 90_000, 20_000, 90_000)
    bounded = bound_results(message, 0, make_window())
    whole = [a == b for a, b in zip(bounded.results, message.results, strict=True)]
    assert whole == [True, False, True, False]
    text = bounded.results[1].text
    assert "characters left out …" in text
    assert text.endswith("ask for the rest in smaller parts]")


def test_a_result_that_was_shortened_is_not_shortened_again() -> None:
    image = ImageBlock("image/png", "A" * 20_000)
    result = ToolResult("1", (TextBlock("x" * 9_000), image, TextBlock("the rules")))
    shorter = shorten_result(result, 2_000)
    assert len(shorter.text) < 2_200
    assert shorter.content[1:] == result.content[1:]
    assert shorten_result(shorter, 2_000) == shorter


@pytest.mark.parametrize("size", [8_192, 32_768])
def test_results_leave_room_in_a_small_window(size: int) -> None:
    window = make_window(size=size, reply=16_384)
    bounded = bound_results(make_results(*[25_000] * 8), 0, window)
    assert window.estimate([bounded]) <= size // 2
