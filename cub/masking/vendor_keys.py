"""Hide keys that have a form of their own: a prefix, a fixed length, a host.

The forms are in `vendor_keys.toml`. A line ending or characters without a width may split a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.masking.value_heuristics import (
    MASK,
    looks_like_id,
    looks_random,
    mask_group,
    mask_spans,
    read_table,
)

_TABLE = read_table("vendor_keys")
_KEY = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(form for _, form in _TABLE['forms'])})")
_URL_SECRET = re.compile(rf"(?:{'|'.join(_TABLE['addresses'])})/?(?P<value>[\w@:/.-]{{16,}})")
_URL_HINTS = ("hook", "api.telegram", "chat.google", "api.softlayer")
# Keys without a form, which the words in front of them announce.
_AWS_SECRET = re.compile(
    r"(?i)aws.{0,20}?(?:key|pwd?|pass|token).{0,20}?[\"'](?P<value>[0-9a-z/+]{40})[\"']"
)
_IBM_KEY = re.compile(
    r"(?i)(?<!\w)(?:cl|clou|cloudant|sl|softlayer|iam|(?:ibm[_-]?)?cloud(?:[_-]?iam)?|ibm(?:[_-]?iam)?)"
    r"[_-]?(?:api)?[_-]?(?:key|pwd?|pass(?:word)?|token)[\"'\]]{0,2} {0,9}(?:=>|:=|::|[:= ]) {0,9}"
    r"[\"']?(?P<value>[0-9a-z]{64}|[0-9a-f]{48}|[\w-]{44}|[a-z]{24})(?![\w-])"
)
# A soft hyphen, and spaces and joiners of no width.
ZERO_WIDTH = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_LONG_WORD = re.compile(rf"[\w.~+/=:@{ZERO_WIDTH}-]{{15,}}")
_ZERO_WIDTH_TABLE = dict.fromkeys(map(ord, ZERO_WIDTH))
_CHARACTER = r"[\w.~+/=:@-]"
# As a terminal wraps a line, or as a shell continues one. The key's start has to be recognizable.
_MIN_START = 8
_LINE_END = re.compile(
    rf"(?<!{_CHARACTER})(?P<first>{_CHARACTER}{{{_MIN_START},}}+)\\?\r?\n[ \t]{{0,16}}"
    rf"(?=(?P<rest>{_CHARACTER}++))"
)
_RUN = re.compile(r"[A-Za-z0-9]+")
_MIN_JOINED_RUN, _MIN_CONTINUED_RUN = 16, 12


def mask_split_keys(text: str) -> str:
    """Replace the parts of each key that is split by line ends with the mask."""
    return mask_spans(text, _find_parts(text)) if "\n" in text else text


def _find_parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the parts of split keys are."""
    next_part = (-1, -1)  # a part that fills its line: the key may go on
    for match in _LINE_END.finditer(text):
        first, rest, rest_start = match["first"], match["rest"], match.start("rest")
        if match.span("first") == next_part:
            length = len(rest) if _continues_key(rest) else 0
        else:
            start, length = _find_split_key(first, rest)
            if length:
                yield match.start() + start, match.end("first")
        if length:
            yield rest_start, rest_start + length
        next_part = (rest_start, rest_start + length)


def _find_split_key(first: str, rest: str) -> tuple[int, int]:
    """Return where a key starts in `first`, and how much of `rest` belongs to it; 0 if nothing."""
    for key in _KEY.finditer(first + rest):
        start, length = key.start(), key.end() - len(first)
        if start <= len(first) - _MIN_START and length > 0:
            if _KEY.match(first, start):  # a whole key, after which another word may follow
                return start, length if _continues_key(rest[:length]) else 0
            longest = max(_RUN.findall(key[0]), key=len)
            is_random = len(longest) >= _MIN_JOINED_RUN and not longest.isalpha()
            return start, length if is_random and not longest.isdigit() else 0
    return 0, 0


def _continues_key(part: str) -> bool:
    """Tell whether the first word of a line, after a whole key, looks like more of that key."""
    longest = max(_RUN.findall(part), key=len, default="")
    return looks_random(longest, _MIN_CONTINUED_RUN) and not looks_like_id(part)


def mask_vendor_keys(text: str) -> str:
    """Replace the keys that a vendor's form gives away with the mask."""
    text = _IBM_KEY.sub(mask_group, _AWS_SECRET.sub(mask_group, text))
    if "/" in text and any(hint in text for hint in _URL_HINTS):
        text = _URL_SECRET.sub(mask_group, text)
    return _LONG_WORD.sub(_mask_word, text)


def find_vendor_keys(text: str) -> Iterator[str]:
    """Yield the keys that a vendor's form gives away."""
    for word in _LONG_WORD.finditer(text):
        for key in _KEY.finditer(word[0]):
            if not _is_phrase(key[0]):
                yield key[0]


def _mask_word(match: re.Match[str]) -> str:
    word = match[0] if match[0].isascii() else match[0].translate(_ZERO_WIDTH_TABLE)
    masked = _KEY.sub(_mask_key, word)
    return match[0] if masked == word else masked


def _mask_key(match: re.Match[str]) -> str:
    return match[0] if _is_phrase(match[0]) else MASK


def _is_phrase(key: str) -> bool:
    """Tell whether it is a name such as `sk-learn-contributed-models`, which begins like a key."""
    return key.islower() and key.replace("-", "a").isalpha()
