"""The parts of what pytest prints: each begins with a title between two rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TOTAL = re.compile(
    r"\d+ (?:passed|failed|skipped|x\w+|errors?|warnings?|deselected)\b.* in [\d.]+s.*"
)


def title_of(line: str, sign: str) -> str | None:
    """The text between two rules of a sign; None for any other line.

    What `-q` counts at the end is a title without rules.
    """
    if sign == "=" and line[:1].isdigit() and _TOTAL.fullmatch(line):
        return line
    if not (line.startswith(sign) and line.endswith(sign)):
        return None
    title = line.strip(sign)
    inner = title[1:-1]
    spaced = title.startswith(" ") and title.endswith(" ")
    return inner if spaced and inner.strip(sign + " ") else None


def quoted(lines: Sequence[str]) -> frozenset[int]:
    """The lines of tracebacks and of what failing tests wrote: what they say is no finding."""
    inside, found = False, list[int]()
    for number, line in enumerate(lines):
        if (title := title_of(line, "=")) is not None:
            inside = title in ("FAILURES", "ERRORS")
        if inside:
            found.append(number)
    return frozenset(found)
