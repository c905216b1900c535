"""After a run was killed: its half attempts are concluded, their changes kept, its tasks freed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cub import git
from cub.actions.run.aftermath import (
    await_end,
    ground_then,
    is_committed,
    put_back,
    snapshot_of,
)  # fmt: skip
from cub.actions.run.choose_ground import remove_worktree
from cub.actions.run.client import RUN_MARK
from cub.actions.run.evidence import NO_CHANGE
from cub.actions.run.folders import (
    DECISION,
    PATCH,
    RESULT,
    RUN,
    START,
    STATUS,
    AttemptFolder,
    RunFolder,
    write_json,
)  # fmt: skip
from cub.actions.run.locks import if_dead
from cub.actions.run.policy import history
from cub.actions.run.run import Clock
from cub.actions.tasks.status import finish, set_back
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.files.private import read_json
from cub.processes.strays import end_strays
from cub.store.events import ATTEMPT_END, ATTEMPT_START, RUN_END, Event
from cub.store.lease import watch
from cub.store.moments import written
from cub.store.spelling import CLOSED, IN_PROGRESS, OPEN, RETRY


def recover(stores: Stores, environ: Mapping[str, str], clock: Clock) -> list[Event]:
    """Conclude what killed runs left; what there is to tell about it."""
    found: list[Event] = []
    stores = replace(stores, watch=watch(written(clock.now())))
    for folder in RunFolder.all(stores.root):
        if read_json(folder.path / RUN).get("ended"):
            continue
        with if_dead(folder) as dead:
            if dead and not read_json(folder.path / RUN).get("ended"):
                found += _of_run(stores, folder, environ)
    found += _leases(stores)
    return found


def _of_run(stores: Stores, folder: RunFolder, environ: Mapping[str, str]) -> Iterator[Event]:
    ended = end_strays((RUN_MARK, folder.id))
    facts = read_json(folder.path / RUN)
    for files in folder.attempts():
        if not files.has(RESULT):
            if ended:
                await_end(files)
            yield from _of_attempt(stores, folder, files, environ)
    if not read_json(folder.path / STATUS).get("ended"):
        stores.ledger.append(_event(stores, RUN_END, folder.id, end="killed", ok=False))
    place = Path(str(facts.get("folder", "")))
    if (stores.root / ".cub" / "worktrees") in place.parents and (top := git.top_level(place)):
        remove_worktree(stores.root, top)
    write_json(folder.path / RUN, {**facts, "ended": True, "killed": True})


def _of_attempt(
    stores: Stores, folder: RunFolder, files: AttemptFolder, environ: Mapping[str, str]
) -> Iterator[Event]:
    """What was decided is carried out; what was not decided yet is put back."""
    start, decision = files.read(START), files.read(DECISION)
    ground, before = ground_then(start, folder, environ), snapshot_of(start)
    said: list[str] = []
    status = RETRY if start.get("charged") else OPEN
    event = _event(stores, ATTEMPT_END, folder.id) | dict(decision.get("event") or {})
    try:
        done = bool(decision.get("ok")) and is_committed(ground, before, decision)
        if not done and ground and before:
            said = put_back(ground, before, files, folder)
    except CubError as error:  # files that nobody can put back must not keep all runs from going on
        done, said = False, [f"its files could not be put back: {error}"]
    if done:
        status = CLOSED
    elif decision.get("ok") is False:
        status = str(decision.get("status", status))
    else:
        event = _interrupted(stores, folder, files, start)
    yield from _concluded(stores, files, event, status, decision)
    for line in said:
        yield _event(stores, "notice", folder.id, task=start.get("task"), text=line)


def _concluded(
    stores: Stores, files: AttemptFolder, event: Event, status: str, decision: dict[str, Any]
) -> Iterator[Event]:
    why, task = str(decision.get("why", "")), str(event.get("task"))
    no_change = bool(decision.get("no_change"))
    _tell(stores, task, status, event, why, no_change=no_change)
    files.write(RESULT, {"event": event, "status": status, "why": why})
    what = "was done, and is closed now" if status == CLOSED else "was interrupted"
    text = f"attempt {event.get('n')} of a killed run {what}"
    facts = {"task": task, "n": event.get("n"), "status": status, "text": text}
    yield _event(stores, "recovered", str(event.get("run")), **facts)


def _tell(
    stores: Stores, task: str, status: str, event: Event, why: str, *, no_change: bool
) -> None:
    """Give the task its status, unless a person did so since, and the ledger the attempt once."""
    with stores.changing() as work:
        row = work.tasks.briefs.get(task)
        if row and row.status == IN_PROGRESS and (row.lease or {}).get("run") == event.get("run"):
            if status == CLOSED:
                finish(work, task, NO_CHANGE if no_change else "done")
            else:
                set_back(work, task, status, why)
        if not _is_told(stores, event):
            work.outcome.events.append(event)


def _leases(stores: Stores) -> Iterator[Event]:
    """Tasks of runs that died between their claim and their first file."""
    tasks = stores.backend.read()
    lapsed = [
        row.id
        for row in tasks
        if row.status == IN_PROGRESS and (row.lease or {}).get("run")
        and stores.watch.lapsed(row.lease)
    ]  # fmt: skip
    if not lapsed:
        return
    with stores.changing() as work:
        for key in lapsed:
            row = work.tasks[key]
            if row.status != IN_PROGRESS or not stores.watch.lapsed(row.lease):
                continue
            run = str((row.lease or {}).get("run"))
            set_back(work, key, RETRY if history(stores.ledger, key).charged else OPEN)
            for begun in stores.ledger.newest(key, (ATTEMPT_START,)):
                if begun.get("run") == run:
                    ended = {**begun, "ev": ATTEMPT_END, "ts": stores.now, **_killed()}
                    if not _is_told(stores, ended):
                        work.outcome.events.append(ended)
                break
    for key in lapsed:
        yield _event(stores, "recovered", "", task=key, text="its run is gone: it is free again")


def _is_told(stores: Stores, event: Event) -> bool:
    which = ("run", "task", "n")
    for known in stores.ledger.newest(str(event.get("task")), (ATTEMPT_END,)):
        if all(known.get(name) == event.get(name) for name in which):
            return True
    return False


def _interrupted(
    stores: Stores, folder: RunFolder, files: AttemptFolder, start: dict[str, Any]
) -> Event:
    patch = {"git": {"patch": f"{files.name}/{PATCH}"}} if files.has(PATCH) else {}
    facts = {"task": start.get("task"), "n": start.get("n"), "harness": start.get("harness")}
    return _event(stores, ATTEMPT_END, folder.id, **facts, **_killed(), **patch, log=files.name)


def _killed() -> Event:
    reason = "the run was killed"
    return {"ok": False, "fail": {"class": "interrupted", "reason": reason, "charge": False}}


def _event(stores: Stores, name: str, run: str, **facts: Any) -> Event:
    return {"ev": name, "ts": stores.now, **({"run": run} if run else {}), **facts}
