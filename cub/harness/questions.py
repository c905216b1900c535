"""Whether a text ends by asking somebody something."""

from __future__ import annotations

import re

from cub.harness.markdown import HIDDEN

_MOST = 300  # characters
_MOST_READ = 4_000
_SENTENCE = re.compile(r"(?<=[.!?\uff1f\u3002])[\"'\u201d\u2019)\]*_]{0,4}\s+|\n")
_CLOSERS = " \t\r\n\"'\u201d\u2019»)]*_"
_ITEM = re.compile(r"\s*(?:[-*+•]|\w{1,3}[.)])\s")
_ASKS = re.compile(
    r"\W{0,4}(?:(?:so|then|also|now|otherwise|if so|or|please)[, ]{1,2})?(?:"
    r"(?:would|do|did) you (?:like|want|prefer|mean)\b|(?:should|shall|may|can) (?:I|we)\b"
    r"|which (?:one|of|option|approach|way|version)\b.{0,150}[?:]"
    r"|(?:let me know|tell me|please (?:confirm|advise|clarify|specify|choose|decide)|confirm)"
    r" (?:which|whether|how|what|where|when you|if I should|if you (?:want|would like) me to)\b"
    r"|please (?:confirm|advise|clarify)\b)",
    re.IGNORECASE,
)


def question(text: str) -> str:
    """The last sentence, if it asks something; "" if not. NUL stands for code.

    In front of a list or of code, only a sentence that plainly asks for an answer counts.
    """
    shown = text.rstrip(f" \t\r\n{HIDDEN}")
    behind_code = HIDDEN in text[len(shown) :]
    said = [line for line in shown[-_MOST_READ:].split("\n") if line.strip()]
    at_end = said[-1] if said else ""
    if not behind_code and at_end.rstrip(_CLOSERS).endswith(("?", "\uff1f")):
        return _shown(_sentences(at_end)[-1])
    while said and _ITEM.match(said[-1]):
        said.pop()
    asked = [one for one in _sentences(said[-1])[-2:] if _ASKS.match(one)] if said else []
    return _shown(asked[-1]) if asked else ""


def _sentences(line: str) -> list[str]:
    return [one for one in _SENTENCE.split(line) if one.strip()] or [line]


def _shown(sentence: str) -> str:
    told = " ".join(sentence.replace(HIDDEN, " ").split())
    return _ITEM.sub("", told, 1).strip("*_ ")[-_MOST:]
