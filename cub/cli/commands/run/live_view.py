"""Show the status of runs: live on a terminal, below the printed lines, or by `cub run status`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from threading import Event as ThreadEvent
from threading import Lock, Thread
from typing import TYPE_CHECKING

from cub.actions.run.run_folders import RunFolder, is_alive
from cub.actions.run.run_status import AttemptRow, RunStatus, read_status
from cub.cli import output
from cub.cli.commands.run.event_lines import format_event_lines, format_progress
from cub.cli.event_format import format_duration, format_usage
from cub.cli.time_format import format_time_with_age
from cub.processes.command import StopRequest

if TYPE_CHECKING:
    from rich.table import Table


@contextmanager
def show_live_panel(
    status: RunStatus, stop: StopRequest, seconds: float = 0.25
) -> Iterator[Callable[[str], None]]:
    """Show the status of a run, refreshed every few `seconds`; yield what prints lines above it.

    Rich finds the top of the status in one step and draws it in another one. A thread that draws
    fewer rows between the two would have printed lines erased, so only one draws at a time.
    """
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(
        emoji=False, highlight=False, color_system="auto" if output.has_color() else None
    )
    drawing, ended = Lock(), ThreadEvent()

    def print_line(line: str) -> None:
        with drawing:
            console.print(Text.from_ansi(output.format_for_terminal(line)), soft_wrap=True)

    def keep_refreshing() -> None:
        while not ended.wait(seconds):
            with drawing:
                live.refresh()

    with Live(
        get_renderable=lambda: _make_table(status, stop),
        console=console,
        auto_refresh=False,
        transient=True,
    ) as live:
        thread = Thread(target=keep_refreshing, daemon=True)
        thread.start()
        try:
            yield print_line
        finally:
            ended.set()
            thread.join()


def _make_table(status: RunStatus, stop: StopRequest) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    table.add_column(style="dim", no_wrap=True, min_width=6)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for name, text in list_status_rows(status, datetime.now(UTC)):
        table.add_row(name, Text.from_ansi(output.format_for_terminal(text)))
    if stop.is_requested:
        table.add_row("", Text("Stopping. Press Ctrl-C again to exit immediately.", style="yellow"))
    return table


def list_status_rows(status: RunStatus, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield the rows: the attempts under way, and what the run used."""
    rows = [*status.running.values()]  # another thread may add one meanwhile
    if len(rows) > 1:
        for row in rows:
            yield row.task, _describe_in_one_line(row, now)
    else:
        yield from _list_attempt_rows(status, status.current, now)
    outcomes = ", ".join(f"{count} {name}" for name, count in status.outcomes.items())
    usage = ""
    if status.attempts or status.tokens is not None or status.usd is not None:
        usage = format_usage(status.tokens, status.usd, is_estimated=status.estimated)
    yield "run", "; ".join(filter(None, [f"{status.ready} more ready", outcomes, usage]))


def _list_attempt_rows(
    status: RunStatus, row: AttemptRow, now: datetime
) -> Iterator[tuple[str, str]]:
    """Yield the task, the agent, what it does, the files it has changed, and what it says."""
    if row.task:
        which = f" (attempt {row.attempt})" if row.attempt > 1 else ""
        progress = format_progress(row.task_number, row.task_count).removeprefix("task ")
        yield "task", f"{progress}{row.task}: {row.title}{which}"
        since = format_duration(get_seconds_since(row.attempt_started, now))
        yield "agent", f"{row.harness}, for {since}"
    if status.waiting_until:
        left = format_duration(max(0.0, -get_seconds_since(status.waiting_until, now)))
        yield "now", f"{row.doing}, {left} more"
    elif row.doing:
        yield "now", row.doing
    if files := row.list_changed_files():
        yield "files", f"{len(files)} changed: {', '.join(files)}"
    if row.said:
        yield "said", row.said


def _describe_in_one_line(row: AttemptRow, now: datetime) -> str:
    """Return what one of several attempts does: what matters most comes first."""
    since = format_duration(get_seconds_since(row.attempt_started, now))
    which = f", attempt {row.attempt}" if row.attempt > 1 else ""
    files = row.list_changed_files()
    changed = f"{len(files)} file{'s' * (len(files) != 1)} changed: " if files else ""
    return f"{since}{which}: {changed}{row.doing}"


def get_seconds_since(timestamp: str, now: datetime) -> float:
    """Return how long ago a timestamp was; 0 for none."""
    try:
        return (now - datetime.fromisoformat(timestamp)).total_seconds()
    except ValueError:
        return 0.0


def show_run_status(root: Path, *, json: bool) -> None:
    """Print the status of the runs that are alive, or else of the last one."""
    folders = RunFolder.list_all(root)
    alive = list(filter(is_alive, folders))
    runs = [read_status(folder) for folder in alive or folders[-1:]]
    if json:
        trees = [{**run.to_json(), "alive": bool(alive)} for run in runs]
        output.print_json({"v": 1, "root": root.as_posix(), "runs": trees})
        return
    if not runs:
        output.print_line("No runs yet.")
    now = datetime.now(UTC)
    for number, run in enumerate(runs):
        if number:
            output.print_line()
        _print_status(run, now, alive=bool(alive))


def _print_status(status: RunStatus, now: datetime, *, alive: bool) -> None:
    since = format_duration(get_seconds_since(status.started, now))
    if alive:
        output.print_heading(f"{status.run}: running for {since}")
    elif status.ended:
        at = format_time_with_age(status.at, now)
        output.print_heading(f"{status.run}: ended {at}: {status.ended}")
        if status.end:
            for line in islice(format_event_lines(status.end), 1, None):  # the first one is blank
                output.print_paragraph(line)
            return
    else:
        output.print_heading(f"{status.run}: was killed; the next `cub run` cleans up after it")
    output.print_rows([*list_status_rows(status, now)], prose=(1,), indent="  ")
