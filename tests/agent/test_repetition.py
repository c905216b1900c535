from __future__ import annotations

import pytest

from cub.agent.conversation import TextBlock, ToolCall, ToolResult
from cub.agent.repetition import MAX_REPEATS, WAIT_SECONDS, WARNED_REPEATS, RepetitionCounter


def play(counter: RepetitionCounter, *pairs: tuple[str, str], seconds: float = 0.0) -> str:
    """A turn whose calls are these words, with their results; what the model is told."""
    calls = [ToolCall(word, "Bash", {"command": word}) for word, _ in pairs]
    results = [ToolResult(word, (TextBlock(text),)) for word, text in pairs]
    return counter.count_calls(calls, results, seconds)


def test_the_model_is_told_at_the_third_time_and_the_session_ends_at_the_fifth() -> None:
    counter = RepetitionCounter()
    told, ends = [], []
    for _ in range(5):
        told.append(play(counter, ("make", "error")))
        ends.append(counter.explain_end())
    assert (WARNED_REPEATS, MAX_REPEATS) == (3, 5)
    assert [bool(note) for note in told] == [False, False, True, False, False]
    assert told[2].startswith("You have called Bash 3 times with the same arguments")
    assert ends == [*[""] * 4, "Bash was called 5 times with the same result"]


def test_a_circle_of_calls_is_told_once() -> None:
    counter = RepetitionCounter()
    told = [play(counter, (word, "x")) for _ in range(4) for word in "abcd"]
    assert sum(map(bool, told)) == 1
    assert not counter.explain_end()
    assert play(counter, ("a", "x")) == ""
    assert counter.explain_end()


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([(("cat s", f"{n} %"),) for n in range(9)], id="the result differs"),
        pytest.param([(("cat s", "x"), (f"ls {n}", "y")) for n in range(9)], id="another is new"),
    ],
)
def test_what_brings_news_is_no_repetition(turns: list[tuple[tuple[str, str], ...]]) -> None:
    counter = RepetitionCounter()
    assert not any(play(counter, *turn) for turn in turns)
    assert not counter.explain_end()


def test_a_call_that_waits_may_be_repeated() -> None:
    counter = RepetitionCounter()
    for _ in range(9):
        assert play(counter, ("sleep 30; cat status", "running"), seconds=WAIT_SECONDS) == ""
    for _ in range(9):  # and one that looks after each wait
        play(counter, ("sleep 30", "(no output)"), seconds=WAIT_SECONDS)
        play(counter, ("cat status", "running"))
    assert not counter.explain_end()


def test_after_something_new_the_model_is_told_again() -> None:
    counter = RepetitionCounter()
    told = [play(counter, (word, "x")) for word in ("a", "a", "a", "b", "a", "a", "a")]
    assert [bool(note) for note in told] == [False, False, True, False, False, True, False]


def test_forgotten_calls_are_new() -> None:
    counter = RepetitionCounter()
    for _ in range(4):
        play(counter, ("a", "x"))
    counter.clear()
    assert [play(counter, ("a", "x")) for _ in range(2)] == ["", ""]
    assert not counter.explain_end()


def test_a_call_that_one_reply_has_several_times_counts_once() -> None:
    """The model can't have been told in between."""
    counter = RepetitionCounter()
    told = [play(counter, *[("ls", "x")] * 6) for _ in range(3)]
    assert [bool(note) for note in told] == [False, False, True]
    assert not counter.explain_end()
