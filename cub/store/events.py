"""Encode events of the ledger: of limited size, and without secrets."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from cub.masking import mask_tree
from cub.store.jsonl import encode_record
from cub.store.timestamps import normalize_timestamp
from cub.text import truncate_text
from cub.tokens import TokenUsage

Event = dict[str, Any]

MAX_LINE = 8192  # bytes, with its end
TASK_STATE, ATTEMPT_START, ATTEMPT_END = "task_state", "attempt_start", "attempt_end"
RUN_START, RUN_END = "run_start", "run_end"

# Maximum characters of a text, or entries of a list; `*` stands for each entry of a list.
_LIMITS: dict[tuple[str, ...], int] = {
    ("fail", "reason"): 300, ("git", "files"): 30,
    ("checks",): 20, ("checks", "*", "items"): 8, ("checks", "*", "items", "*", "*"): 160,
    ("checks", "*", "tail"): 1500, ("obs",): 6, ("obs", "*"): 200,
    ("trailer", "summary"): 400, ("trailer", "tried"): 5, ("trailer", "tried", "*"): 160,
    ("trailer", "next"): 200, ("stuck",): 1500, ("said",): 200, ("note",): 1600,
    ("unverified",): 300,
}  # fmt: skip
_MAX_TEXT = 1000  # characters of any other text
_MAX_ITEMS = 100  # of any other list
_MAX_NAME = 100  # characters of a name, if nothing but names is left
# If an event still is too long, these limits apply one after the other.
_SHRINK_STEPS: tuple[dict[tuple[str, ...], int], ...] = (
    {
        ("checks", "*", "tail"): 400,
        ("git", "files"): 10,
        ("stuck",): 500,
    },
    {("checks", "*", "tail"): 0, ("checks", "*", "items"): 3, ("checks",): 5},
    {("checks",): 1, ("obs",): 2, ("git", "files"): 0},
)
# Strings that cub makes, or names: they have no secret in them, and masking takes time.
_NAMES = {"ev", "ts", "run", "task", "status", "host", "by", "class", "fp", "base", "head", "id"}
_TOKENS = ("in", "out", "cache_read", "cache_write")


def encode_event(event: Event) -> bytes:
    """Return an event as a line of at most `MAX_LINE` bytes, secrets masked and long texts cut."""
    limited = _limit_value(mask_event(event), _LIMITS)
    for limits in _SHRINK_STEPS:
        if len(encode_record(limited)) < MAX_LINE:
            break
        limited = {**_limit_value(limited, {**_LIMITS, **limits}), "cut": True}
    if len(encode_record(limited)) >= MAX_LINE:
        limited = {k: v for k, v in limited.items() if not isinstance(v, list | dict)}
    if len(encode_record(limited)) >= MAX_LINE:
        names = {k: v for k, v in limited.items() if k in _NAMES and isinstance(v, str)}
        limited = {key: truncate_text(value, _MAX_NAME) for key, value in names.items()}
        limited |= {"v": 1, "cut": True}
    return encode_record(limited)


def mask_event(event: Event) -> Event:
    """Return an event without secrets in its strings, except for names."""
    masked: Event = mask_tree(event, _NAMES)
    return masked


def get_mapping(event: Event, key: str) -> Event:
    """Return a mapping in an event; an empty one for anything else."""
    value = event.get(key)
    return value if isinstance(value, dict) else {}


class ReportedUsage(NamedTuple):
    """Hold what an attempt or a run used; None for what the agent did not report.

    `is_estimated`: the dollars were computed from a table of prices.
    """

    tokens: TokenUsage | None
    usd: float | None
    is_estimated: bool

    @property
    def token_count(self) -> int | None:
        """Return the number of tokens that counts everywhere, `TokenUsage.total`."""
        return None if self.tokens is None else self.tokens.total


def get_usage(event: Event) -> ReportedUsage:
    """Return what an event says was used, as far as it can be read."""
    counts = (get_mapping(event, "tok").get(name) for name in _TOKENS)
    tokens = TokenUsage(*(count if type(count) is int else 0 for count in counts))
    usd = event.get("usd")
    if not isinstance(usd, int | float) or not isfinite(usd):
        usd = None
    is_estimated = usd is not None and event.get("usd_src") == "computed"
    return ReportedUsage(tokens if any(tokens) else None, usd, is_estimated)


def tokens_to_json(tokens: TokenUsage | None) -> dict[str, int] | None:
    """Return tokens under the ledger's keys; None if they are not known."""
    return None if tokens is None else dict(zip(_TOKENS, tokens, strict=True))


def get_timestamp(event: Event) -> str:
    """Return the time of an event: lines that git merged are not in its order."""
    return normalize_timestamp(event.get("ts"))


def get_outcome(event: Event) -> str:
    """Return what an attempt ended with: "ok", or the class of the failure."""
    return "ok" if event.get("ok") else str(get_mapping(event, "fail").get("class") or "unknown")


def describe_outcome(event: Event) -> str:
    """Return the outcome for a person, with the number of known failures that are left."""
    counts = {"excused": event.get("excused"), "left as before": event.get("known_failures")}
    known = [
        f", {count} known failure{'s' * (count != 1)} {what}"
        for what, count in counts.items()
        if type(count) is int and count > 0
    ]
    return get_outcome(event) + "".join(known)


def _limit_value(value: Any, limits: dict[tuple[str, ...], int], path: tuple[str, ...] = ()) -> Any:
    if isinstance(value, str):
        return truncate_text(value, limits.get(path, _MAX_TEXT))
    if isinstance(value, dict):
        return {name: _limit_value(inner, limits, (*path, name)) for name, inner in value.items()}
    if isinstance(value, list):
        items = value[: limits.get(path, _MAX_ITEMS)]
        return [_limit_value(inner, limits, (*path, "*")) for inner in items]
    # An agent may report NaN, which JSON does not have.
    return None if isinstance(value, float) and not isfinite(value) else value
