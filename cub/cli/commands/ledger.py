"""Run `cub ledger`: print what happened, for people and for programs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from cub.actions.ledger_report import AttemptTotals, LedgerStats, TaskHistory, format_agent_label
from cub.cli import output
from cub.cli.event_format import (
    NOT_REPORTED,
    format_attempt_details,
    format_clock_time,
    format_dollars,
    format_event,
)
from cub.cli.options import Json
from cub.cli.parameters import make_option
from cub.cli.task_stores import Id, open_task_stores
from cub.cli.time_format import format_local_time
from cub.store.events import Event, describe_outcome, get_usage, tokens_to_json

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
        str, make_option("--before DATE", "Archive events before this date, such as 2026-01-31.")
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


def format_attempt_row(event: Event) -> tuple[str, ...]:
    """Return the cells of `ATTEMPT_COLUMNS`."""
    return (
        format_local_time(event.get("ts", "?")),
        str(event.get("task", "")),
        str(event.get("n", "")),
        format_agent_label(event),
        format_clock_time(event.get("dur_s")),
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
        format_clock_time(totals.seconds),
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


def _format_usage_cells(event: Event) -> tuple[str, str]:
    """Return the cells "tokens" and "cost"; "" for what no agent was started for."""
    usage, unknown = get_usage(event), NOT_REPORTED if event.get("dur_s") else ""
    cost = format_dollars(usage.usd, is_estimated=usage.is_estimated)
    return (
        unknown if usage.token_count is None else f"{usage.token_count:,}",
        unknown if usage.usd is None else cost,
    )
