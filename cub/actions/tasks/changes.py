"""Changes of tasks that were made by commands while a run is at work, for that run to believe.

An agent can write anything into the store's files, with any revision and any event in the ledger.
What a person, or another run, changes meanwhile is told from that by a record that is signed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cub.actions.tasks.marks import find_mark
from cub.errors import CubError
from cub.files.signed import append_signed, project_state, read_signed, read_signed_lines
from cub.store.events import TASK_STATE, Event

CHANGES = "changes.jsonl"
RUN_FILE = "run.json"


class StatusChange(NamedTuple):
    """A task, the status that a command gave it, and who gave the command."""

    task: str
    status: str
    by: str


def record_changes(root: Path, events: Sequence[Event]) -> None:
    """Record what a command made of tasks of the project at `root`, for each run that is at work;
    nothing from within an attempt.
    """
    changes = [event for event in events if event.get("ev") == TASK_STATE]
    if not changes:
        return
    folders = [file.parent for file in (project_state(root) / "runs").glob(f"*/{RUN_FILE}")]
    if not folders or find_mark(root):
        return
    for folder in folders:
        if read_signed(folder / RUN_FILE).get("ended", True):
            continue
        for event in changes:
            with suppress(CubError):
                row = {name: str(event.get(name)) for name in StatusChange._fields}
                append_signed(folder / CHANGES, row)


def read_changes(folder: Path) -> list[StatusChange]:
    """Read what was recorded for the run whose state is in `folder`, the first change first."""
    rows = read_signed_lines(folder / CHANGES)
    return [StatusChange(*(str(row.get(name)) for name in StatusChange._fields)) for row in rows]
