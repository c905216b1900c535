"""Run `cub ledger`: print what happened, for people and for programs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from cub.actions.ledger_report import AttemptTotals, LedgerStats, TaskHistory, format_agent_label
from cub.cli import output
from cub.cli.commands.run.event_lines import (
    NOT_REPORTED,
    format_dollars,
    format_same_attempt,
    format_usage,
)
from cub.cli.parameters import make_option
from cub.cli.task_stores import Id, Json, open_task_stores
from cub.cli.time_format import format_local_time
from cub.store.events import Event, describe_outcome, get_mapping, get_usage, tokens_to_json

app = typer.Typer(add_completion=False, no_args_is_help=True)
ATTEMPT_COLUMNS = ("when", "task", "n", "agent", "time", "tokens", "cost", "outcome")
WRAPPED_COLUMNS = ("agent", "cost")  # columns that may be wrapped
# What the figures mean, for those that a table has.
_LEGEND = {
    "n": "the number of the attempt at its task",
    "tokens": "input and output tokens, as the agent reports them",
    "≈": "an estimated cost",
}
STATS_COLUMNS = ("agent", "attempts", "succeeded", "time", "tokens", "cost")
_POLL_INTERVAL = 0.3  # seconds
Limit = Annotated[int, make_option("--limit -n N", "Print at most N.", min=1)]


@app.callback()
def ledger() -> None:
    """Show past attempts and their results.

    The ledger is .cub/ledger.jsonl, with one event per line. cub only appends to it.

    Example: cub ledger show k3f9a
    """


@app.command()
def show(context: typer.Context, key: Id, json: Json = False) -> None:
    """Show the history of a task.

    For each attempt, cub shows the time, the agent, the duration, the cost, and the result.

    Example: cub ledger show k3f9a
    """
    from cub.actions.ledger_report import read_task_history

    stores = open_task_stores(context)
    history = read_task_history(stores, key)
    if json:
        tree = {"v": 1, "root": stores.root.as_posix(), "task": history.task_id, "events": []}
        output.print_json_rows(tree, "events", history.events)
        return
    first, *rest = format_story(history)
    output.print_heading(first)
    for line in rest:
        output.print_paragraph(line)


@app.command(name="list")
def list_(context: typer.Context, limit: Limit = 20, json: Json = False) -> None:
    """List the last attempts at all tasks, newest first.

    Example: cub ledger list --limit 5
    """
    from cub.actions.ledger_report import list_newest_attempts

    stores = open_task_stores(context)
    events = list_newest_attempts(stores, limit)
    if json:
        tree = {"v": 1, "root": stores.root.as_posix(), "events": []}
        output.print_json_rows(tree, "events", events)
    elif events:
        rows = [format_attempt_row(event) for event in events]
        output.print_table(ATTEMPT_COLUMNS, rows, prose=WRAPPED_COLUMNS)
        shown = "\n".join([*ATTEMPT_COLUMNS, *(cell for row in rows for cell in row)])
        output.print_legend(_LEGEND, shown)
    else:
        output.print_message("No attempts yet.")


@app.command()
def stats(context: typer.Context, json: Json = False) -> None:
    """Sum up attempts, results, time, tokens, and cost.

    Example: cub ledger stats --json
    """
    from cub.actions.ledger_report import count_attempts

    stores = open_task_stores(context)
    totals = count_attempts(stores.ledger.iter_events())
    if json:
        output.print_json({"v": 1, "root": stores.root.as_posix(), **ledger_stats_to_json(totals)})
        return
    output.print_table(STATS_COLUMNS, format_stats_rows(totals), prose=WRAPPED_COLUMNS)
    rows = [(name, f"{count:,}") for name, count in sorted(totals.outcomes.items())]
    if rows:
        output.print_line()
        output.print_table(("outcome", "attempts"), rows)


@app.command()
def tail(
    context: typer.Context,
    count: Annotated[int, make_option("--lines -n N", "Start with the last N events.", min=0)] = 10,
    follow: Annotated[
        bool, make_option("--follow -f", "Continue with new events until Ctrl-C.")
    ] = False,
    json: Annotated[bool, make_option("--json", "Print one JSON event per line.")] = False,
) -> None:
    """Print the last events; with -f, also new ones.

    Example: cub ledger tail -f
    """
    stores = open_task_stores(context)
    for event in stores.ledger.follow(count):
        if event is not None and json:
            output.print_json_line(event)
        elif event is not None:
            output.print_paragraph(format_event(event))
        elif not follow:
            return
        else:
            time.sleep(_POLL_INTERVAL)


@app.command()
def archive(
    context: typer.Context,
    before: Annotated[
        str,
        make_option("--before DATE", "Archive events before this date, such as 2026-01-31."),
    ],
) -> None:
    """Move older events to .cub/ledger-archive.jsonl.

    Events that open tasks need stay.

    Example: cub ledger archive --before 2026-01-31
    """
    from cub.actions.ledger_report import archive_old_events

    moved_count, kept_count = archive_old_events(open_task_stores(context), before)
    events = "1 event" if moved_count == 1 else f"{moved_count:,} events"
    output.print_line(f"Moved {events} to the archive.")
    if kept_count:
        stay = "event stays: its task is" if kept_count == 1 else "events stay: their tasks are"
        output.print_message(f"{kept_count:,} older {stay} not closed.")


def format_story(story: TaskHistory) -> Iterator[str]:
    """Yield a task's title, then its events, with all that is known of an attempt."""
    title = "(deleted)" if story.task is None else story.task.get("title", "")
    yield f"{story.task_id}  {title}".rstrip()
    for event in story.events:
        yield format_event(event, of_task=False)
        yield from (f"    {line}" for line in format_attempt_details(event))
    if not story.events:
        yield "No events yet."


def format_event(event: Event, *, of_task: bool = True) -> str:
    """Return when an event happened, to which task, and what it was."""
    task = f"  {event['task']}" if of_task and event.get("task") else ""
    return f"{format_local_time(event.get('ts', '?'))}{task}  {_describe_event(event)}"


def format_attempt_row(event: Event) -> tuple[str, ...]:
    """Return the cells of `ATTEMPT_COLUMNS`."""
    return (
        format_local_time(event.get("ts", "?")),
        str(event.get("task", "")),
        str(event.get("n", "")),
        format_agent_label(event),
        _format_duration(event.get("dur_s")),
        *_format_usage_cells(event),
        describe_outcome(event),
    )


def format_stats_rows(stats: LedgerStats) -> list[tuple[str, ...]]:
    """Return the cells of `STATS_COLUMNS`: a row for each agent, and one for all of them."""
    rows = [(name, *_format_totals(totals)) for name, totals in sorted(stats.agents.items())]
    return [*rows, ("in all", *_format_totals(stats.all))]


def ledger_stats_to_json(stats: LedgerStats) -> dict[str, Any]:
    """Return the same for programs."""
    agents = {name: _totals_to_json(totals) for name, totals in sorted(stats.agents.items())}
    outcomes = dict(sorted(stats.outcomes.items()))
    return {**_totals_to_json(stats.all), "clients": agents, "outcomes": outcomes}


def _totals_to_json(totals: AttemptTotals) -> dict[str, Any]:
    return {
        "attempts": totals.attempts,
        "ok": totals.ok_count,
        "seconds": round(totals.seconds, 3),
        "tokens": tokens_to_json(totals.tokens) if any(totals.tokens) else {},
        "usd": round(totals.usd, 6) if totals.usd or not totals.without_usd else None,
        "without_tokens": totals.without_tokens,
        "without_usd": totals.without_usd,
        "estimated": totals.is_estimated,
    }


def _format_totals(totals: AttemptTotals) -> tuple[str, ...]:
    return (
        f"{totals.attempts:,}",
        f"{totals.ok_count:,}",
        _format_duration(totals.seconds),
        _format_sum(f"{totals.tokens.total:,}", any(totals.tokens), totals.without_tokens),
        _format_sum(
            format_dollars(totals.usd, is_estimated=totals.is_estimated),
            totals.usd,
            totals.without_usd,
        ),
    )


def _format_sum(text: str, has_any: object, unreported_count: int) -> str:
    """Return a sum, with the number of attempts that it does not have; "" if nothing ran."""
    if not has_any:
        return NOT_REPORTED if unreported_count else ""
    return f"{text} ({unreported_count:,} {NOT_REPORTED})" if unreported_count else text


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
    facts.append(_format_duration(event.get("dur_s")))
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


def _format_duration(seconds: Any) -> str:
    if not isinstance(seconds, int | float):
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def _format_usage_cells(event: Event) -> tuple[str, str]:
    """Return the cells "tokens" and "cost"; "" for what no agent was started for."""
    usage, unknown = get_usage(event), NOT_REPORTED if event.get("dur_s") else ""
    cost = format_dollars(usage.usd, is_estimated=usage.is_estimated)
    return (
        unknown if usage.token_count is None else f"{usage.token_count:,}",
        unknown if usage.usd is None else cost,
    )
