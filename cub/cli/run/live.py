"""The live view of a run on a terminal: one panel below the lines that have been printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.run.lines import cost, duration

if TYPE_CHECKING:
    from rich.table import Table

    from cub.actions.run.status import Standing
    from cub.processes.stop import Stop

_FRAMES = 4  # a second


@contextmanager
def panel(standing: Standing, stop: Stop) -> Iterator[Callable[[str], None]]:
    """Show how the run stands, anew several times a second; gives what prints lines above it."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(
        emoji=False, highlight=False, color_system="auto" if output.is_colored() else None
    )
    with Live(
        get_renderable=lambda: _table(standing, stop),
        console=console,
        refresh_per_second=_FRAMES,
        transient=True,
    ):
        yield lambda line: console.print(Text.from_ansi(output.for_terminal(line)), soft_wrap=True)


def _table(standing: Standing, stop: Stop) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True, min_width=6)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for name, text in rows(standing, datetime.now(UTC)):
        table.add_row(name, Text.from_ansi(output.for_terminal(text)))
    if stop.requested:
        table.add_row("", Text("Stopping. Ctrl-C once more ends at once.", style="yellow"))
    return table


def rows(standing: Standing, now: datetime) -> Iterator[tuple[str, str]]:
    """What there is to see: the task, the client, what it does, what is used up, the queue."""
    if standing.task:
        which = f" (attempt {standing.attempt})" if standing.attempt > 1 else ""
        yield "task", f"{standing.task}: {standing.title}{which}"
        since = duration(seconds_since(standing.attempt_started, now))
        yield "client", f"{standing.harness}, for {since}"
    if standing.waiting_until:
        left = duration(max(0.0, -seconds_since(standing.waiting_until, now)))
        yield "now", f"waiting for the end of a limit, {left} more"
    elif standing.doing:
        yield "now", standing.doing
    if standing.said:
        yield "said", standing.said
    used = cost(standing.tokens, standing.usd)
    tried = ", ".join(f"{count} {name}" for name, count in standing.outcomes.items())
    so_far = [f"{standing.ready} more ready", tried, used]
    yield "run", "; ".join(filter(None, so_far))


def seconds_since(moment: str, now: datetime) -> float:
    """How long ago a moment was; 0 for none."""
    try:
        return (now - datetime.fromisoformat(moment)).total_seconds()
    except ValueError:
        return 0.0
