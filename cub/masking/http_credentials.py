"""What requests carry: `Authorization` and its like, cookies, and secrets in addresses."""

from __future__ import annotations

import re

from cub.masking.value_heuristics import MASK, is_harmless_value, is_word, looks_random, mask_group

_NAME = r"(?i)\b(?:proxy-)?authorization[\\\"'`\]]{0,4}\s{0,4}(?:=>|[:=,])\s{0,4}"
# These have one word behind them, or stand alone with it.
_SCHEMES = (
    r"(?:Basic|Bearer|Token|Negotiate|NTLM|Api-?Key|Key|SSWS|GenieKey|Splunk|AWS|Bot|JWT"
    r"|SharedAccessSignature|SharedKey)"
)
_HEADER = re.compile(
    rf"{_NAME}[bf]?\\{{0,3}}[\"'`]?(?:{_SCHEMES}[ =:]+)?(?P<value>[^\s\"'`\\,;]{{4,}})"
)
# And these have parameters, all the line long.
_PARAMETERS = re.compile(
    rf"{_NAME}[\\\"'`]{{0,4}}(?:Digest|OAuth|Hawk|MAC|AWS4-HMAC-SHA256|Signature) "
    r"(?P<value>\w+=[^\r\n']{4,4000})"
)
_BEARER = re.compile(r"(?i)\b(?:bearer|basic) (?P<value>[\w.~+/=-]{12,})")
_COOKIES = re.compile(
    r"(?i)\b(?:set-)?cookie[\"'`\]]{0,3}\s{0,3}[:=]\s{0,3}[\"'`]?(?P<value>[^\r\n\"'`]{3,4000})"
)
_COOKIE = re.compile(r"(?P<name>[^\s=;,]{1,80})=(?P<value>[^\s;,\"']{4,})")
_ATTRIBUTES = {"path", "domain", "expires", "max-age", "samesite", "priority", "version"}
_SESSION = re.compile(r"(?i)sess|sid|auth|token|jwt|csrf|xsrf|remember|login|user|key|secret|id\b")
# Up to a bound, so that many `://` in one word cost no more than their number.
_USER = re.compile(
    r"(?<=://)(?:[^\s:/@?#\"'<>]{0,256}:(?P<value>[^\s@/\"'<>]{1,512})"
    r"|(?P<alone>[^\s:/@?#\"'<>]{16,512}))@"
)
_NO_PASSWORDS = (MASK, "pass", "password", "passwd")  # as documents have it
_SIGNED = re.compile(
    r"(?i)(?:[?&;]|&amp;|\\u0026|\b(?=x-(?:amz|goog|ms)-))"
    r"(?:sig|signature|x-(?:amz|goog|ms)-(?:signature|security-token|credential)|hmac|code|ticket"
    r"|assertion)[\"']?\s?[=:]\s?[\"']?(?P<value>[^\s\"'&;<>]{8,})"
)
_NPM = re.compile(r"/:_(?:authToken|auth|password)=\s{0,4}(?P<value>[^\s\"']{4,})")


def mask_credentials(text: str) -> str:
    """A text without the credentials of its requests."""
    small = text.lower()
    if "authorization" in small:
        text = _HEADER.sub(_header, _PARAMETERS.sub(mask_group, text))
    if "bearer" in small or "basic" in small:
        text = _BEARER.sub(_header, text)
    if "cookie" in small:
        text = _COOKIES.sub(_cookies, text)
    if "://" in text:
        text = _USER.sub(_user, text)
    if "=" in text and ("?" in text or "&" in text or "x-" in small):
        text = _SIGNED.sub(_header, text)
    return _NPM.sub(_header, text) if "/:_" in text else text


def _header(match: re.Match[str]) -> str:
    """The same, unless there is a word or a placeholder in that place."""
    value = match["value"]
    words = value.rstrip(".,:)]}").replace("/", "-")
    is_plain = is_word(words) and (words.islower() or words.istitle() or words.isupper())
    return match[0] if is_plain or is_harmless_value(value) else mask_group(match)


def _cookies(match: re.Match[str]) -> str:
    start = match.start("value") - match.start()
    return match[0][:start] + _COOKIE.sub(_cookie, match["value"])


def _cookie(pair: re.Match[str]) -> str:
    name, value = pair["name"], pair["value"]
    if name.casefold() in _ATTRIBUTES or is_harmless_value(value):
        return pair[0]
    named = _SESSION.search(name) is not None and not (is_word(value) and len(value) < 12)
    return f"{name}={MASK}" if named or looks_random(value) else pair[0]


def _user(match: re.Match[str]) -> str:
    if match["alone"] is not None:
        return mask_group(match, "alone") if looks_random(match["alone"]) else match[0]
    value = match["value"]
    return (
        match[0] if value.casefold() in _NO_PASSWORDS or value[0] in "$<{%*" else mask_group(match)
    )
