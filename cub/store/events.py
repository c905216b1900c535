"""What an event of the ledger may hold: bounded, and without secrets, before it is written."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from cub.store.jsonl import encode_record
from cub.store.timestamps import normalize_timestamp

Event = dict[str, Any]
MaskFunction = Callable[[str], str]

MAX_LINE = 8192  # bytes, with its end
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
_SHRINK_STEPS: tuple[dict[tuple[str, ...], int], ...] = (
    {("checks", "*", "tail"): 400, ("git", "files"): 10},
    {("checks", "*", "tail"): 0, ("checks", "*", "items"): 3, ("checks",): 5},
    {("checks",): 1, ("obs",): 2, ("git", "files"): 0},
)
# Texts that cub makes itself, or that name something: no secret is in them, and looking takes long.
_NAMES = {"ev", "ts", "run", "task", "status", "host", "by", "class", "fp", "base", "head", "id"}
_SHORT = 8  # no secret is that short


def encode_event(event: Event, mask: MaskFunction) -> bytes:
    """An event as a line of at most `MAX_LINE` bytes, its secrets masked and long texts cut."""
    made = _limit_value(mask_event(event, mask), _LIMITS)
    for limits in _SHRINK_STEPS:
        if len(encode_record(made)) < MAX_LINE:
            break
        made = {**_limit_value(made, {**_LIMITS, **limits}), "cut": True}
    if len(encode_record(made)) >= MAX_LINE:
        made = {k: v for k, v in made.items() if not isinstance(v, list | dict)}
    if len(encode_record(made)) >= MAX_LINE:
        made = {
            k: truncate_text(v, _SHORTEST)
            for k, v in made.items()
            if k in _NAMES and isinstance(v, str)
        }
        made |= {"v": 1, "cut": True}
    return encode_record(made)


def mask_event(event: Event, mask: MaskFunction) -> Event:
    """An event without secrets in its texts, names aside."""
    return {name: _mask_value(value, mask, name) for name, value in event.items()}


def get_mapping(event: Event, key: str) -> Event:
    """A mapping in an event; an empty one for anything else."""
    found = event.get(key)
    return found if isinstance(found, dict) else {}


def get_timestamp(event: Event) -> str:
    """The time that an event tells: in a file that git merged, lines are not in its order."""
    return normalize_timestamp(event.get("ts"))


def get_outcome(event: Event) -> str:
    """What an attempt ended with: "ok", or the class of the failure."""
    return "ok" if event.get("ok") else str(get_mapping(event, "fail").get("class") or "unknown")


def truncate_text(text: str, most: int) -> str:
    """At most `most` characters of a text, the last one saying that there was more."""
    return text if len(text) <= most else text[: most - 1] + "…" if most else ""


def _mask_value(value: Any, mask: MaskFunction, key: str = "") -> Any:
    if isinstance(value, str):
        return value if key in _NAMES or len(value) < _SHORT else mask(value)
    if isinstance(value, dict):
        return {name: _mask_value(inner, mask, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mask_value(inner, mask) for inner in value]
    return value


def _limit_value(value: Any, limits: dict[tuple[str, ...], int], path: tuple[str, ...] = ()) -> Any:
    if isinstance(value, str):
        return truncate_text(value, limits.get(path, _TEXT))
    if isinstance(value, dict):
        return {name: _limit_value(inner, limits, (*path, name)) for name, inner in value.items()}
    if isinstance(value, list):
        kept = value[: limits.get(path, _LIST)]
        return [_limit_value(inner, limits, (*path, "*")) for inner in kept]
    # What a client reports may be NaN, which JSON can't say.
    return None if isinstance(value, float) and not isfinite(value) else value
