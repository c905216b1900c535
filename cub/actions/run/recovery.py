"""After a run was killed: its half attempts are concluded, their changes kept, its tasks freed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cub import git
from cub.actions.run.aftermath import (
    Aftermath,
    await_end,
    ground_then,
    repair_repository,
    snapshot_of,
)  # fmt: skip
from cub.actions.run.choose_ground import remove_worktree
from cub.actions.run.client import RUN_MARK
from cub.actions.run.evidence import NO_CHANGE
from cub.actions.run.folders import DECISION, PATCH, RESULT, START, STATUS, AttemptFolder, RunFolder
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


@dataclass(slots=True)
class Recovered:
    """What there is to tell of killed runs, and the attempts that can't be concluded yet, each with
    the folder that it worked in, and why.
    """

    events: list[Event] = field(default_factory=list)
    pending: list[tuple[Path, CubError]] = field(default_factory=list)

    def require_concluded(self, folder: Path) -> None:
        """Raise CubError if an attempt that worked in `folder` can't be concluded yet."""
        for place, error in self.pending:
            if place == folder:
                raise error


def recover(stores: Stores, environ: Mapping[str, str], clock: Clock) -> Recovered:
    """Conclude what killed runs left. What can't be concluded stays for the next time."""
    found = Recovered()
    stores = replace(stores, watch=watch(written(clock.now())))
    for folder in RunFolder.all(stores.root):
        if folder.read().get("ended", True):  # nothing is believed that is not cub's own
            continue
        with if_dead(folder) as dead:
            if dead and not folder.read().get("ended"):
                _conclude_run(found, stores, folder, environ)
    found.events += _leases(stores)
    return found


def _conclude_run(
    found: Recovered, stores: Stores, folder: RunFolder, environ: Mapping[str, str]
) -> None:
    ended = end_strays((RUN_MARK, folder.id))
    facts = folder.read()
    place = Path(str(facts.get("folder", "")))
    before = len(found.pending)
    for files in folder.attempts():
        if files.read(RESULT):
            continue
        if ended:
            await_end(files)
        try:
            found.events += _conclude_attempt(stores, folder, files, environ)
        except CubError as error:
            found.pending.append((place, _explain(error, files)))
    if len(found.pending) > before:
        return
    if not read_json(folder.state / STATUS).get("ended"):
        stores.ledger.append(_event(stores, RUN_END, folder.id, end="killed", ok=False))
    if (stores.root / ".cub" / "worktrees") in place.parents and (top := git.top_level(place)):
        remove_worktree(stores.root, top)
    folder.end(killed=True)


def _explain(error: CubError, files: AttemptFolder) -> CubError:
    what = f"an attempt of a killed run can't be concluded yet: {error.message}"
    hint = f"the next `cub run` tries again; to leave its files as they are, remove {files.state}"
    return CubError(what, where=error.where or files.name, hint=hint, details=list(error.details))


def _conclude_attempt(
    stores: Stores, folder: RunFolder, files: AttemptFolder, environ: Mapping[str, str]
) -> list[Event]:
    """Carry out what was decided, and put back what was not decided yet. Raises CubError, with
    nothing marked as concluded, where that fails.
    """
    start, decision = files.read(START), files.read(DECISION)
    said = repair_repository(start, folder, files)
    ground, before = ground_then(start, folder, environ), snapshot_of(start.get("before"))
    done = bool(decision.get("ok")) and not decision.get("message")
    if ground and before:
        done, more = Aftermath(ground, before, files, folder, decision).conclude()
        said += more
    status = RETRY if start.get("charged") else OPEN
    event = _event(stores, ATTEMPT_END, folder.id) | dict(decision.get("event") or {})
    if done:
        status = CLOSED
    elif decision.get("ok") is False:
        status = str(decision.get("status", status))
    else:
        event = _interrupted(stores, folder, files, start)
    found = [*_concluded(stores, files, event, status, decision)]
    task = start.get("task")
    return found + [_event(stores, "notice", folder.id, task=task, text=line) for line in said]


def _concluded(
    stores: Stores, files: AttemptFolder, event: Event, status: str, decision: dict[str, Any]
) -> Iterator[Event]:
    why, task = str(decision.get("why", "")), str(event.get("task"))
    no_change = bool(decision.get("no_change"))
    _tell(stores, task, status, event, why, no_change=no_change)
    result = {"event": event, "status": status, "why": why}
    files.write(RESULT, result)
    with suppress(OSError, CubError):  # what is shown may be gone
        files.show(RESULT, result)
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
