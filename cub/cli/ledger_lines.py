"""Events of the ledger as lines and cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cub.actions.history import Stats, Story, Totals, client
from cub.cli.times import local_time
from cub.store.events import Event, outcome, part

ATTEMPT_COLUMNS = ("when", "task", "n", "client", "time", "tokens", "cost", "outcome")
PROSE = ("client", "cost")  # columns that may be wrapped
STATS_COLUMNS = ("client", "attempts", "succeeded", "time", "tokens", "cost")


def story_lines(story: Story) -> Iterator[str]:
    """A task's title, then each event; of an attempt all that is known."""
    title = "this task is gone" if story.task is None else story.task.get("title", "")
    yield f"{story.id}  {title}".rstrip()
    for event in story.events:
        yield event_line(event, of_task=False)
        yield from (f"    {line}" for line in _details(event))
    if not story.events:
        yield "Nothing happened to it yet."


def event_line(event: Event, *, of_task: bool = True) -> str:
    """When, to which task, and what."""
    task = f"  {event['task']}" if of_task and event.get("task") else ""
    return f"{local_time(event.get('ts', '?'))}{task}  {_what(event)}"


def attempt_cells(event: Event) -> tuple[str, ...]:
    """The cells of `ATTEMPT_COLUMNS`."""
    return (
        local_time(event.get("ts", "?")),
        str(event.get("task", "")),
        str(event.get("n", "")),
        client(event),
        _duration(event.get("dur_s")),
        _tokens(event),
        _cost(event),
        outcome(event),
    )


def stats_cells(stats: Stats) -> list[tuple[str, ...]]:
    """The cells of `STATS_COLUMNS`, a row for each client, and one for all of them."""
    rows = [(name, *_totals(totals)) for name, totals in sorted(stats.clients.items())]
    return [*rows, ("in all", *_totals(stats.all))]


def stats_tree(stats: Stats) -> dict[str, Any]:
    """The same for programs."""
    clients = {name: _tree(totals) for name, totals in sorted(stats.clients.items())}
    outcomes = dict(sorted(stats.outcomes.items()))
    return {**_tree(stats.all), "clients": clients, "outcomes": outcomes}


def _tree(totals: Totals) -> dict[str, Any]:
    return {
        "attempts": totals.attempts,
        "ok": totals.ok,
        "seconds": round(totals.seconds, 3),
        "tokens": dict(sorted(totals.tokens.items())),
        "usd": round(totals.usd, 6),
        "estimated": totals.estimated,
    }


def _totals(totals: Totals) -> tuple[str, ...]:
    return (
        f"{totals.attempts:,}",
        f"{totals.ok:,}",
        _duration(totals.seconds),
        f"{sum(totals.tokens.values()):,}" if totals.tokens else "",
        f"${totals.usd:,.2f}{' (some estimated)' * totals.estimated}" if totals.usd else "",
    )


def _what(event: Event) -> str:
    kind = event.get("ev")
    if kind == "task_state":
        reason = f" ({event['reason']})" if event.get("reason") else ""
        note = f": {event['note']}" if event.get("note") else ""
        return f"{event.get('status', '?')}{reason} by {event.get('by', '?')}{note}"
    if kind == "attempt_start":
        return f"attempt {event.get('n', '?')} begins"
    if kind == "attempt_end":
        return f"attempt {event.get('n', '?')}: {outcome(event)}"
    return str(kind or "?").replace("_", " ")


def _details(event: Event) -> Iterator[str]:
    if event.get("ev") != "attempt_end":
        return
    facts = (client(event), _duration(event.get("dur_s")), _tokens(event), _cost(event))
    yield " · ".join(filter(None, (*facts[:2], f"{facts[2]} tokens" if facts[2] else "", facts[3])))
    said = (
        ("reason", part(event, "fail").get("reason")),
        ("stuck", event.get("stuck")),
        *(("check", _check(check)) for check in event.get("checks") or () if check),
        ("commit", _commit(part(event, "git"))),
        ("says", part(event, "trailer").get("summary")),
        ("log", event.get("log")),
    )
    yield from (f"{name:<7} {value}" for name, value in said if value)


def _check(check: Any) -> str:
    if not isinstance(check, dict):
        return ""
    failing = check.get("n") or 0
    fresh = f", {check['new']} new" if check.get("new") else ""
    more = f", {failing} failing{fresh}" if failing else ""
    return f"{check.get('cmd', '?')}: exit {check.get('exit', '?')}{more}"


def _commit(git: Event) -> str:
    head = str(git.get("head") or "")[:10]
    if not head:
        return ""
    count = len(git.get("files") or ())
    files = f"{count} file" + ("" if count == 1 else "s")
    return f"{head} ({files}, +{git.get('ins', 0)} -{git.get('del', 0)})"


def _duration(seconds: Any) -> str:
    if not isinstance(seconds, int | float):
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def _tokens(event: Event) -> str:
    used = [n for n in part(event, "tok").values() if isinstance(n, int)]
    return f"{sum(used):,}" if used else ""


def _cost(event: Event) -> str:
    usd, source = event.get("usd"), event.get("usd_src")
    if not isinstance(usd, int | float) or source == "none":
        return ""
    return f"${usd:.2f}" + (f" ({source})" if source else "")
