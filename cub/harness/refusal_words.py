"""The words of clients and of the services behind them, when they refuse to work."""

from __future__ import annotations

import re

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


LIMIT, AUTH = _any(_LIMITS), _any(_LOGINS)
LIMIT_JSON, AUTH_JSON = _codes(_LIMIT_CODES, "429|529"), _codes(_LOGIN_CODES, "401|402")
