"""One attempt at a task: what is there before, the client, what came of it, the checks."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from cub.actions.run.checking import Check, Compared, compared
from cub.actions.run.client import Session, Worked, of_attempt, work
from cub.actions.run.evidence import Evidence, Verdict, by_checks, judged
from cub.actions.run.folders import CHECKS, ENDED, PROMPT, START, SYSTEM, AttemptFolder
from cub.actions.run.guard import Guard
from cub.actions.run.policy import History
from cub.actions.run.run import Run
from cub.actions.task_prompt import Wanted, task_prompt
from cub.actions.tasks.inside import request
from cub.git.snapshot import FileChange
from cub.harness.base import Harness, Launch
from cub.harness.transcript import Transcript
from cub.processes.command import Ended, Limits
from cub.store.events import Event
from cub.store.jsonl import Record
from cub.store.tasks import Tasks

Events = Generator[Event, None, Verdict]
_NOT_BEGUN = Ended(None, None, "stopped", "", 0.0)


@dataclass(slots=True)
class Attempt:
    """An attempt, and what is known of it so far. `before` and `after` are the ground's."""

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
    moved: str = ""
    began: float = 0.0

    @property
    def key(self) -> str:
        """The task's id."""
        return str(self.task["id"])


def attempt(run: Run, this: Attempt, tasks: Tasks, guard: Guard) -> Events:
    """From the claim to the verdict; nothing is committed or put back yet."""
    this.before = run.ground.snapshot()
    _keep_start(run, this)
    commands = tuple(dict.fromkeys((*this.own_checks, *run.settings.checks)))
    base = yield from _baseline(run, this, commands)
    if run.stop.requested:
        this.after = this.before
        return Verdict("interrupted", "the run was stopped")
    composed = task_prompt(run.stores, this.key, wanted=_wanted(run, tasks, commands))
    this.files.text(SYSTEM, run.system)
    this.files.text(PROMPT, composed.prompt.text)
    this.began = time.time()
    this.worked = yield from _client(run, this, composed.prompt.text)
    _restore(run, this, guard)
    this.request = request(this.files.path)
    known = yield from _evidence(run, this)
    if verdict := judged(known):
        return verdict
    yield from _checks(run, this, commands, base)
    return by_checks(this.checks, known)


def _restore(run: Run, this: Attempt, guard: Guard) -> None:
    """What was taken away of `.cub/`, and what recovery needs if that was the attempt's own."""
    this.observed += [f"{name} was damaged, and is back" for name in guard.restore_files()]
    if not this.files.has(START):
        _keep_start(run, this)


def _keep_start(run: Run, this: Attempt) -> None:
    """What recovery needs, before anything is started."""
    start = {
        "task": this.key,
        "n": this.number,
        "harness": this.harness.name,
        "at": run.now,
        "charged": this.history.charged,
        "folder": run.ground.folder.as_posix(),
        "before": this.before.to_json(),
    }
    this.files.write(START, start)


def _baseline(
    run: Run, this: Attempt, commands: Sequence[str]
) -> Generator[Event, None, dict[str, Check]]:
    """What the checks say of the files as they are, asked only where nobody knows."""
    found = {command: run.checker.recall(this.before.tree, command) for command in commands}
    missing = [command for command, check in found.items() if check is None]
    if missing:
        with this.files.opened("baseline.log") as log:
            for command in missing:
                found[command] = yield from _check(run, this, command, log, base=True)
        fresh = run.ground.snapshot()
        if fresh.tree != this.before.tree:  # what a check leaves behind is no work of the agent's
            this.before = fresh
            _keep_start(run, this)
        for check in found.values():
            if check:
                run.checker.keep(this.before.tree, check)
    return {command: check for command, check in found.items() if check}


def _client(run: Run, this: Attempt, prompt: str) -> Generator[Event, None, Worked]:
    settings, files = run.settings, this.files
    launch = Launch(
        prompt, run.system, files.path, this.key, this.number, settings.model, settings.permissions
    )
    session = Session(
        this.harness,
        launch,
        run.ground.folder,
        of_attempt(run.folder, files, this.key, this.harness.name, run.environ),
        settings.wrap,
        Limits(settings.timeout, settings.idle_timeout),
        run.stop,
        run.budget,
    )
    listening = work(session, files)
    while True:
        try:
            told = next(listening)
        except StopIteration as end:
            worked: Worked = end.value
            return worked
        if told is None:
            yield run.event("tick", task=this.key)
        else:
            yield run.event("client", task=this.key, n=this.number, **told.tree())


def _evidence(run: Run, this: Attempt) -> Generator[Event, None, Evidence]:
    """What the files say, with commits that the agent made taken over."""
    run.ground.unlock(this.began)
    this.after = run.ground.snapshot(this.before)
    this.moved = moved = run.ground.moved(this.before, this.after)
    this.changed = run.ground.changes(this.before, this.after)
    if moved == "forward" and this.before.head != this.after.head:
        this.observed.append("the agent committed by itself")
        yield run.event("notice", task=this.key, text="the agent committed by itself")
    told = this.worked.told
    return Evidence(
        ended=this.worked.ended,
        told=told,
        errors=this.worked.errors,
        succeeded=this.harness.succeeded(told, this.worked.ended.exit)
        and not this.worked.ended.cause,
        changed=bool(this.changed),
        conflicts=this.after.unmerged,
        moved=moved,
        unreachable=run.ground.unreachable(this.before, this.after),
        request=this.request,
        over_budget=this.worked.ended.cause == "ended",
        at=run.clock.now(),
    )


def _checks(
    run: Run, this: Attempt, commands: Sequence[str], base: dict[str, Check]
) -> Generator[Event, None, None]:
    """Run the checks; one that the files were asked already is not asked again."""
    with this.files.opened(CHECKS) as log:
        for command in commands:
            check = run.checker.recall(this.after.tree, command)
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
    last: Path = this.files.path / ENDED
    check = run.checker.run(command, log, last)
    facts = {"exit": check.exit, "n": len(check.items), "dur_s": round(check.seconds, 2)}
    yield run.event("check_end", task=this.key, cmd=command, base=base, **facts)
    return check


def _wanted(run: Run, tasks: Tasks, commands: Sequence[str]) -> Wanted:
    return Wanted(
        tasks,
        tuple(commands) or run.commands,
        run.settings.message,
        commits=run.settings.commit,
    )
