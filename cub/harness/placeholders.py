"""Words in braces in the arguments of a client of one's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

NAMES = ("prompt", "file", "system", "model", "task", "attempt", "permissions")
_WORD = re.compile(rf"\{{\{{({'|'.join(NAMES)})\}}\}}|\{{({'|'.join(NAMES)})\}}")


def used(argv: Sequence[str]) -> frozenset[str]:
    """The names that stand in arguments."""
    return frozenset(found[2] for one in argv for found in _WORD.finditer(one) if found[2])


def filled(argv: Sequence[str], values: Mapping[str, str | None]) -> list[str]:
    """The arguments with their values.

    One whose value is None is left out, together with an option right in front of it, as in
    `-m {model}`. Two braces around a name stand for one; all other braces stay as they are.
    """
    made: list[str] = []
    for one in argv:
        if all(values[name] is not None for name in used([one])):
            made.append(_WORD.sub(lambda found: _value(found, values), one))
        elif len(made) > 1 and made[-1].startswith("-") and not one.startswith("-"):
            made.pop()
    return made


def _value(found: re.Match[str], values: Mapping[str, str | None]) -> str:
    return f"{{{found[1]}}}" if found[1] else values[found[2]] or ""
