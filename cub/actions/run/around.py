"""The checks around an attempt: what they say of the files before it, and after."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import BinaryIO

from cub.actions.run.checking import Check, compared
from cub.actions.run.client import mark_of
from cub.actions.run.folders import BASELINE, CHECKED, CHECKS
from cub.actions.run.run import Run
from cub.actions.run.under_way import Attempt, keep_start
from cub.store.events import Event


def checks_before(
    run: Run, this: Attempt, commands: Sequence[str]
) -> Generator[Event, None, dict[str, Check]]:
    """What the checks say of the files as they are, asked only where nobody knows."""
    found = {command: run.checker.recall(this.before.tree, command) for command in commands}
    missing = [command for command, check in found.items() if check is None]
    if missing:
        with this.files.opened(BASELINE) as log:
            for command in missing:
                found[command] = yield from _check(run, this, command, log, base=True)
        fresh = run.ground.snapshot()
        if fresh.tree != this.before.tree:  # what a check leaves behind is no work of the agent's
            this.before = fresh
            keep_start(run, this)
        for known in filter(None, found.values()):
            run.checker.keep(this.before.tree, known)
    return {command: check for command, check in found.items() if check}


def checks_after(
    run: Run, this: Attempt, commands: Sequence[str], base: dict[str, Check]
) -> Generator[Event, None, None]:
    """Run the checks; one that the files were asked already is not asked again."""
    with this.files.opened(CHECKS) as log:
        for command in commands:
            # Only what this very run has seen: who works here could forge what is on disk.
            check = run.checker.known.get((this.after.tree, command))
            if check is None:
                check = yield from _check(run, this, command, log, base=False)
            own = command in this.own_checks
            this.checks.append(compared(check, base.get(command), own=own))
            if run.stop.requested:
                return


def _check(
    run: Run, this: Attempt, command: str, log: BinaryIO, *, base: bool
) -> Generator[Event, None, Check]:
    yield run.event("check_start", task=this.key, cmd=command, base=base)
    mark = mark_of(run.folder, this.files, this.key)
    check = run.checker.run(command, log, this.files.state / CHECKED, mark)
    facts = {"exit": check.exit, "n": len(check.items), "dur_s": round(check.seconds, 2)}
    yield run.event("check_end", task=this.key, cmd=command, base=base, **facts)
    return check
