"""The closing lines of a final message: what was done, what was tried, what is next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from cub.harness.markdown import lines

MOST_TRIED = 5
_SUMMARY, _TRIED, _NEXT = 400, 160, 200  # characters
_KEY = re.compile(
    r" {0,3}(?:[-*+]\s+)?[*_]{0,2}(?P<key>status|summary|tried|next)[*_]{0,2}[ \t]*:(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
_STATUS = re.compile(r"(done|no[ _-]change|stuck)\b(?!\s*(?:\||/|or\b))", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_SIGNAL = re.compile(r"\s*[*_]{0,2}</?(?:promise|stuck)>", re.IGNORECASE)
_NOTHING = ("", "none", "n/a", "nothing", "nothing.", "none.", "-")


class Trailer(NamedTuple):
    """What the closing lines say; `status` is done, no_change, stuck or empty."""

    status: str = ""
    summary: str = ""
    tried: tuple[str, ...] = ()
    next: str = ""


class Block(NamedTuple):
    """Keys in small letters with their lines, and the half-open span of lines they stand in."""

    start: int
    end: int
    values: Sequence[tuple[str, list[str]]]


def last_block(text: str) -> Block | None:
    """The last block of closing lines; a fence around it is not part of it."""
    found: Block | None = None
    values: list[tuple[str, list[str]]] = []
    start = end = 0
    blank = True
    for number, line in enumerate([*lines(text), None]):
        key = _KEY.match(line.text) if line and not line.fence else None
        if key and values and key["key"].lower() == "status":
            found, values = _better(found, Block(start, end, values)), []
        if key:
            start = start if values else number
            values.append((key["key"].lower(), [key["value"]]))
        elif values and (line is None or not _goes_on(line.text, values[-1][0], blank, line.fence)):
            found, values = _better(found, Block(start, end, values)), []
        elif values and line:
            values[-1][1].append(line.text)
        blank = line is not None and not line.text.strip()
        end = end if blank else number + 1
    return found


def trailer_of(block: Block | None) -> Trailer:
    """What a block says, within bounds."""
    values = block.values if block else ()
    said = {key: _clean(" ".join(found)) for key, found in values if key != "tried"}
    tried = [_clean(_ITEM.sub("", one, 1)) for key, found in values if key == "tried"
             for one in found]  # fmt: skip
    kept = [one[:_TRIED] for one in tried if one.lower() not in _NOTHING]
    return Trailer(
        _status(said.get("status", "")),
        said.get("summary", "")[:_SUMMARY],
        tuple(kept[:MOST_TRIED]),
        "" if said.get("next", "").lower() in _NOTHING else said["next"][:_NEXT],
    )


def _goes_on(line: str, key: str, blank: bool, fence: bool) -> bool:
    """Whether a line without a key belongs to the value above it."""
    if fence or line.lstrip().startswith(("#", ">")) or _SIGNAL.match(line):
        return False
    if not line.strip():
        return True
    if key == "tried" and _ITEM.match(line):
        return True
    return key != "status" and not blank


def _better(before: Block | None, block: Block) -> Block | None:
    """The later block, if it is one: a single line that begins with `Next:` may be prose."""
    keys = {key for key, _ in block.values}
    return block if len(keys) > 1 or trailer_of(block).status else before


def _status(said: str) -> str:
    found = _STATUS.match(said)
    return re.sub(r"[ -]", "_", found[1].lower()) if found else ""


def _clean(text: str) -> str:
    """One line, without the marks of bold text and code around it."""
    text = " ".join(text.split())
    return re.sub(r"^[*_`]+\s*|\s*(?:\*\*|__|(?<![`\w])`)$", "", text).strip()
