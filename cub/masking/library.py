"""detect-secrets' patterns, for what cub's own do not know.

The library takes longer to load than most commands to run, and its patterns longer than all of
cub's: it is asked about lines alone that hold what may be a key.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from cub.masking.values import MASK

# A public address is no secret. Of an address's user cub hides the password alone, of a key its
# body. The others take the square of a line's length for some lines, and are among cub's own, too.
_LEFT_OUT = (
    "IPPublicDetector", "BasicAuthDetector", "JwtTokenDetector", "NpmDetector", "OpenAIDetector",
    "KeywordDetector", "PrivateKeyDetector",
)  # fmt: skip
# What its patterns ask for that no pattern of cub's own has: a long word of letters and digits in
# turns, or Artifactory's prefixes.
_CANDIDATE = re.compile(r"[A-Za-z0-9_-]{24,}|\bAP[\dA-F]\w{8,}|\bAKC\w{10,}")
_KINDS = re.compile(r"[a-z]+|[A-Z]+|\d+")
_FEWEST = 5


def hide_library_secrets(text: str) -> str:
    """A text without what the library's patterns find."""
    if not _may_have_any(text):
        return text
    lines = text.split("\n")
    return "\n".join(_without(line) if _may_have_any(line) else line for line in lines)


def _may_have_any(text: str) -> bool:
    return any(_has_chance(found[0]) for found in _CANDIDATE.finditer(text))


def _has_chance(word: str) -> bool:
    return len(word) < 24 or len(_KINDS.findall(word)) >= _FEWEST


def _without(line: str) -> str:
    for pattern in _patterns():
        line = pattern.sub(MASK, line)
    return line


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    plugins: list[type[Any]] = [*get_mapping_from_secret_type_to_class().values()]
    return tuple(
        pattern
        for plugin in plugins
        if issubclass(plugin, RegexBasedDetector) and plugin.__name__ not in _LEFT_OUT
        for pattern in plugin().denylist
    )
