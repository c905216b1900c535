"""What an agent reports of limits, logins and its service."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cub.harness.base import AgentEvent, EventKind
from cub.harness.refusals import Refusal, RefusalKind
from cub.harness.reported_refusals import (
    classify_api_error,
    find_refusal_in_output,
    find_reported_refusal,
)
from tests.harness.agent_streams import NOW, collect_events

MONEY = "You exceeded your current quota: see https://platform.openai.com/account"


@pytest.mark.parametrize(
    ("text", "status", "kind"),
    [
        ("slow down", 429, "limit"),
        ("Overloaded", 529, "limit"),
        ("no", 401, "login"),
        ("pay first", 402, "login"),
        ("oops", 500, "service"),
        ("", 503, "service"),
        ("model not found", 404, "setup"),
        ("prompt is too long: 250000 tokens > 200000 maximum", 400, "setup"),
        ("Your credit balance is too low", 400, "login"),
        ("<!DOCTYPE html><html><title>Sign in", 403, "service"),
        ("malformed response (HTTP 200), body is an HTML page", None, "service"),
        ("error: unknown option '--nope'", None, "setup"),
        ("the task is odd", None, None),
        ("Rate limit reached for gpt-5 in organization org-1", None, "limit"),
        ("exceeded retry limit, last status: 429 Too Many Requests", None, "limit"),
        ("API Error: 401 Invalid authentication credentials", None, "login"),
        ("Missing environment variable: `OPENAI_API_KEY`.", None, "login"),
        ("unexpected status 500 Internal Server Error: oops", None, "service"),
        ("Unable to connect to API (ECONNREFUSED)", None, "service"),
        ("can't reach the model server at http://127.0.0.1:11434/v1", None, "service"),
        ("error sending request for url (http://127.0.0.1:1/v1)", None, "service"),
        ("The model `gpt-9` does not exist", None, "setup"),
        ("maximum context length is 8192 tokens", None, "setup"),
    ],
)
def test_the_status_decides_or_else_the_words(
    text: str, status: int | None, kind: RefusalKind | None
) -> None:
    assert classify_api_error(text, status) == kind


@pytest.mark.parametrize(
    ("kind", "text", "refusal"),
    [
        ("limit", "come back\nsome day", ("limit", None, "come back some day")),
        ("service", "", ("service", None, "")),
        ("login", "Please run /login", ("login", None, "Please run /login")),
        ("limit", "Retry after 3600s.", ("limit", NOW + timedelta(hours=1), "Retry after 3600s.")),
        ("limit", MONEY, ("login", None, MONEY)),
    ],
    ids=["any words", "no words", "a login", "with its time", "only money ends it"],
)
def test_a_reported_refusal_counts_with_the_time_that_its_words_name(
    kind: EventKind, text: str, refusal: Refusal
) -> None:
    assert find_reported_refusal(collect_events(AgentEvent(kind, text)), NOW) == refusal


def test_of_an_unknown_agent_the_last_lines_are_searched_as_well() -> None:
    assert find_refusal_in_output(collect_events(), "API Error: 429 Too Many Requests", NOW)
    said = collect_events(AgentEvent("result", "Invalid API key", failed=True))
    assert find_refusal_in_output(said, "", NOW) == ("login", None, "Invalid API key")
    assert find_refusal_in_output(collect_events(), "psql: connection refused", NOW) is None
