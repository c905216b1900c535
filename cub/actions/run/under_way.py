"""An attempt, and what is known of it so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cub.actions.run.check_inputs import Inputs
from cub.actions.run.checking import Compared
from cub.actions.run.client import Worked
from cub.actions.run.folders import ASIDE, SETTINGS, START, AttemptFolder
from cub.actions.run.guard import Guard
from cub.actions.run.policy import History
from cub.actions.run.run import Run
from cub.git.snapshot import FileChange
from cub.harness.base import Harness
from cub.harness.transcript import Transcript
from cub.processes.command import Ended
from cub.store.jsonl import Record

_NOT_BEGUN = Ended(None, None, "stopped", "", 0.0)


@dataclass(slots=True)
class Attempt:
    """`before` and `after` are the ground's snapshots; `observed` is for the next attempt; `inputs`
    is what the checks go by, `doubts` tells what of it was changed; `replaced` says what stood in
    the place of `.cub` or of git's folder.
    """

    task: Record
    own_checks: tuple[str, ...]
    number: int
    harness: Harness
    files: AttemptFolder
    history: History
    before: Any = None
    after: Any = None
    worked: Worked = field(default_factory=lambda: Worked(_NOT_BEGUN, Transcript(), ""))
    changed: list[FileChange] = field(default_factory=list)
    checks: list[Compared] = field(default_factory=list)
    request: dict[str, Any] = field(default_factory=dict)
    observed: list[str] = field(default_factory=list)
    settings: Any = None
    replaced: list[str] = field(default_factory=list)
    inputs: Inputs = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    moved: str = ""
    began: float = 0.0

    @property
    def key(self) -> str:
        """The task's id."""
        return str(self.task["id"])


def restore_around(run: Run, this: Attempt, guard: Guard) -> None:
    """Put back what an attempt changed around its files: in `.cub/`, and in git's own folder."""
    this.replaced += guard.restore_kinds()
    if damage := run.ground.repair_repository(this.files.clear_links()):
        this.replaced.append(damage)
    back = guard.restore_files()
    if this.settings is not None:
        back += run.ground.restore_settings(this.settings, this.files.clear_way(ASIDE))
    this.observed += [f"{name} was changed by the attempt, and is back" for name in back]


def keep_settings(run: Run, this: Attempt) -> None:
    """Write down git's settings for recovery, where they are not those that are written down."""
    if this.settings is None:
        return
    tree = {"settings": this.settings.to_json()}
    if run.folder.read(SETTINGS) != tree:
        run.folder.write_state(SETTINGS, tree)


def keep_start(run: Run, this: Attempt) -> None:
    """Write down what recovery needs, before anything is started."""
    start = {
        "task": this.key,
        "n": this.number,
        "harness": this.harness.name,
        "at": run.now,
        "charged": this.history.charged,
        "folder": run.ground.folder.as_posix(),
        "top": run.ground.top.as_posix(),
        "before": this.before.to_json(),
    }
    this.files.write(START, start)
