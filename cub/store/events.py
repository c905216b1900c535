"""What an event of the ledger may hold: bounded, and without secrets, before it is written."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from cub.store.jsonl import encode
from cub.store.moments import moment

Event = dict[str, Any]
Mask = Callable[[str], str]

LINE = 8192  # bytes, with its end
TASK_STATE, ATTEMPT_START, ATTEMPT_END = "task_state", "attempt_start", "attempt_end"
RUN_START, RUN_END = "run_start", "run_end"

# How many characters a text may have, or entries a list; `*` stands for each entry of a list.
_LIMITS: dict[tuple[str, ...], int] = {
    ("fail", "reason"): 300,
    ("git", "files"): 30,
    ("checks",): 20,
    ("checks", "*", "items"): 8,
    ("checks", "*", "items", "*", "*"): 160,
    ("checks", "*", "tail"): 1500,
    ("obs",): 6,
    ("obs", "*"): 200,
    ("trailer", "summary"): 400,
    ("trailer", "tried"): 5,
    ("trailer", "tried", "*"): 160,
    ("trailer", "next"): 200,
    ("stuck",): 500,
    ("said",): 200,
    ("note",): 500,
    ("unverified",): 300,
}
_TEXT = 1000  # characters of any other text
_LIST = 100
_SHORTEST = 100  # of a name, where nothing but names is left
# Where there still is too much: what is given up first comes first.
_SPARED: tuple[dict[tuple[str, ...], int], ...] = (
    {("checks", "*", "tail"): 400, ("git", "files"): 10},
    {("checks", "*", "tail"): 0, ("checks", "*", "items"): 3, ("checks",): 5},
    {("checks",): 1, ("obs",): 2, ("git", "files"): 0},
)
# Texts that cub makes itself, or that name something: no secret is in them, and looking takes long.
_NAMES = {"ev", "ts", "run", "task", "status", "host", "by", "class", "fp", "base", "head", "id"}
_SHORT = 8  # no secret is that short


def line_of(event: Event, mask: Mask) -> bytes:
    """An event as a line of at most `LINE` bytes, its secrets masked and long texts cut."""
    made = _bounded(masked_event(event, mask), _LIMITS)
    for limits in _SPARED:
        if len(encode(made)) < LINE:
            break
        made = {**_bounded(made, {**_LIMITS, **limits}), "cut": True}
    if len(encode(made)) >= LINE:
        made = {k: v for k, v in made.items() if not isinstance(v, list | dict)}
    if len(encode(made)) >= LINE:
        made = {k: cut(v, _SHORTEST) for k, v in made.items() if k in _NAMES and isinstance(v, str)}
        made |= {"v": 1, "cut": True}
    return encode(made)


def masked_event(event: Event, mask: Mask) -> Event:
    """An event without secrets in its texts, names aside."""
    return {name: _masked(value, mask, name) for name, value in event.items()}


def part(event: Event, key: str) -> Event:
    """A mapping in an event; an empty one for anything else."""
    found = event.get(key)
    return found if isinstance(found, dict) else {}


def when(event: Event) -> str:
    """The time that an event tells: in a file that git merged, lines are not in its order."""
    return moment(event.get("ts"))


def outcome(event: Event) -> str:
    """What an attempt ended with: "ok", or the class of the failure."""
    return "ok" if event.get("ok") else str(part(event, "fail").get("class") or "unknown")


def cut(text: str, most: int) -> str:
    """At most `most` characters of a text, the last one saying that there was more."""
    return text if len(text) <= most else text[: most - 1] + "…" if most else ""


def _masked(value: Any, mask: Mask, key: str = "") -> Any:
    if isinstance(value, str):
        return value if key in _NAMES or len(value) < _SHORT else mask(value)
    if isinstance(value, dict):
        return {name: _masked(inner, mask, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(inner, mask) for inner in value]
    return value


def _bounded(value: Any, limits: dict[tuple[str, ...], int], path: tuple[str, ...] = ()) -> Any:
    if isinstance(value, str):
        return cut(value, limits.get(path, _TEXT))
    if isinstance(value, dict):
        return {name: _bounded(inner, limits, (*path, name)) for name, inner in value.items()}
    if isinstance(value, list):
        kept = value[: limits.get(path, _LIST)]
        return [_bounded(inner, limits, (*path, "*")) for inner in kept]
    # What a client reports may be NaN, which JSON can't say.
    return None if isinstance(value, float) and not isfinite(value) else value
