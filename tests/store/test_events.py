from __future__ import annotations

import json

import pytest
from hypothesis import given

from cub.store.events import (
    MAX_LINE,
    Event,
    ReportedUsage,
    encode_event,
    get_usage,
)
from cub.store.jsonl import decode_record, encode_record
from cub.text import truncate_text
from cub.tokens import TokenUsage
from tests.examples import hardly_any_examples
from tests.store.events import ANY_EVENT, ended

FULL = ended(
    fail={"class": "checks_failed", "reason": "r" * 999},
    git={"base": "b", "files": [f"file-{n}" for n in range(99)], "ins": 3},
    checks=[
        {"cmd": "pytest", "items": [["k", "w" * 999, "m" * 999]] * 99, "tail": "t" * 9999}
        for _ in range(9)
    ],
    obs=["o" * 999] * 9,
    trailer={"summary": "s" * 999, "tried": ["t" * 999] * 9, "next": "n" * 999},
    stuck="s" * 1999,
    note="n" * 1999,
)


SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


@hardly_any_examples
@given(ANY_EVENT)
def test_no_event_makes_a_longer_line(event: Event) -> None:
    line = encode_event(event)
    assert len(line) + 1 <= MAX_LINE
    assert b"\n" not in line
    decode_record(line)


def test_a_usual_event_stays_as_it_is() -> None:
    event = ended(
        run="r", n=2, dur_s=1.5, ok=False, usd=None, tok={"in": 1}, obs=["a"],
        checks=[{"cmd": "c", "items": [["k", "w", "m"]], "tail": "t"}],
    )  # fmt: skip
    assert decode_record(encode_event(event)) == event


def test_long_texts_and_lists_are_cut() -> None:
    less = {"checks": FULL["checks"][:1], "git": {"files": ["f"] * 99}, "note": "", "stuck": ""}
    made = decode_record(encode_event({**FULL, **less}))
    assert "cut" not in made
    assert made["fail"]["reason"] == "r" * 299 + "…"
    assert len(made["git"]["files"]) == 30
    [check] = made["checks"]
    assert (len(check["items"]), len(check["tail"])) == (8, 1500)
    assert [len(text) for text in check["items"][0]] == [1, 160, 160]
    assert [len(text) for text in made["obs"]] == [200] * 6
    trailer = made["trailer"]
    assert (len(trailer["summary"]), len(trailer["tried"]), len(trailer["next"])) == (400, 5, 200)
    assert {len(text) for text in trailer["tried"]} == {160}
    words = {name: FULL[name] for name in ("stuck", "note")}
    assert decode_record(encode_event(words)) == {
        "stuck": "s" * 1499 + "…",
        "note": "n" * 1599 + "…",
    }


def test_what_is_worth_least_goes_first() -> None:
    made = decode_record(encode_event(FULL))
    assert made["cut"] is True
    assert made["fail"]["reason"] == "r" * 299 + "…"
    assert 0 < len(made["checks"]) < len(FULL["checks"])
    assert made["task"] == "t-1"


def test_of_an_event_that_can_t_be_cut_the_names_stay() -> None:
    odd = {**ended(task="\0" * 9999, run="r"), **{f"x{n}": "\0" * 999 for n in range(9)}}
    made = decode_record(encode_event(odd))
    assert made.keys() == {"ev", "ts", "task", "run", "v", "cut"}
    assert made["run"] == "r"


def test_of_an_event_with_a_large_part_the_texts_and_numbers_stay() -> None:
    large = {f"x{n}": n for n in range(900)}
    assert MAX_LINE < len(encode_record(large)) < 2 * MAX_LINE
    made = decode_record(encode_event({"ev": "x", "note": "mine", "n": 3, "large": large}))
    assert made == {"ev": "x", "note": "mine", "n": 3, "cut": True}


def test_numbers_that_json_can_t_say_are_none() -> None:
    assert decode_record(encode_event({"a": float("nan"), "b": [float("inf")]})) == {
        "a": None,
        "b": [None],
    }


@pytest.mark.parametrize(
    "event", [{"note": f"a {SECRET}"}, {"checks": [{"tail": ("x", f"a {SECRET}")}]}]
)
def test_secrets_are_masked_wherever_they_are(event: Event) -> None:
    line = encode_event(event)
    assert SECRET.encode() not in line
    assert b'"a ' in line


def test_a_secret_that_would_be_cut_is_masked_first() -> None:
    start = "x " * 800
    made = json.loads(encode_event({"note": start[: 1600 - len(SECRET) // 2] + SECRET}))
    assert "ghp_" not in made["note"]


def test_names_are_not_looked_at() -> None:
    event = {"ev": "attempt_end", "ts": "2026-01-01T00:00", "task": SECRET, "note": "short"}
    assert decode_record(encode_event(event)) == event


@pytest.mark.parametrize(("most", "text"), [(4, "abcd"), (3, "ab…"), (1, "…"), (0, "")])
def test_a_cut_text_says_so(most: int, text: str) -> None:
    assert truncate_text("abcd", most) == text


@pytest.mark.parametrize(
    ("facts", "usage"),
    [
        ({}, (None, None, False)),
        ({"tok": None, "usd": None, "usd_src": "none"}, (None, None, False)),
        ({"tok": dict.fromkeys(("in", "out"), 0)}, (None, None, False)),
        ({"tok": "7", "usd": float("nan"), "usd_src": "reported"}, (None, None, False)),
        ({"usd": 0.5}, (None, 0.5, False)),
        ({"usd": 0.0, "usd_src": "reported"}, (None, 0.0, False)),
        ({"usd": 0.5, "usd_src": "computed"}, (None, 0.5, True)),
    ],
)  # fmt: skip
def test_what_is_not_reported_is_none(facts: Event, usage: tuple[None, float | None, bool]) -> None:
    assert get_usage(facts) == usage
    assert get_usage(facts).token_count is None


def test_tokens_from_a_cache_are_not_new() -> None:
    usage = get_usage(
        {"tok": {"in": 10, "out": 2, "cache_read": 5, "total": 99, "cache_write": "x"}}
    )
    assert usage == ReportedUsage(TokenUsage(10, 2, 5, 0), None, is_estimated=False)
    assert usage.token_count == 12
