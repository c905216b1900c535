"""One attempt at a task: what is there before, the client, what came of it, the checks."""

from __future__ import annotations

import signal
import time
from collections.abc import Generator

from cub.actions.run.around import checks_after, checks_before
from cub.actions.run.check_inputs import (
    describe_changes,
    find_changed,
    find_protected,
    record_inputs,
)
from cub.actions.run.checking import Check
from cub.actions.run.client import RUN_MARK, Session, Worked, mark_of, of_attempt, work
from cub.actions.run.evidence import Evidence, Verdict, by_checks, judged
from cub.actions.run.folders import CLIENT, FOUND, PROMPT, SYSTEM
from cub.actions.run.guard import Guard
from cub.actions.run.plain_ground import PlainGround
from cub.actions.run.run import Run
from cub.actions.run.syntax import check_syntax
from cub.actions.run.under_way import Attempt, keep_settings, keep_start, restore_around
from cub.actions.run.verification import (
    UNVERIFIED,
    describe_undecided,
    find_obstacle,
    find_unverified,
    has_worked,
)
from cub.actions.task_prompt import Wanted, task_prompt
from cub.actions.tasks.inside import read_request
from cub.harness.base import Launch
from cub.processes.command import Limits
from cub.processes.strays import end_strays
from cub.store.events import Event
from cub.store.tasks import Tasks

Events = Generator[Event, None, Verdict]


def attempt(run: Run, this: Attempt, tasks: Tasks, guard: Guard) -> Events:
    """From the claim to the verdict; nothing is committed or put back yet."""
    this.settings = run.ground.settings()  # before checks, which run what agents wrote
    keep_settings(run, this)
    this.before = run.ground.snapshot()
    keep_start(run, this)
    commands = tuple(dict.fromkeys((*this.own_checks, *run.settings.checks)))
    base = yield from checks_before(run, this, commands)
    if verdict := _not_begun(run, this, base):
        this.after = this.before
        return verdict
    for text in describe_undecided(base, this.own_checks):
        yield run.event("notice", task=this.key, text=text)
    this.inputs = record_inputs(run.ground.folder, commands, run.environ.get("PATH"))
    this.observed += run.ground.keep(this.before, run.settings.keep_ignored)
    prompt = _prompt(run, this, tasks, commands)
    this.began = time.time()
    this.worked = yield from _client(run, this, prompt)
    restore_around(run, this, guard)
    this.request = read_request(this.files.state, this.files.path)
    known = _evidence(run, this)
    if this.replaced:
        return Verdict("unknown", "; ".join(this.replaced))
    if verdict := judged(known) or _judge_inputs(run, this):
        return verdict
    yield from checks_after(run, this, commands, base)
    doubt = find_unverified(this.checks)
    if broken := check_syntax(run.ground, this.before, this.changed):
        this.checks.append(broken)
    verdict = by_checks(this.checks, known)
    return _weigh(run, this, verdict, doubt) if verdict.ok and doubt else verdict


def _judge_inputs(run: Run, this: Attempt) -> Verdict | None:
    """Tell what was changed that the checks go by; the verdict if it is protected."""
    inputs = find_changed(run.ground.folder, this.inputs)
    this.doubts = describe_changes(inputs, this.changed)
    this.observed += this.doubts
    paths = [*(one.path for one in this.changed), *(one.path for one in inputs)]
    if path := find_protected(run.settings.protect, paths):
        return Verdict("protected", f"{path} was changed, which run.protect forbids")
    return None


def _not_begun(run: Run, this: Attempt, base: dict[str, Check]) -> Verdict | None:
    """Why the client need not be started."""
    if run.stop.requested:
        return Verdict("interrupted", "the run was stopped")
    if obstacle := find_obstacle(base, this.own_checks):
        if not run.settings.accept_unverified:
            return Verdict(UNVERIFIED, obstacle, is_free=True)
        this.observed.append(f"no check can decide: {obstacle}")
    return None


def _weigh(run: Run, this: Attempt, verdict: Verdict, doubt: str) -> Verdict:
    """What becomes of work that nothing stands against and that nothing has judged."""
    if run.settings.accept_unverified:
        this.observed.append(f"it is accepted, although nothing has judged it: {doubt}")
        return verdict._replace(doubt=doubt)
    return Verdict(UNVERIFIED, doubt, is_free=not has_worked(this.checks))


def _prompt(run: Run, this: Attempt, tasks: Tasks, commands: tuple[str, ...]) -> str:
    """What the client is sent, kept in the attempt's folder, too."""
    loops, settings = commands or tuple(one.line for one in run.loops), run.settings
    commits = settings.commit and not isinstance(run.ground, PlainGround)
    wanted = Wanted(tasks, loops, settings.message, commits)
    prompt = task_prompt(run.stores, this.key, wanted=wanted).prompt.text
    this.files.text(SYSTEM, run.system)
    this.files.text(PROMPT, prompt)
    return prompt


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
        mark_of(run.folder, files, this.key),
        settings.wrap,
        Limits(settings.timeout, settings.idle_timeout),
        run.stop,
        run.budget,
    )
    files.write(CLIENT, {"at": run.now})
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


def _evidence(run: Run, this: Attempt) -> Evidence:
    """What the files say, with commits that the agent made taken over."""
    if this.worked.ended.signal == signal.SIGKILL and not this.worked.ended.cause:
        end_strays((RUN_MARK, run.folder.id))  # who was killed so may have lost its keeper, too
    run.ground.remove_stale_locks(this.began)
    aside = this.files.clear_links()
    back = run.ground.restore_persons(this.before, aside, run.made, rights=True)
    this.observed += back.said
    this.after = run.ground.snapshot(this.before)
    this.files.write(FOUND, {"head": this.after.head})
    this.moved = moved = run.ground.moved(this.before, this.after)
    this.changed = run.ground.changes(this.before, this.after)
    if moved == "forward" and this.before.head != this.after.head:
        this.observed.append("there are commits that the run did not make")
    told = this.worked.told
    return Evidence(
        ended=this.worked.ended,
        told=told,
        errors=this.worked.errors,
        succeeded=this.harness.succeeded(told, this.worked.ended.exit)
        and not this.worked.ended.cause,
        changed=bool(this.changed),
        put_back=back.files,
        conflicts=this.after.unmerged,
        oversized=this.after.oversized,
        moved=moved,
        unreachable=run.ground.unreachable(this.before, this.after),
        request=this.request,
        over_budget=this.worked.ended.cause == "ended",
        at=run.clock.now(),
    )
