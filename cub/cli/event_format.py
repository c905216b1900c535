"""Format facts of an attempt for people: its usage, its durations, and its events in the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cub.actions.ledger_report import format_agent_label
from cub.cli.time_format import format_local_time
from cub.store.events import Event, describe_outcome, get_mapping, get_usage

NOT_REPORTED = "not reported"


def format_duration(seconds: float) -> str:
    """Return a duration such as 0.3 s, 12 s, 4 min or 1 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def format_clock_time(seconds: Any) -> str:
    """Return a duration such as 1h 5m, 4m 12s or 12s for a table; "" for what is no number."""
    if not isinstance(seconds, int | float):
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def format_dollars(usd: float | None, *, is_estimated: bool) -> str:
    """Return dollars, "not reported" for None."""
    return NOT_REPORTED if usd is None else f"{'≈ ' * is_estimated}${usd:,.2f}"


def format_usage(tokens: int | None, usd: float | None, *, is_estimated: bool) -> str:
    """Return tokens and dollars, and name what is None: it was not reported."""
    if tokens is None and usd is None:
        return f"usage {NOT_REPORTED}"
    cost = "cost " * (usd is None) + format_dollars(usd, is_estimated=is_estimated)
    return f"tokens {NOT_REPORTED}, {cost}" if tokens is None else f"{tokens:,} tokens, {cost}"


def format_same_attempt(facts: Mapping[str, Any]) -> str:
    """Return which attempt a check or an attempt failed like; "" if this is new."""
    return f" as in attempt {facts['same']}" if facts.get("same") else ""


def format_event(event: Event, *, of_task: bool = True) -> str:
    """Return when an event happened, to which task, and what it was."""
    task = f"  {event['task']}" if of_task and event.get("task") else ""
    return f"{format_local_time(event.get('ts', '?'))}{task}  {_describe_event(event)}"


def _describe_event(event: Event) -> str:
    kind = event.get("ev")
    if kind == "task_state":
        reason = f" ({event['reason']})" if event.get("reason") else ""
        note = f": {event['note']}" if event.get("note") else ""
        return f"{event.get('status', '?')}{reason} by {event.get('by', '?')}{note}"
    if kind == "attempt_start":
        return f"attempt {event.get('n', '?')} starts"
    if kind == "attempt_end":
        return f"attempt {event.get('n', '?')}: {describe_outcome(event)}"
    return str(kind or "?").replace("_", " ")


def format_attempt_details(event: Event) -> Iterator[str]:
    """Yield what is known of an attempt that has ended; nothing for another event."""
    if event.get("ev") != "attempt_end":
        return
    usage, facts = get_usage(event), [format_agent_label(event)]
    facts.append(format_clock_time(event.get("dur_s")))
    if facts[-1] or usage.usd or usage.tokens:  # else no agent was started
        facts.append(format_usage(usage.token_count, usage.usd, is_estimated=usage.is_estimated))
    yield " · ".join(filter(None, facts))
    trailer, fail = get_mapping(event, "trailer"), get_mapping(event, "fail")
    same = format_same_attempt(fail).strip()
    checks = () if same else event.get("checks") or ()
    lines = (
        ("reason", same or fail.get("reason")),
        ("stuck", event.get("stuck") != fail.get("reason") and event.get("stuck")),
        *(("check", _describe_check(check)) for check in checks if check),
        ("checks", event.get("unverified") and f"none has decided: {event['unverified']}"),
        ("commit", _describe_commit(get_mapping(event, "git"), is_ok=bool(event.get("ok")))),
        *(("note", note) for note in event.get("obs") or ()),
        ("says", trailer.get("summary") or event.get("said")),
        *(("tried", tried) for tried in trailer.get("tried") or ()),
        ("next", trailer.get("next")),
        *(("denied", denied) for denied in event.get("denied") or ()),
        ("patch", get_mapping(event, "git").get("patch")),
        ("session", event.get("session")),
        ("resume", event.get("resume")),
        ("log", event.get("log")),
    )
    yield from (f"{name:<7} {value}" for name, value in lines if value)


def _describe_check(check: Any) -> str:
    if not isinstance(check, dict):
        return ""
    failing = check.get("n") or 0
    fresh = f", {check['new']} new" if check.get("new") else ""
    more = f", {failing} failing{fresh}" if failing else ""
    return f"{check.get('cmd', '?')}: exit {check.get('exit', '?')}{more}"


def _describe_commit(git: Event, *, is_ok: bool) -> str:
    head = str(git.get("head") or "")[:10]
    parent = str(git.get("parent") or git.get("base") or "")[:10]
    if not head and not (is_ok and parent and git.get("files")):
        return ""
    head = head or f"the one after {parent}"  # a line can't name the commit that contains it
    count = len(git.get("files") or ())
    files = f"{count} file" + ("" if count == 1 else "s")
    return f"{head} ({files}, +{git.get('ins', 0)} -{git.get('del', 0)})"
