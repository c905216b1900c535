"""Whether a client could not work for a limit, or for want of a login, by what it printed last.

A limit is `rate_limited`, whatever wants waiting; `auth` is what a person must do something
about, a used up credit too. Only errors in the shapes that clients print count: an agent may
well talk about such errors, and never says them at a line's start as a client does.

The words of clients and of the services behind them, when they refuse to work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Literal, NamedTuple

from cub.checks.terminal_text import to_plain_text
from cub.harness.markdown import split_markdown
from cub.harness.reset_times import find_reset_time

_MOST_READ = 32 * 1024  # characters, from the end
_MOST_LINE = 2_000
_MOST_PARTS = 10
_MOST_PART = 120
_AROUND = 30  # lines in which a reset may stand
_MOST_WORDS = 300
# What clients put in front of an error; a list's bullet is none.
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


class Refusal(NamedTuple):
    """Why a client could not work, until when (in UTC) if it says so, and its words in one line."""

    kind: Literal["rate_limited", "auth"]
    reset_time: datetime | None
    message: str


def find_refusal(text: str, now: datetime, zone: tzinfo | None = None) -> Refusal | None:
    """What the end of a client's output says about limits or a login; its last word counts.

    `zone` is that of clock times that name none, the machine's own if it is None.
    """
    said = _lines(text)
    for at in range(len(said) - 1, -1, -1):
        kind = _kind(said[at])
        if kind == "auth":
            return Refusal("auth", None, _words(said[at]))
        if kind == "rate_limited":
            return Refusal("rate_limited", _until(said, at, now, zone), _words(said[at]))
    return None


def _lines(text: str) -> list[str]:
    """The last lines, without those of closed fences: code of an agent's talk."""
    cut = [line[:_MOST_LINE] for line in text[-_MOST_READ:].split("\n")]
    shown = to_plain_text("\n".join(cut))
    found = list(split_markdown(shown))
    while found and found[-1].is_in_fence:  # nothing closed it: what is below may be an error
        found.pop()
    unclosed = shown.split("\n")[len(found) :]
    return [line.text for line in found if not (line.is_fence or line.is_in_fence)] + unclosed


def _kind(line: str) -> Literal["rate_limited", "auth"] | None:
    parts = list(_parts(line))
    if any(_says(part, AUTH_PATTERN, AUTH_JSON_PATTERN) for part in parts):
        return "auth"
    return (
        "rate_limited"
        if any(_says(part, LIMIT_PATTERN, LIMIT_JSON_PATTERN) for part in parts)
        else None
    )


def _says(part: str, words: re.Pattern[str], codes: re.Pattern[str]) -> bool:
    return bool(words.match(part) or (_JSON.match(part) and codes.search(part)))


def _parts(line: str) -> Iterator[str]:
    """The line, and what follows its colons and dashes, as long as all before speaks of errors."""
    start = _end_of_lead(line, 0)
    for _ in range(_MOST_PARTS):
        rest = line[start:]
        if _PROSE.match(rest):
            return
        yield rest
        cut = _PART.search(rest)
        if (
            cut is None
            or cut.start() > _MOST_PART
            or not _ERROR.search(line[: start + cut.start()])
        ):
            return
        start = _end_of_lead(line, start + cut.end())


def _end_of_lead(line: str, start: int) -> int:
    found = _LEAD.match(line, start)
    end = found.end() if found else start
    # A bracket or a quote belongs to JSON, where one begins.
    while end > start and line[end - 1] in "[{\"'\\":
        end -= 1
    return end if _JSON.match(line, end) else (found.end() if found else start)


def _until(said: list[str], at: int, now: datetime, zone: tzinfo | None) -> datetime | None:
    """In the line itself, else below it, else above."""
    before, after = said[max(0, at - _AROUND) : at], said[at + 1 : at + 1 + _AROUND]
    for part in (said[at : at + 2], after, before):
        if (found := find_reset_time("\n".join(part), now, zone)) is not None:
            return found
    return None


def _words(line: str) -> str:
    return " ".join(line.split())[:_MOST_WORDS]


# What may follow a message that is complete; a sentence of prose would go on.
_END = r"(?=\s*(?:$|[|.,;:!·∙•\-\u2013\u2014({\"'\]}\\]))"
# A status as a client tells it, and what stands behind it.
_CODE = r"(?:api error|error code|error|status code)(?::| -)?\s*"
_BEHIND = (
    r"(?=\s*(?:$|[{\[\"'·(]|[:-]\s*(?:[{\[\"']|error|.{0,40}(?:overloaded|quota|rate limit))"
    r"|too many|overloaded|rate limit|unauthorized|oauth|invalid|you exceeded))"
)
# The same for phrases that prose has in front of a colon or a dash too.
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
    _CODE + r"\(?(?:429|529)\)?" + _BEHIND,
    r"(?:429|529)\s*(?:[:-]\s*)?(?:[{\[]|too many|overloaded|rate limit|resource|you exceeded)",
    r"http 429: .{0,60}(?:rate limit|overloaded|quota)",
    r"repeated 529 overloaded",
    r"request rejected \((?:429|529)\)",
)
_LOGINS = (
    r"invalid (?:api key|x-api-key|bearer token|authentication|oauth token|auth token)" + _STOP,
    r"(?:missing|no) api key" + _STOP,
    r"no api key (?:found|available|provided|set)\b",
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
    _CODE + r"\(?40[123]\)?" + _BEHIND,
    r"(?:http )?40[12]\s*(?:[:-]\s*)?(?:[{\[]|unauthorized|invalid|payment required)",
    r"unauthorized" + _STOP,
)
_LIMIT_CODES = (
    r"rate_limit_error|overloaded_error|rate_limit_exceeded|usage_limit_reached|FreeUsageLimitError"
    r"|RESOURCE_EXHAUSTED|rateLimitExceeded|MODEL_CAPACITY_EXHAUSTED|too_many_requests"
)
_LOGIN_CODES = (
    r"authentication_error|invalid_api_key|API_KEY_INVALID|UNAUTHENTICATED|insufficient_quota"
    r"|billing_not_active|billing_error|invalid_authentication|token_expired|ACCESS_TOKEN_EXPIRED"
)


def _any(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in patterns), re.IGNORECASE)


def _codes(codes: str, numbers: str) -> re.Pattern[str]:
    """Codes as values in JSON, also in JSON that stands in a text of JSON."""
    quote = r"\\{0,3}[\"']"
    return re.compile(
        rf"{quote}(?:type|code|status|reason)\\{{0,3}}[\"']\s*:\s*(?:{quote}(?:{codes}){quote}"
        rf"|(?:{numbers})\b)"
    )


LIMIT_PATTERN, AUTH_PATTERN = _any(_LIMITS), _any(_LOGINS)
LIMIT_JSON_PATTERN, AUTH_JSON_PATTERN = (
    _codes(_LIMIT_CODES, "429|529"),
    _codes(_LOGIN_CODES, "401|402"),
)
