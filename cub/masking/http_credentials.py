"""Mask the credentials of requests: authorization headers, cookies, and secrets in addresses."""

from __future__ import annotations

import re

from cub.masking.value_heuristics import MASK, is_harmless_value, is_word, looks_random, mask_group

_NAME = r"(?i)\b(?:proxy-)?authorization[\\\"'`\]]{0,4}\s{0,4}(?:=>|[:=,])\s{0,4}"
# Each is followed by one word, if it is there at all.
_SCHEMES = (
    r"(?:Basic|Bearer|Token|Negotiate|NTLM|Api-?Key|Key|SSWS|GenieKey|Splunk|AWS|Bot|JWT"
    r"|SharedAccessSignature|SharedKey)"
)
_HEADER = re.compile(
    rf"{_NAME}[bf]?\\{{0,3}}[\"'`]?(?:{_SCHEMES}[ =:]+)?(?P<value>[^\s\"'`\\,;]{{4,}})"
)
# Each is followed by parameters until the end of the line.
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
# Bounded, so that many `://` in one word cost no more than their number.
_USER = re.compile(
    r"(?<=://)(?:[^\s:/@?#\"'<>]{0,256}:(?P<value>[^\s@/\"'<>]{1,512})"
    r"|(?P<alone>[^\s:/@?#\"'<>]{16,512}))@"
)
_PLACEHOLDERS = (MASK, "pass", "password", "passwd")  # in documentation
_SIGNED = re.compile(
    r"(?i)(?:[?&;]|&amp;|\\u0026|\b(?=x-(?:amz|goog|ms)-))"
    r"(?:sig|signature|x-(?:amz|goog|ms)-(?:signature|security-token|credential)|hmac|code|ticket"
    r"|assertion)[\"']?\s?[=:]\s?[\"']?(?P<value>[^\s\"'&;<>]{8,})"
)
_NPM = re.compile(r"/:_(?:authToken|auth|password)=\s{0,4}(?P<value>[^\s\"']{4,})")


def mask_credentials(text: str) -> str:
    """Replace the credentials in a text with the mask."""
    lower = text.lower()
    if "authorization" in lower:
        text = _HEADER.sub(_mask_value, _PARAMETERS.sub(mask_group, text))
    if "bearer" in lower or "basic" in lower:
        text = _BEARER.sub(_mask_value, text)
    if "cookie" in lower:
        text = _COOKIES.sub(_mask_cookies, text)
    if "://" in text:
        text = _USER.sub(_mask_user, text)
    if "=" in text and ("?" in text or "&" in text or "x-" in lower):
        text = _SIGNED.sub(_mask_value, text)
    return _NPM.sub(_mask_value, text) if "/:_" in text else text


def _mask_value(match: re.Match[str]) -> str:
    """Mask a value unless it is a word or a placeholder."""
    value = match["value"]
    words = value.rstrip(".,:)]}").replace("/", "-")
    is_plain = is_word(words) and (words.islower() or words.istitle() or words.isupper())
    return match[0] if is_plain or is_harmless_value(value) else mask_group(match)


def _mask_cookies(match: re.Match[str]) -> str:
    start = match.start("value") - match.start()
    return match[0][:start] + _COOKIE.sub(_mask_cookie, match["value"])


def _mask_cookie(pair: re.Match[str]) -> str:
    name, value = pair["name"], pair["value"]
    if name.casefold() in _ATTRIBUTES or is_harmless_value(value):
        return pair[0]
    is_session = _SESSION.search(name) is not None and not (is_word(value) and len(value) < 12)
    return f"{name}={MASK}" if is_session or looks_random(value) else pair[0]


def _mask_user(match: re.Match[str]) -> str:
    if match["alone"] is not None:
        return mask_group(match, "alone") if looks_random(match["alone"]) else match[0]
    value = match["value"]
    is_placeholder = value.casefold() in _PLACEHOLDERS or value[0] in "$<{%*"
    return match[0] if is_placeholder else mask_group(match)
