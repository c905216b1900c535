"""One attempt at a task: what is there before, the client, what came of it, the checks."""

from __future__ import annotations

import time
from collections.abc import Generator

from cub.actions.run.around import checks_after, checks_before
from cub.actions.run.client import Session, Worked, of_attempt, work
from cub.actions.run.evidence import Evidence, Verdict, by_checks, judged
from cub.actions.run.folders import PROMPT, START, SYSTEM
from cub.actions.run.guard import Guard
from cub.actions.run.run import Run
from cub.actions.run.under_way import Attempt, keep_start
from cub.actions.task_prompt import Wanted, task_prompt
from cub.actions.tasks.inside import request
from cub.harness.base import Launch
from cub.processes.command import Limits
from cub.store.events import Event
from cub.store.tasks import Tasks

Events = Generator[Event, None, Verdict]


def attempt(run: Run, this: Attempt, tasks: Tasks, guard: Guard) -> Events:
    """From the claim to the verdict; nothing is committed or put back yet."""
    this.before = run.ground.snapshot()
    keep_start(run, this)
    commands = tuple(dict.fromkeys((*this.own_checks, *run.settings.checks)))
    base = yield from checks_before(run, this, commands)
    if run.stop.requested:
        this.after = this.before
        return Verdict("interrupted", "the run was stopped")
    prompt = _prompt(run, this, tasks, commands)
    this.began = time.time()
    this.worked = yield from _client(run, this, prompt)
    _restore(run, this, guard)
    this.request = request(this.files.path)
    known = yield from _evidence(run, this)
    if verdict := judged(known):
        return verdict
    yield from checks_after(run, this, commands, base)
    return by_checks(this.checks, known)


def _prompt(run: Run, this: Attempt, tasks: Tasks, commands: tuple[str, ...]) -> str:
    """What the client is sent, kept in the attempt's folder, too."""
    loops, settings = commands or run.commands, run.settings
    wanted = Wanted(tasks, loops, settings.message, commits=settings.commit)
    prompt = task_prompt(run.stores, this.key, wanted=wanted).prompt.text
    this.files.text(SYSTEM, run.system)
    this.files.text(PROMPT, prompt)
    return prompt


def _restore(run: Run, this: Attempt, guard: Guard) -> None:
    """What was taken away of `.cub/`, and what recovery needs if that was the attempt's own."""
    this.observed += [f"{name} was damaged, and is back" for name in guard.restore_files()]
    if not this.files.has(START):
        keep_start(run, this)


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
