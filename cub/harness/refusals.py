"""Whether a client could not work for a limit, or for want of a login, by what it printed last.

A limit is `rate_limited`, whatever wants waiting; `auth` is what a person must do something
about, a used up credit too. Only errors in the shapes that clients print count: an agent may
well talk about such errors, and never says them at a line's start as a client does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Literal, NamedTuple

from cub.checks.plain import plain
from cub.harness.markdown import lines
from cub.harness.refusal_words import AUTH, AUTH_JSON, LIMIT, LIMIT_JSON
from cub.harness.resets import reset

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
    until: datetime | None
    words: str


def refusal(text: str, now: datetime, zone: tzinfo | None = None) -> Refusal | None:
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
    shown = plain("\n".join(cut))
    found = list(lines(shown))
    while found and found[-1].inside:  # nothing closed it: what is below may be an error
        found.pop()
    unclosed = shown.split("\n")[len(found) :]
    return [line.text for line in found if not (line.fence or line.inside)] + unclosed


def _kind(line: str) -> Literal["rate_limited", "auth"] | None:
    parts = list(_parts(line))
    if any(_says(part, AUTH, AUTH_JSON) for part in parts):
        return "auth"
    return "rate_limited" if any(_says(part, LIMIT, LIMIT_JSON) for part in parts) else None


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
        if (found := reset("\n".join(part), now, zone)) is not None:
            return found
    return None


def _words(line: str) -> str:
    return " ".join(line.split())[:_MOST_WORDS]
