"""Match paths with glob patterns that have `**` and `{a,b}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from functools import cache

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_ESCAPED = re.compile(r"\\(.)")
_MAX_PATTERNS = 1000  # that braces may stand for

_SegmentPattern = re.Pattern[str] | None  # None is `**`: any number of segments


@cache
def compile_glob(pattern: str) -> Callable[[str], bool]:
    """Return a test of paths: `*`, `?` and `[…]` stay in a segment, `**` is any number of them.

    `{a,b}` is one of several, and a backslash makes the next character a plain one.
    """
    plain = _ESCAPED.sub(lambda one: "?" if one[1] in "{}[]" else f"[{one[1]}]", pattern)
    alternatives = [_compile_segments(text) for text in expand_braces([plain])]
    return lambda path: any(_matches(path.split("/"), pattern) for pattern in alternatives)


def expand_braces(patterns: Iterable[str]) -> list[str]:
    """Return patterns without `{a,b}`: one for each alternative, up to a limit."""
    waiting, expanded = list(patterns), list[str]()
    while waiting and len(expanded) < _MAX_PATTERNS:
        pattern = waiting.pop(0)
        if not (braces := _BRACES.search(pattern)):
            expanded.append(pattern)
            continue
        head, tail = pattern[: braces.start()], pattern[braces.end() :]
        waiting = [*(f"{head}{part}{tail}" for part in braces[1].split(",")), *waiting]
        waiting = waiting[:_MAX_PATTERNS]
    return expanded


def _compile_segments(pattern: str) -> list[_SegmentPattern]:
    segments = pattern.split("/")
    return [None if text == "**" else re.compile(translate(text)) for text in segments]


def _matches(parts: Sequence[str], pattern: Sequence[_SegmentPattern]) -> bool:
    """Tell whether the segments of a path match; without trying one place twice."""
    ends = {0}  # how many segments the pattern so far may cover
    for number, segment in enumerate(pattern, 1):
        if not ends:
            return False
        if segment is None:
            least = min(ends) + (number == len(pattern))
            ends = set(range(least, len(parts) + 1))
        else:
            ends = {n + 1 for n in ends if n < len(parts) and segment.match(parts[n])}
    return len(parts) in ends
