"""How far the text behind a BEGIN is cub's own: the lines that its recorded digest fits."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from cub.edit.sections import author_of, split_header


def proven_end(inside: Sequence[bytes]) -> int | None:
    """How many lines of `inside`, which stands behind a BEGIN, the digest recorded there proves.

    The smallest number for which they are cub's own; None where there is none. One pass.
    """
    recorded, body = split_header(inside)
    if not recorded:
        return None
    old = recorded.startswith("sha256:")
    lines = _behind_first(inside) if old else body
    count = _fitting(lines, recorded[len("sha256:") :], old=old)
    if count is None:
        return None
    end = len(inside) - len(lines) + count
    return end if author_of(inside[:end]) == "cub" else None


def _behind_first(inside: Sequence[bytes]) -> Sequence[bytes]:
    """What the older digest counts: the lines behind its own, which is the first."""
    first = next(number for number, line in enumerate(inside) if line.strip())
    return inside[first + 1 :]


def _fitting(lines: Sequence[bytes], wanted: str, *, old: bool) -> int | None:
    """How many of `lines` make up the text with this digest; blanks count as the form has it."""
    hashed, between = sha256(), b""
    started = False
    for number, line in enumerate(lines, 1):
        whole = line.rstrip(b"\r\n") if old else line.rstrip(b" \t\r\n")
        if not (whole.strip() if old else whole):
            between += whole + b"\n" if started else b""
            continue
        text = whole.lstrip() if old and not started else whole
        last = text.rstrip() if old else text
        hashed.update(between + last)
        if hashed.hexdigest().startswith(wanted):
            return number
        between, started = text[len(last) :] + b"\n", True
    return None
