"""What an agent reports of limits, logins and its service."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cub.harness.base import AgentEvent, Transcript
from cub.harness.refusals import RefusalKind
from cub.harness.reported_refusals import (
    classify_api_error,
    find_refusal_in_output,
    find_reported_refusal,
)

NOW = datetime(2026, 10, 7, 12, 0, tzinfo=UTC)


def heard(*events: AgentEvent) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.add_event(event)
    return transcript


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


def test_a_reported_refusal_counts_whatever_its_words_are() -> None:
    found = find_reported_refusal(heard(AgentEvent("limit", "come back\nsome day")), NOW)
    assert found == ("limit", None, "come back some day")
    found = find_reported_refusal(heard(AgentEvent("service", "")), NOW)
    assert found == ("service", None, "")
    found = find_reported_refusal(heard(AgentEvent("login", "Please run /login")), NOW)
    assert found == ("login", None, "Please run /login")


def test_a_limit_has_the_time_that_its_words_name() -> None:
    found = find_reported_refusal(heard(AgentEvent("limit", "Suggested retry after 3600s.")), NOW)
    assert found
    assert found.reset_time == NOW + timedelta(hours=1)


def test_a_limit_that_only_money_ends_is_a_matter_of_the_login() -> None:
    text = "You exceeded your current quota: see https://platform.openai.com/account"
    found = find_reported_refusal(heard(AgentEvent("limit", text)), NOW)
    assert found
    assert found.kind == "login"


def test_of_an_unknown_agent_the_last_lines_are_searched_as_well() -> None:
    assert find_refusal_in_output(heard(), "API Error: 429 Too Many Requests", NOW)
    said = heard(AgentEvent("result", "Invalid API key", failed=True))
    found = find_refusal_in_output(said, "", NOW)
    assert found
    assert found.kind == "login"
    assert find_refusal_in_output(heard(), "psql: connection refused", NOW) is None
