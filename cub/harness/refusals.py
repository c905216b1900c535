"""Find out what kept an agent from working, by its last output.

`limit` is whatever needs waiting; `login` is what a person has to solve, such as used up credit;
`service` is a service or a network that does not answer; `setup` is what fails again until it is
changed, such as the name of a model. Only errors in the form that programs print count: a model may
well talk about such errors, but not at the start of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Literal, NamedTuple

from cub.checks.terminal_text import to_plain_text
from cub.harness.markdown import split_markdown
from cub.harness.reset_times import find_reset_time

_MAX_READ = 32 * 1024  # characters, from the end
_MAX_LINE = 2_000  # characters
_MAX_PARTS = 10
_MAX_PART = 120  # characters
_NEARBY_LINES = 30  # in which a reset time may be
_MAX_MESSAGE = 300  # characters
# What programs print before an error; a list's bullet is not part of it.
_LEAD = re.compile(r"(?:\d{4}-\d\d-\d\d[T ][\w:.+]*+|[^\w\s\-*+#>|]|\s)*+")
_PART = re.compile(r":\s+|\s[-\u2013\u2014]\s|\(|\.\s|\s·\s")
_PROSE = re.compile(
    r"(?:I|we|it|its|the|this|that|these|an?|when|if|on|for|also|now|no|all|both|any|every|each|and|"
    r"added|adds|fixed|fixes|handle[sd]?|handling|test(?:s|ed)?|return(?:s|ed)?|map(?:s|ped)?|"
    r"rais(?:es|ed)|treat(?:s|ed)?|summary|status|tried|next|done|note|todo|implement(?:s|ed)?)\b"
    r"(?!\s+(?:api provider|usage limit has|model is overloaded|request would exceed))",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"error|exception|fail|fatal|warn|disconnected|status|exceeded retry|refused|rejected"
    r"|reconnecting|info|provider|litellm",
    re.IGNORECASE,
)
_JSON = re.compile(r"b?['\"]?\s*[\[{]|\\*\"\w+\\*\"\s*:")

RefusalKind = Literal["limit", "login", "service", "setup"]


class Refusal(NamedTuple):
    """Hold why an agent could not work, until when (in UTC) if it says so, and its message."""

    kind: RefusalKind
    reset_time: datetime | None
    message: str


def find_refusal(text: str, now: datetime, zone: tzinfo | None = None) -> Refusal | None:
    """Return what the last line about a limit or a login in an agent's output says, or None.

    `zone` is for clock times without a zone; None is the machine's.
    """
    lines = _list_last_lines(text)
    for at in range(len(lines) - 1, -1, -1):
        if kind := _classify_line(lines[at]):
            message = " ".join(lines[at].split())[:_MAX_MESSAGE]
            is_limit = kind == "limit"
            reset_time = _find_nearby_time(lines, at, now, zone) if is_limit else None
            return Refusal(kind, reset_time, message)
    return None


def _list_last_lines(text: str) -> list[str]:
    """Return the last lines, without those of closed fences, which are code of a model's talk."""
    plain = to_plain_text("\n".join(line[:_MAX_LINE] for line in text[-_MAX_READ:].split("\n")))
    lines = list(split_markdown(plain))
    while lines and lines[-1].is_in_fence:  # nothing closes it: what follows may be an error
        lines.pop()
    unclosed = plain.split("\n")[len(lines) :]
    return [line.text for line in lines if not (line.is_fence or line.is_in_fence)] + unclosed


def _classify_line(line: str) -> RefusalKind | None:
    parts = list(_split_line(line))
    if any(_is_match(part, AUTH_PATTERN, AUTH_JSON_PATTERN) for part in parts):
        return "login"
    if any(_is_match(part, LIMIT_PATTERN, LIMIT_JSON_PATTERN) for part in parts):
        return "limit"
    return "service" if any(map(SERVICE_PATTERN.match, parts)) else None


def _is_match(part: str, words: re.Pattern[str], codes: re.Pattern[str]) -> bool:
    return bool(words.match(part) or (_JSON.match(part) and codes.search(part)))


def _split_line(line: str) -> Iterator[str]:
    """Yield the line, and what follows its colons and dashes while all before is about errors."""
    start = _find_lead_end(line, 0)
    for _ in range(_MAX_PARTS):
        rest = line[start:]
        if _PROSE.match(rest):
            return
        yield rest
        separator = _PART.search(rest)
        if separator is None or separator.start() > _MAX_PART:
            return
        if not _ERROR.search(line[: start + separator.start()]):
            return
        start = _find_lead_end(line, start + separator.end())


def _find_lead_end(line: str, start: int) -> int:
    match = _LEAD.match(line, start)
    lead_end = end = match.end() if match else start
    # If JSON begins here, its bracket or quote is not part of the lead.
    while end > start and line[end - 1] in "[{\"'\\":
        end -= 1
    return end if _JSON.match(line, end) else lead_end


def _find_nearby_time(
    lines: list[str], at: int, now: datetime, zone: tzinfo | None
) -> datetime | None:
    before, after = lines[max(0, at - _NEARBY_LINES) : at], lines[at + 1 : at + 1 + _NEARBY_LINES]
    texts = ("\n".join(part) for part in (lines[at : at + 2], after, before))
    times = (find_reset_time(text, now, zone) for text in texts)
    return next(filter(None, times), None)


# What may follow a message that is complete; a sentence of prose would go on.
_END = r"(?=\s*(?:$|[|.,;:!·∙•\-\u2013\u2014({\"'\]}\\]))"
# A status as programs print it, and what follows it.
_CODE = r"(?:api error|error code|error|status code)(?::| -)?\s*"
_AFTER_CODE = (
    r"(?=\s*(?:$|[{\[\"'·(]|[:-]\s*(?:[{\[\"']|error|.{0,40}(?:overloaded|quota|rate limit))"
    r"|too many|overloaded|rate limit|unauthorized|oauth|invalid|you exceeded))"
)
# The same for phrases that prose has before a colon or a dash too.
_STOP = r"(?=\s*(?:$|[|.,;!·∙•({\"'\]}\\]))"
_LIMITS = (
    r"(?:claude )?(?:ai )?usage limit (?:has been )?reached" + _END,
    r"the usage limit has been reached" + _END,
    r"(?:you['\u2019]ve|you have) (?:hit|reached|exceeded) (?:your|the) (?:[\w-]+ ){0,4}limits?\b",
    (
        r"(?:\d+-hour|daily|weekly|monthly|session|free|opus|sonnet|(?:\w+ )?usage)(?: usage)?"
        r" limit (?:reached|exceeded)" + _END
    ),
    r"limit reached\s*[·∙|]",
    r"your (?:usage )?limit (?:will )?resets?\b",
    r"(?:\w+ )?(?:api )?rate limit (?:is |was )?(?:exceeded|hit)" + _END,
    r"(?:\w+ )?(?:api )?rate limit reached" + _END,
    r"rate limit reached for [\w.:/-]+ (?:\(|in organization)",
    r"rate limit reached for [^.\n]{1,80}\. (?:please )?(?:try again|limit)",
    r"(?:this request would exceed|number of (?:request|input|output) tokens has exceeded) your\b",
    r"this request would exceed the rate limit",
    r"(?:litellm\.)?(?:router)?ratelimiterror\s*[:(]",
    r"the api provider has rate limited you",
    r"the api provider['\u2019]s servers are down or overloaded",
    r"(?:terminal|retryable)quotaerror\b",
    r"resource (?:has been )?exhausted\b",
    r"resource_exhausted" + _END,
    r"quota exceeded for\b",
    r"you (?:have )?exceeded your current quota\b",
    r"you have exhausted your (?:daily quota|capacity|\w+ quota)",
    r"no capacity available for model",
    r"selected model is at capacity",
    r"overloaded(?:_error)?" + _STOP,
    r"(?:the )?(?:model|server|service) is (?:currently )?overloaded" + _END,
    r"too many requests" + _STOP,
    r"exceeded retry limit, last status: 429",
    r"(?:unexpected|last|http) status:? (?:code )?429\b",
    r"attempt \d+ failed with status (?:code )?429",
    r"request failed with status code 429",
    _CODE + r"\(?(?:429|529)\)?" + _AFTER_CODE,
    r"(?:429|529)\s*(?:[:-]\s*)?(?:[{\[]|too many|overloaded|rate limit|resource|you exceeded)",
    r"http 429: .{0,60}(?:rate limit|overloaded|quota)",
    r"repeated 529 overloaded",
    r"request rejected \((?:429|529)\)",
)
_LOGINS = (
    r"invalid (?:api key|x-api-key|bearer token|authentication|oauth token|auth token)" + _STOP,
    r"(?:missing|no) api key" + _STOP,
    r"(?:missing|no) api key (?:found|available|provided|set|for)\b",
    r"incorrect api key provided",
    r"api key (?:not valid|not found|is invalid|expired)\b",
    r"(?:please )?run /login\b",
    r"(?:you are |you're )?not (?:currently )?logged in" + _STOP,
    r"(?:please )?log ?in (?:with|first|again|to continue)\b",
    r"oauth token (?:has expired|has been revoked|revoked|expired|does not meet)",
    r"oauth authentication is currently not",
    r"failed to (?:authenticate|refresh token|get auth headers)" + _END,
    r"your access token could not be refreshed",
    r"could not resolve authentication method",
    r"(?:litellm\.)?authenticationerror\s*[:(]",
    r"providerautherror\b",
    r"the api provider is not able to authenticate you",
    r"please set an auth method",
    r"when using gemini api, you must specify",
    r"this organization has been disabled",
    r"(?:your )?credit balance is too low",
    r"insufficient (?:balance|credits|quota|funds)" + _STOP,
    r"quota exceeded\. check your plan",
    r"you exceeded your current quota\b(?=.{0,200}platform\.openai\.com)",
    r"(?:unexpected|last|http) status:? (?:code )?40[123]\b",
    r"request failed with status code 40[123]\b",
    r"attempt \d+ failed with status (?:code )?40[13]",
    _CODE + r"\(?40[123]\)?" + _AFTER_CODE,
    r"(?:http )?40[12]\s*(?:[:-]\s*)?(?:[{\[]|unauthorized|invalid|payment required)",
    r"unauthorized" + _STOP,
)
# Only what names a model's service: a project's own server may refuse connections as well.
_SERVICE_FAILURES = (
    _CODE + r"\(?50[0234]\)?(?=\s*(?:$|[{\[\"'·(:]|internal|server|bad|service|gateway))",
    r"(?:unexpected|last) status:? (?:code )?50[0-4]\b",
    r"exceeded retry limit, last status: 50[0-4]\b",
    r"attempt \d+ failed with status (?:code )?50[0-4]",
    r"(?:litellm\.)?(?:internalserver|serviceunavailable|apiconnection|badgateway|timeout)error\s*[:(]",
    r"the api provider['\u2019]s servers are down",
    r"stream disconnected before completion",
    r"error sending request for url",
    r"unable to connect to (?:api|anthropic|the (?:api|service))\b",
    r"can't reach the model server at\b",
)
_LIMIT_CODES = (
    r"rate_limit_error|overloaded_error|rate_limit_exceeded|usage_limit_reached|FreeUsageLimitError"
    r"|RESOURCE_EXHAUSTED|rateLimitExceeded|MODEL_CAPACITY_EXHAUSTED|too_many_requests"
)
_LOGIN_CODES = (
    r"authentication_error|invalid_api_key|API_KEY_INVALID|UNAUTHENTICATED|insufficient_quota"
    r"|billing_not_active|billing_error|invalid_authentication|token_expired|ACCESS_TOKEN_EXPIRED"
)


def _compile_any(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


def _compile_codes(codes: str, numbers: str) -> re.Pattern[str]:
    """Return a pattern for codes as values in JSON, also in JSON within a JSON string."""
    quote = r"\\{0,3}[\"']"
    return re.compile(
        rf"{quote}(?:type|code|status|reason)\\{{0,3}}[\"']\s*:\s*(?:{quote}(?:{codes}){quote}"
        rf"|(?:{numbers})\b)"
    )


LIMIT_PATTERN, AUTH_PATTERN = _compile_any(_LIMITS), _compile_any(_LOGINS)
SERVICE_PATTERN = _compile_any(_SERVICE_FAILURES)
LIMIT_JSON_PATTERN = _compile_codes(_LIMIT_CODES, "429|529")
AUTH_JSON_PATTERN = _compile_codes(_LOGIN_CODES, "401|402")
