"""Secrets in text that a ledger keeps or a model reads: found by detect-secrets' patterns, and
by a few for what those leave out. The time it takes grows with the text, not with its square.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

MASK = "[masked]"
# A public address is no secret; of a URL, `_OWN` hides the password alone. The others take the
# square of a line's length for some lines: `_OWN` has what they look for.
_LEFT_OUT = (
    "IPPublicDetector", "BasicAuthDetector", "JwtTokenDetector", "NpmDetector", "OpenAIDetector",
)  # fmt: skip
# What the library has no pattern for: whole keys rather than their first lines, keys of the
# vendors whose clients cub drives, what a shell's environment and HTTP headers hold.
_OWN = (
    # With its body, in a log on one line perhaps; a text may speak of such a line, too.
    (
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----(?=(?:\\[nr]|\s|[A-Za-z-]+: [^\n]{0,99}\n)*+"
        r"[A-Za-z0-9+/=]{12}).*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    ),
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\bAIza[0-9A-Za-z_-]{35}",
    r"\bgithub_pat_\w{22,}",
    r"\bglpat-[\w-]{20,}",
    r"\bnpm_[A-Za-z0-9]{36}",
    r"\bpypi-[\w-]{16,}",
    r"(?i)(?<=bearer )[\w.~+/=-]{16,}",
    r"(?<![A-Za-z0-9])eyJ[\w=-]{8,2000}\.[\w=-]{8,}(?:\.[\w=-]*)?",
    r"/:_authToken=\s*(?P<value>\S+)",
    r"://[^\s:/@]*:(?P<value>[^\s@/]+)@",
    # A key in Python's `sorted(names, key=…)` has no name of its own.
    (
        r"(?i)(?<![^\s\"'?&;])(?:[\w-]{0,40}(?:token|secret|passw(?:or)?d)|[\w-]{1,40}key|"
        r"(?<=[?&])key)=(?P<value>[^\s\"'&;()]{4,})"
    ),
    r"\baws_secret_access_key\s*[=:]\s*(?P<value>\S{20,})",
)


# What stands in quotes behind a name such as `password`, or is compared with it. The library has
# this, too, but takes the cube of a line's length for it, and finds the first in a line alone.
_QUOTED = r"(?P<quote>\\?[\"'`])(?P<value>(?:(?!(?P=quote))(?:\\.|[^\\\r\n])){1,300})(?P=quote)"
_NAMED = (
    (
        r"(?i)(?:{names})\w{{0,40}}[\]\[\d\\'\"]{{0,9}}\s{{0,9}}"
        r"(?::=?|=>|={{1,3}}|!==?)\s{{0,9}}@?{quoted}"
    ),
    r"(?i)(?:{names})[^\s\"'`]{{0,50}}\s{{0,9}}{quoted};",
    r"(?i){quoted}\s{{0,9}}[!=]==?\s{{0,9}}\w{{0,40}}(?:{names})",
)


def masked(text: str) -> str:
    """`text` with `[masked]` in the place of each secret; the same once more changes nothing."""
    while (once := _masked(text)) != text:  # what stood around a secret may be one now
        text = once
    return text


def _masked(text: str) -> str:
    for pattern in _patterns():
        text = pattern.sub(_hidden, text)
    return text


def _hidden(found: re.Match[str]) -> str:
    """A match without its secret: that part of it which is one, or all of it."""
    if "value" not in found.re.groupindex:
        return MASK
    start, end = found.start("value") - found.start(), found.end("value") - found.start()
    return found[0][:start] + MASK + found[0][end:]


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Imported here: the library takes longer to load than most commands to run."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector
    from detect_secrets.plugins.keyword import DENYLIST

    plugins: list[type[Any]] = [*get_mapping_from_secret_type_to_class().values()]
    theirs = (
        pattern
        for plugin in plugins
        if issubclass(plugin, RegexBasedDetector) and plugin.__name__ not in _LEFT_OUT
        for pattern in plugin().denylist
    )
    named = (pattern.format(names="|".join(DENYLIST), quoted=_QUOTED) for pattern in _NAMED)
    return (*map(re.compile, (*_OWN, *named)), *theirs)
