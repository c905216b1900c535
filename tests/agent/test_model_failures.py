"""What services say when they do not answer, and when they want to be asked again."""

from __future__ import annotations

import json

import pytest

from cub.agent.model import ModelEndpoint
from cub.agent.model_failures import explain_error, parse_retry_after

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("7", 7), ("1.5", 1.5), ("-3", 0), ("", None), ("soon", None), ("inf", None),
     ("nan", None), ("Tue, 14 Nov 2023 22:14:00 GMT", 40), ("Tue, 14 Nov 2023 22:13:00 GMT", 0),
     ("Tue, 99 Nov 2023 22:14:00 GMT", None)],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert parse_retry_after({"retry-after": value}, NOW) == seconds


def test_a_service_may_not_say_when() -> None:
    assert parse_retry_after({}, NOW) is None


def test_milliseconds_come_first() -> None:
    headers = {"retry-after": "7", "retry-after-ms": "1500"}
    assert parse_retry_after(headers, NOW) == 1.5
    assert parse_retry_after({**headers, "retry-after-ms": "soon"}, NOW) == 7


ENDPOINT = ModelEndpoint("m", "http://127.0.0.1:1")
TOO_LONG = [
    # Anthropic, OpenAI and others, Gemini
    ("prompt is too long: 213462 tokens > 200000 maximum", 200_000),
    ("input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000", 200_000),
    ("This model's maximum context length is 128000 tokens. However, you requested 9", 128_000),
    ("Your input exceeds the context window of this model. Please adjust it.", None),
    ("Input tokens exceed the configured limit of 272000 tokens. Yours are 300000.", 272_000),
    ("The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
     1_048_575),
    ("The input token count exceeds the maximum number of tokens allowed 1048576.", 1_048_576),
    # llama.cpp, vLLM, Ollama, LM Studio, SGLang, TGI
    ("the request exceeds the available context size, try increasing it", None),
    ("request (5021 tokens) exceeds the available context size (4096 tokens)", 4_096),
    ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4_096),
    ("prompt too long; exceeded max context length by 4 tokens", None),
    ("the input length exceeds the context length", None),
    ("The number of tokens to keep from the initial prompt is greater than the context length",
     None),
    ("the model is loaded with context length of only 4096 tokens, when context overflows",
     4_096),
    ("Reached context length of 4096 tokens with this model, but context overflow is off", 4_096),
    ("Context size has been exceeded.", None),
    ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4_096),
    ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", 4_096),
    # xAI, Mistral, Bedrock, Kimi, MiniMax, Copilot, Z.ai
    ("This model's maximum prompt length is 131072 but the request has 537812", 131_072),
    ("Prompt contains 34000 tokens, too large for model with 32768 maximum context", 32_768),
    ("Input is too long for requested model.", None),
    ("Your request exceeded model token limit: 262144 (requested: 300000)", 262_144),
    ("invalid params, context window exceeds limit (2013)", None),
    ("prompt token count of 140000 exceeds the limit of 128000", 128_000),
    ("Prompt exceeds max length", None),
    ("context limit of 1,000,000 tokens exceeded", 1_000_000),
]  # fmt: skip


@pytest.mark.parametrize(("message", "window"), TOO_LONG)
def test_a_request_that_is_too_long_is_known_by_its_message(
    message: str, window: int | None
) -> None:
    content = json.dumps({"error": {"message": message, "type": "invalid_request_error"}})
    for status in (400, 422, 500, None):
        error = explain_error(content, ENDPOINT, status)
        assert (error.is_too_long, error.window) == (True, window)
        assert not error.is_retryable


@pytest.mark.parametrize(
    "error",
    [{"code": "context_length_exceeded", "message": "No."},
     {"type": "exceed_context_size_error", "message": "No.", "n_prompt_tokens": 9, "n_ctx": 8192}],
)  # fmt: skip
def test_a_request_that_is_too_long_may_be_named(error: dict[str, str | int]) -> None:
    found = explain_error(json.dumps({"error": error}), ENDPOINT, 400)
    assert (found.is_too_long, found.window) == (True, error.get("n_ctx"))


def test_a_body_that_is_too_large_is_too_long() -> None:
    error = explain_error("<html>Request Entity Too Large</html>", ENDPOINT, 413)
    assert (error.is_too_long, error.window, error.kind) == (True, None, "request")


@pytest.mark.parametrize(
    ("status", "message"),
    [(429, "Rate limit: too many input tokens, the prompt is too long for this minute"),
     (401, "the prompt is too long"),
     (400, "max_tokens is too large: 99999. This model supports at most 16384 output tokens"),
     (400, "messages: at least one message is required"),
     (400, "tools.0.name: String should have at most 64 characters"),
     (400, "Invalid 'input[3].id': string too long. Expected a maximum length of 64"),
     (400, "invalid `max_tokens`: exceeds maximum output token limit"),
     (400, "The input image is too large"),
     (400, "image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes"),
     (500, "the server is overloaded"),
     (None, "Overloaded")],
)  # fmt: skip
def test_other_failures_are_not_too_long(status: int | None, message: str) -> None:
    error = explain_error(json.dumps({"error": {"message": message}}), ENDPOINT, status)
    assert (error.is_too_long, error.window) == (False, None)


@pytest.mark.parametrize(
    "content",
    ['[{"error": {"code": 400, "message": "No such field", "status": "INVALID_ARGUMENT"}}]',
     '{"detail": "No such field"}', '{"message": "No such field"}', "No such field",
     '{"error": "No such field"}', '{"detail": [{"loc": ["body"], "msg": "No such field"}]}'],
)  # fmt: skip
def test_a_message_is_found_wherever_it_is(content: str) -> None:
    assert "No such field" in explain_error(content, ENDPOINT, 400).message


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [("", 503, "answered 503 (Service Unavailable)"), ("", 529, "answered 529"),
     ("<html><body>x", 502, "answered 502 (Bad Gateway)"),
     (" <HTML><head><title>Wait &amp; see\u2026</title>", 403, "answered 403: Wait & see\u2026"),
     ('{"detail": "Not Found"}', 404, "answered 404: Not Found")],
)  # fmt: skip
def test_a_failure_has_the_best_words_that_there_are(content: str, status: int, said: str) -> None:
    error = explain_error(content, ENDPOINT, status)
    assert error.message == f"{ENDPOINT.base_url} {said}"
    assert ("code.base_url" in error.hint) == (status == 404)


def test_a_redirect_says_where_to() -> None:
    page = "<html><title>301 Moved Permanently</title></html>"
    error = explain_error(page, ENDPOINT, 301, {"location": "https://host/v1"})
    assert error.message.endswith("answered 301, a redirect to https://host/v1: Moved Permanently")
    assert "code.base_url" in error.hint


def test_a_model_that_is_not_there_has_nothing_to_do_with_the_address() -> None:
    error = explain_error('{"error": {"message": "There is no model m."}}', ENDPOINT, 404)
    assert error.message.endswith("answered 404: There is no model m")  # a hint may follow
    assert error.hint == "check the name of the model"


@pytest.mark.parametrize(
    ("message", "seconds"),
    [("Quota exceeded. Please retry in 34.5s.", 34.5), ("Please try again in 1m6.5s.", 66.5),
     ("Please try again in 20ms.", 0.02), ("Please retry after 26 seconds.", 26),
     ("Slow down.", None)],
)  # fmt: skip
def test_a_message_may_say_when(message: str, seconds: float | None) -> None:
    error = explain_error(json.dumps({"error": {"message": message}}), ENDPOINT, 429)
    assert error.retry_after == seconds
    headers = {"retry-after": "7"}
    content = json.dumps({"error": {"message": message}})
    assert explain_error(content, ENDPOINT, 429, headers).retry_after == 7


@pytest.mark.parametrize(
    "message",
    ["max_tokens is too large: 16384. This model supports at most 4096 completion tokens.",
     "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for m"],
)  # fmt: skip
def test_a_limit_of_the_reply_that_a_model_does_not_have_has_a_hint(message: str) -> None:
    error = explain_error(json.dumps({"error": {"message": message}}), ENDPOINT, 400)
    assert (error.is_too_long, error.hint) == (False, "lower `code.max_output_tokens`")


def test_an_effort_that_a_model_does_not_take_has_a_hint() -> None:
    content = '{"error": {"message": "Unsupported value: \'max\' is not a reasoning effort"}}'
    endpoint = ENDPOINT._replace(effort="max")
    assert "code.effort" in explain_error(content, endpoint, 400).hint
    assert explain_error(content, ENDPOINT, 400).hint == ""
    assert explain_error('{"error": "no"}', endpoint, 400).hint == ""


@pytest.mark.parametrize(
    ("status", "error"),
    [(429, {"message": "You exceeded your current quota, please check your plan and billing.",
            "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}),
     (429, {"message": "Quota.", "type": "requests", "code": "insufficient_quota"}),
     (None, {"message": "Quota.", "type": "insufficient_quota"}),
     (400, {"message": "Billing hard limit has been reached", "type": "invalid_request_error",
            "code": "billing_hard_limit_reached"}),
     (429, {"message": "Your account is not active.", "type": "billing_not_active"}),
     # Anthropic, Moonshot, Z.ai, DeepSeek, OpenRouter, xAI, Gemini
     (400, {"type": "invalid_request_error",
            "message": "Your credit balance is too low to access the Anthropic API."}),
     (400, {"message": "You have reached your specified API usage limits."}),
     (429, {"message": "Please recharge.", "type": "exceeded_current_quota_error"}),
     (429, {"message": "Insufficient balance or no resource package.", "code": "1113"}),
     (402, {"message": "Pay.", "code": "invalid_request_error"}),
     (402, {"message": "This request requires more credits, or fewer max_tokens. You requested "
            "up to 65536 tokens, but can only afford 1234.", "code": 402}),
     (429, "Your team has either used all available credits or reached its spending limit."),
     (429, {"code": 429, "message": "Your prepayment credits are depleted."})],
)  # fmt: skip
def test_an_account_without_credit_is_not_asked_again(status: int | None, error: object) -> None:
    found = explain_error(json.dumps({"error": error}), ENDPOINT, status)
    assert (found.kind, found.is_retryable, found.is_too_long) == ("login", False, False)
    assert found.hint.startswith("add credit to the account of this key")


@pytest.mark.parametrize(
    "error",
    [{"message": "Rate limit reached for m in organization o on tokens per min. Limit 30000.",
      "type": "tokens", "code": "rate_limit_exceeded"},
     # Gemini says this of a minute's quota.
     {"message": "You exceeded your current quota, please check your plan and billing details. "
      "Please retry in 32.5s.", "code": 429, "status": "RESOURCE_EXHAUSTED"}],
)  # fmt: skip
def test_a_limit_of_requests_is_not_a_lack_of_credit(error: dict[str, str | int]) -> None:
    found = explain_error(json.dumps({"error": error}), ENDPOINT, 429)
    assert (found.kind, found.is_retryable) == ("limit", True)
