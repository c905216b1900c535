from __future__ import annotations

from typing import Any

import pytest

from cub.harness.acp.turn_failure import (
    TurnFailure,
    make_failure,
    read_error,
    read_retry,
    read_stop,
)

GEMINI_401 = '{"error":{"code":401,"message":"Invalid API key","status":"UNAUTHENTICATED"}}'


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ({"code": -32000, "message": "Sign in"}, "login", "Sign in"),
        ({"code": 400, "message": GEMINI_401}, "login", GEMINI_401),
        ({"code": 500, "message": "no"}, "service", "no"),
        ({"code": 500, "message": "models/x is not found"}, "setup", "models/x is not found"),
        ({"code": 503, "message": ""}, "service", "session/prompt: error 503"),
        ({"code": -32603, "message": "Internal error: API Error: 529 Overloaded",
          "data": {"errorKind": "overloaded"}}, "limit", "API Error: 529 Overloaded"),
        ({"code": -32603, "message": "Internal error", "data": {"details": "fetch failed"}},
         "service", "Internal error: fetch failed"),
        ({"code": -32603, "message": "Internal error", "data": "Invalid API key"},
         "login", "Internal error: Invalid API key"),
        ({"code": -32603, "message": "a", "data": {"message": "a"}}, "", "a"),
        ({"code": -32603, "message": "x", "data": {"errorKind": "no_result"}}, "", "x"),
        ({"code": -32603, "message": "x", "data": {"errorKind": "server_error"}}, "service", "x"),
        ({"code": 429, "message": "Suggested retry after 3600s."}, "limit",
         "Suggested retry after 3600s."),
        ({"code": -32601, "message": "network"}, "", "session/prompt: network (-32601)"),
        ({"code": -32603, "message": "x", "data":
          {"codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": 429}}}}, "limit", "x"),
        ({}, "", "session/prompt: error None"),
    ],
)  # fmt: skip
def test_an_error_is_told_by_its_codes_first(error: dict[str, Any], kind: str, words: str) -> None:
    assert read_error(error, "session/prompt") == TurnFailure(kind, words)


def test_a_retry_is_the_services_unless_its_status_says_more() -> None:
    def retry(status: int | None) -> str:
        info = {"responseTooManyFailedAttempts": {"httpStatusCode": status}}
        return read_retry({"message": "Reconnecting 1/5", "codexErrorInfo": info}).kind

    assert [retry(429), retry(401), retry(500), retry(None)] == [
        "limit", "login", "service", "service",
    ]  # fmt: skip
    assert read_retry({"codexErrorInfo": "unauthorized"}).kind == "service"


def test_an_agent_that_gave_up_tells_why_in_its_words() -> None:
    assert make_failure("Missing environment variable: `KEY`.").kind == "login"
    assert make_failure("high demand").kind == "service"


@pytest.mark.parametrize(
    ("reason", "said", "has_worked", "is_unused", "words"),
    [
        ("end_turn", "Done.", False, False, None),
        ("end_turn", "", True, False, None),
        ("end_turn", "", True, True, None),
        (
            "end_turn",
            "",
            False,
            False,
            "the agent ended its turn without a word and without a tool",
        ),
        ("end_turn", "No key", False, True, "No key"),
        ("refusal", "No.", True, False, "No."),
        ("max_tokens", "", True, False, "the model's reply was cut at its limit of tokens"),
        (
            "max_turn_requests",
            "",
            True,
            False,
            "the agent used up its requests to the model in one turn",
        ),
        ("cancelled", "", True, False, "the agent cancelled its turn"),
        ("", "", False, False, "the agent stopped for the reason ''"),
    ],
)
def test_the_end_of_a_turn_needs_work_or_words(
    reason: str, said: str, has_worked: bool, is_unused: bool, words: str | None
) -> None:
    failure = read_stop(reason, said=said, has_worked=has_worked, is_unused=is_unused)
    assert (failure.words if failure else None) == words
