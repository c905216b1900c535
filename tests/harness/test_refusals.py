# ruff: noqa: E501, Q003, RUF001 - messages stand here as clients print them
from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.harness.refusals import find_refusal
from cub.harness.reset_times import find_reset_time
from tests.examples import few_examples

NOW = datetime(2026, 10, 7, 12, 0, tzinfo=UTC)  # a Wednesday
HERE = timezone(timedelta(hours=2))

GEMINI_429 = """Attempt 1 failed with status 429. Retrying with backoff... GaxiosError: [{
  "error": {
    "code": 429,
    "message": "Quota exceeded for quota metric 'Requests' and limit 'Requests per minute'",
    "status": "RESOURCE_EXHAUSTED",
    "details": [
      {
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": "37s"
      }
    ]
  }
}
]
    at Gaxios._request (file:///x/gaxios.js:142:23)"""
OPENAI_QUOTA = (
    "litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, "
    "please check your plan and billing details. For more information on this error, read the "
    "docs: https://platform.openai.com/docs/guides/error-codes/api-errors."
)
GEMINI_QUOTA = (
    'litellm.RateLimitError: VertexAIException - b\'{\\n  "error": {\\n    "code": 429,\\n '
    '"message": "You exceeded your current quota, please check your plan and billing details. '
    "For more information: https://ai.google.dev/gemini-api/docs/rate-limits. Please retry in "
    '37.5s.",\\n "status": "RESOURCE_EXHAUSTED"\\n  }\\n}\\n\''
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


LIMITS = [
    ("Claude AI usage limit reached|1791378000", at("2026-10-07 13:00")),
    ("Claude usage limit reached. Your limit will reset at 3pm (America/Santiago).", at("2026-10-07 18:00")),
    ("Claude usage limit reached. Your limit will reset \n     at 3pm (America/Santiago).", at("2026-10-07 18:00")),
    ("You've hit your limit · resets 3pm (Europe/Berlin)", at("2026-10-07 13:00")),
    ("You've hit your limit · resets 2am (Europe/Berlin)", at("2026-10-08 00:00")),
    ("⎿  You've hit your limit · resets Oct 16, 11am (Europe/Berlin)", at("2026-10-16 09:00")),
    ("You've hit your weekly limit · resets Oct 9 at 5pm (UTC)", at("2026-10-09 17:00")),
    ("You've hit your weekly limit · resets Oct 9 at 5pm", at("2026-10-09 15:00")),
    ("You’ve hit your session limit · resets 1:40pm (Europe/Paris)", at("2026-10-08 11:40")),
    ("You've hit your session limit · resets 3:20pm (Nowhere/Atlantis)", at("2026-10-07 13:20")),
    ("5-hour limit reached ∙ resets 6pm", at("2026-10-07 16:00")),
    ("Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max or turn on /extra-usage", at("2026-10-08 01:00")),
    ("Limit reached · resets Thu 9am (UTC)", at("2026-10-08 09:00")),
    ("API Error: Request rejected (429) · this may be a temporary capacity issue.", None),
    ('API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account\'s rate limit. Please try again later."},"request_id":"req_1"}', None),
    ('API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', None),
    ("API Error: Repeated 529 Overloaded errors", None),
    ("■ You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 3 days 4 hours 5 minutes.", at("2026-10-10 16:05")),
    ("ERROR: You've hit your usage limit. Upgrade to Pro (https://x) or try again in 5 days 22 hours 11\nminutes.", at("2026-10-13 10:11")),
    ("You've hit your usage limit. Upgrade to Plus, or try again at Oct 11th, 2026 1:36 PM.", at("2026-10-11 11:36")),
    ("You've hit your usage limit. Visit https://x to purchase more credits or try again at 3:28 PM.", at("2026-10-07 13:28")),
    ("You've hit your usage limit. Try again Oct 18.", at("2026-10-17 22:00")),
    ("stream error: stream disconnected before completion: Rate limit reached for gpt-5-codex in organization org-x on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 1.898s. Visit https://x to learn more.", NOW + timedelta(seconds=1.898)),
    ("Rate limit reached for gpt-5 in organization org-x on requests. Please try again in 20ms.", NOW + timedelta(milliseconds=20)),
    ("Rate limit reached for gpt-5 in organization org-x on requests. Please try again in 6m0s.", NOW + timedelta(minutes=6)),
    ("■ stream disconnected before completion: Rate limit is exceeded. Try again in 11 seconds.", NOW + timedelta(seconds=11)),
    ("exceeded retry limit, last status: 429 Too Many Requests, request id: abc", None),
    ("unexpected status 429 Too Many Requests: slow down, url: http://x", None),
    ("[API Error: You have exhausted your capacity on this model. Your quota will reset after 2h52m39s.]", NOW + timedelta(hours=2, minutes=52, seconds=39)),
    ("TerminalQuotaError: You have exhausted your daily quota on this model.", None),
    (GEMINI_429, NOW + timedelta(seconds=37)),
    (GEMINI_QUOTA, NOW + timedelta(seconds=37.5)),
    ('[API Error: {"error":{"message":"{\\n \\"error\\": {\\n \\"code\\": 429,\\n \\"status\\": \\"RESOURCE_EXHAUSTED\\",\\n \\"details\\": [{\\"retryDelay\\": \\"5s\\"}]}}","code":429,"status":"Too Many Requests"}}]', NOW + timedelta(seconds=5)),
    ("[API Error: Resource has been exhausted (e.g. check quota).]", None),
    ("litellm.RateLimitError: AnthropicException - b'{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}'", None),
    ("The API provider has rate limited you. Try again later or check your quotas.\nRetrying in 4.0 seconds...", None),
    ("Error: 429 Too Many Requests\nretry-after: 30", NOW + timedelta(seconds=30)),
    ("Error: 429 Too Many Requests\nretry-after-ms: 1500", NOW + timedelta(seconds=1.5)),
    ("Error: 429 Too Many Requests\nRetry-After: Wed, 07 Oct 2026 12:07:00 GMT", at("2026-10-07 12:07")),
    ("x-ratelimit-reset-tokens: 6m0s\nError code: 429 - {'error': {'message': 'slow'}}", NOW + timedelta(minutes=6)),
    ("Error code: 429 - {'error': {'message': 'slow'}}\nx-ratelimit-reset: 1791378000", at("2026-10-07 13:00")),
    ("Error code: 429 - {'error': {}}\nanthropic-ratelimit-requests-reset: 2026-10-07T12:30:00Z", at("2026-10-07 12:30")),
    ("Error: OpenAI API error (429): {\"code\":\"rate_limit_exceeded\",\"message\":\"Please retry after a brief wait.\"}", None),
    ("Error from provider (Console): Rate limit exceeded. Please try again later.", None),
    ("HTTP 429: Error from provider (Console Go): Provider rate limit exceeded", None),
    ("Error: The usage limit has been reached", None),
    ("2026-10-07T11:59:59.1Z ERROR codex_core: Selected model is at capacity. Please try a different model.", None),
    ("\x1b[31mYou've hit your limit · resets 3pm (UTC)\x1b[0m", at("2026-10-07 15:00")),
    ("Claude AI usage limit reached|1700000000", NOW),
]  # fmt: skip

LOGINS = [
    "Invalid API key · Please run /login",
    "Invalid API key · Fix external API key",
    'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired."}} · Please run /login',
    "Please run /login · API Error: 401 OAuth token has expired.",
    "Failed to authenticate. API Error: 401 Invalid authentication credentials",
    "Credit balance is too low",
    "Not logged in · Please run /login",
    "unexpected status 401 Unauthorized: fake failure, url: http://127.0.0.1:44977/v1/responses",
    "Reconnecting... 5/5 (unexpected status 401 Unauthorized: fake failure, url: http://x)",
    "ERROR: Quota exceeded. Check your plan and billing details.",
    "Your access token could not be refreshed because your refresh token was revoked.",
    '[API Error: {"error":{"code":401,"message":"fake failure","status":"UNAUTHENTICATED"}}]',
    "[API Error: API key not valid. Please pass a valid API key.]",
    "Please set an Auth method in your /home/x/.gemini/settings.json or specify one of these",
    "litellm.AuthenticationError: AuthenticationError: OpenAIException - fake failure",
    "The API provider is not able to authenticate you. Check your API key.",
    OPENAI_QUOTA,
    "Error code: 429 - {'error': {'message': 'You exceeded', 'type': 'insufficient_quota'}}",
    "Error: 401 Unauthorized",
    "invalid x-api-key",
    "Error: Incorrect API key provided: sk-x. You can find your API key at https://x.",
]

PROSE = [
    "I added a test for HTTP 429 and one for a 401.",
    "Added a test for HTTP 429.",
    "- HTTP 429: retried with a growing pause",
    "- Rate limit exceeded: the client waits and retries",
    "1. Rate limit exceeded errors are retried now",
    "The server returns 429 Too Many Requests when the limit is reached.",
    "When the API says \"Rate limit exceeded\", we wait for retry-after: 30 seconds.",
    "It raises AuthenticationError for a wrong password.",
    "The error is now: You've hit your usage limit.",
    "Invalid API key handling is covered by tests.",
    "Unauthorized requests get a 401 from the new middleware.",
    "Rate limit handling is done; too many requests are refused.",
    "Usage limit reached handling works in both clients.",
    "Status: done\nSummary: rate limit exceeded errors carry a hint now",
    "Status: 429 is mapped to a retry",
    "Done. HTTP 401 and 403 are errors of their own.",
    "I got `litellm.RateLimitError: slow down` in the log and fixed it.",
    "The fixture has this:\n```json\n{\"type\": \"error\", \"error\": {\"type\": \"rate_limit_error\"}}\n```\nAll pass.",
    "```\nAPI Error: 429 {\"type\":\"error\"}\n```",
    "429 tests pass, 3 fail.",
    "429",
    "Unauthorized: a stranger gets the login page",
    "Not logged in: shows the start page",
    "Too many requests - the middleware counts them",
    "API Error: 429 is mapped to a retry now",
    "Error handling: Rate limit exceeded responses carry a hint",
    "## Rate limit exceeded",
    "| 429 | rate limit exceeded |",
    "Fixed: Error: 429 Too Many Requests",
    "401\n",
    "Forbidden: 403 is what strangers get",
    "error: the code 429 is unknown",
    "Error 404: not found",
    "Error: line 429: unexpected token",
    "error: 429 tests failed",
    "src/a.py:401: error: Name \"x\" is not defined",
    "FAILED tests/test_limits.py::test_429 - AssertionError: 401 != 200",
    "",
    "Tokens: 2.6k sent, 3 received. Cost: $0.0065 message, $0.0065 session.",
    "You can log in with the demo account now.",
    "The quota exceeded message names the plan.",
    "Please retry in 37.5s is what it says.",
]  # fmt: skip


@pytest.mark.parametrize(("text", "until"), LIMITS)
def test_a_limit_is_known_and_its_end(text: str, until: datetime | None) -> None:
    found = find_refusal(text, NOW, HERE)
    assert found is not None
    assert (found.kind, found.reset_time) == ("limit", until)


@pytest.mark.parametrize("text", LOGINS)
def test_a_missing_login_is_known(text: str) -> None:
    found = find_refusal(text, NOW, HERE)
    assert found is not None
    assert (found.kind, found.reset_time) == ("login", None)
    assert found.message == text


@pytest.mark.parametrize("text", PROSE)
def test_talk_about_errors_is_no_refusal(text: str) -> None:
    assert find_refusal(text, NOW, HERE) is None


def test_the_last_word_counts() -> None:
    limit, login = "You've hit your limit · resets 3pm (UTC)", "Invalid API key · Please run /login"
    first, second = (find_refusal(f"{a}\n{b}", NOW) for a, b in ((limit, login), (login, limit)))
    assert first is not None
    assert second is not None
    assert (first.kind, second.kind) == ("login", "limit")


def test_an_error_below_a_fence_that_nothing_closed_counts() -> None:
    assert find_refusal("```\nx = 1\nAPI Error: 429 Too Many Requests", NOW) is not None


def test_words_are_one_line_of_some_length() -> None:
    found = find_refusal("\n\nError: 429 Too Many Requests " + "x" * 5000 + "\nat a.js", NOW)
    assert found is not None
    assert len(found.message) == 300
    assert "\n" not in found.message


@pytest.mark.parametrize(
    ("text", "now", "until"),
    [
        ("resets 3pm", NOW.astimezone(ZoneInfo("Asia/Tokyo")), "2026-10-07 13:00"),
        ("resets 12am (UTC)", NOW, "2026-10-08 00:00"),
        ("resets 12pm (UTC)", NOW, "2026-10-08 12:00"),
        ("resets 12:30pm (UTC)", NOW, "2026-10-07 12:30"),
        ("will reset at 15:00 UTC", NOW, "2026-10-07 15:00"),
        ("resets Jan 2 at 9am (UTC)", at("2026-12-30 10:00"), "2027-01-02 09:00"),
        ("resets Oct 1 at 9am (UTC)", NOW, "2026-10-07 12:00"),
        ("resets Wed 9am (UTC)", NOW, "2026-10-14 09:00"),
        ("try again after September 6, 2027, 11:15", NOW, "2027-09-06 09:15"),
        (
            "resets 2:30am (Europe/Berlin)",
            at("2026-03-28 12:00"),
            "2026-03-29 01:30",
        ),  # there is no such time that night
        ("try again in ~90 min.", NOW, "2026-10-07 13:30"),
        ("try again in 1 day, 2 hours and 3 minutes", NOW, "2026-10-08 14:03"),
        ('"quotaResetTimeStamp":"2026-10-07T19:14:08Z"', NOW, "2026-10-07 19:14:08"),
        ('\\"resets_at\\": 1791378000', NOW, "2026-10-07 13:00"),
        ("limit|1791378000000", NOW, "2026-10-07 13:00"),
    ],
)
def test_the_forms_of_times(text: str, now: datetime, until: str) -> None:
    assert find_reset_time(text, now, HERE) == at(until)


@pytest.mark.parametrize(
    "text",
    ["", "resets 25:00", "resets 13pm", "resets Feb 30 at 5pm", "try again in 99999 days", "resets",
     "again and again", "resets 5", "until 9999-99-99 00:00", "try again later"],
)  # fmt: skip
def test_what_is_no_time(text: str) -> None:
    assert find_reset_time(text, NOW, HERE) is None


def test_without_a_zone_the_machines_own_counts() -> None:
    found = find_reset_time("resets 3:00pm", NOW)
    assert found is not None
    assert (found.astimezone().hour, found.astimezone().minute) == (15, 0)


WORDS = st.sampled_from(
    [*"\n\0\x1b\r`~:(|{\"' .-", "error", "429", "API Error: ", "resets ", "Oct 9", " at ", "3pm",
     "try again in ", "9" * 30, "retry-after: ", "```", "limit reached", "2026-10-07T12:00", "()",
     "resets Oct 9 at 3pm (UTC)", "resets Oct 1 at 9am (UTC)", "try again in 5 min", "resets Wed 9am"]
)  # fmt: skip


@few_examples
@given(st.lists(WORDS | st.text(max_size=5), max_size=60).map("".join))
def test_no_text_is_an_error(text: str) -> None:
    find_refusal(text, NOW)
    found = find_reset_time(text, NOW)
    assert found is None or found >= NOW


@pytest.mark.parametrize(
    "part",
    ["a", " ", "\n", "`", "```\n", "error: ", "(", "{", '"', "\\", "429 ", "resets ", "1h ", "9",
     "try again in 1h ", "2026-10-07T", "\x1b[", "\r", "retry-after", "Error: 429 (", "you have "],
)  # fmt: skip
def test_long_texts_take_no_long_time(part: str) -> None:
    started = time.process_time()
    find_refusal(part * (400_000 // len(part)), NOW)
    assert time.process_time() - started < 2
