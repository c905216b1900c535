"""`cub run status`: how runs stand, read from the files that they keep."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cub.cli import output
from cub.cli.run.lines import duration
from cub.cli.run.live import rows, seconds_since
from cub.cli.times import time_and_distance

if TYPE_CHECKING:
    from cub.actions.run.status import Standing


def show(root: Path, *, json: bool) -> None:
    """The runs that are at work; where there is none, the last one."""
    from cub.actions.run.folders import RunFolder
    from cub.actions.run.status import standing_of

    found = [standing_of(folder) for folder in RunFolder.all(root)]
    shown = [one for one in found if one.alive] or found[-1:]
    if json:
        runs = [{**one.standing.to_json(), "alive": one.alive} for one in shown]
        output.as_json({"v": 1, "root": root.as_posix(), "runs": runs})
        return
    if not shown:
        output.line("No run has been here yet.")
    now = datetime.now(UTC)
    for number, one in enumerate(shown):
        if number:
            output.line()
        _show(one.standing, now, alive=one.alive)


def _show(standing: Standing, now: datetime, *, alive: bool) -> None:
    since = duration(seconds_since(standing.started, now))
    if alive:
        output.heading(f"{standing.run}: at work for {since}")
    elif standing.ended:
        at = time_and_distance(standing.at, now)
        output.heading(f"{standing.run}: ended {at}: {standing.ended}")
    else:
        output.heading(f"{standing.run}: was killed; the next `cub run` takes it up")
    output.rows([*rows(standing, now)], prose=(1,), indent="  ")
