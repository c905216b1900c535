"""What a repository may have run on this machine: nothing that this person has not agreed to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cub.actions.run.settings import RunSettings
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.project.config import CONFIG
from cub.project.executes import commands
from cub.project.trust import Trust, add, digest_of, given, keep, trust_of
from cub.store.jsonl import Record
from cub.store.tasks import Tasks


class Executed(NamedTuple):
    """What would run: keys of the configuration with their values as JSON, and tasks' checks."""

    config: dict[str, str]
    checks: list[str]

    def lines(self) -> list[str]:
        """For a person to read."""
        rows = [f"{key}: {value}" for key, value in self.config.items()]
        return rows + [f"a task's check: {check}" for check in self.checks]


class TaskCheck(NamedTuple):
    """A command that tasks bring along, the ids of these tasks, and whether it was agreed to."""

    command: str
    tasks: list[str]
    trusted: bool


class Report(NamedTuple):
    """What would run, and what of it was agreed to: the configuration as one set, checks one by
    one.
    """

    config: dict[str, str]
    is_config_trusted: bool
    checks: list[TaskCheck]

    @property
    def trusted(self) -> bool:
        """Whether nothing is left to agree to."""
        return self.is_config_trusted and all(check.trusted for check in self.checks)


@dataclass(slots=True)
class Agreed:
    """The checks of tasks that a run may execute: those it began with, and what this person
    agrees to meanwhile. `pinned` are the checks that each task had then: what an agent makes of
    them later does not count.
    """

    root: Path
    pinned: dict[str, tuple[str, ...]]

    def of(self, task: Record) -> tuple[str, ...]:
        """The checks that decide on a task, which is about to be begun: those that it had, or new
        ones that this person has agreed to. From here on they stay.
        """
        had, now = self.pinned.get(task["id"]), tuple(task.get("checks") or ())
        if had is None or (now and not trust_of(self.root).missing(now)):
            had = now
        if had:
            self.pinned[task["id"]] = had
        return had

    def allows(self, tasks: Tasks, key: str) -> bool:
        """Whether all that a task brings along may run."""
        if key in self.pinned or not tasks[key].brings_checks:
            return True
        checks = tuple(tasks.record(key).get("checks") or ())
        return not trust_of(self.root).missing(checks)

    def lost(self, record: Record) -> tuple[str, ...]:
        """The checks that a task had, if one of them is gone; () if not."""
        had = self.pinned.get(record["id"], ())
        return had if set(had) - set(record.get("checks") or ()) else ()


def executed(stores: Stores, tasks: Tasks | None = None) -> Executed:
    """What the project brings along that runs."""
    config = commands(stores.project.tree.read(CONFIG))
    return Executed(config, _checks_of(tasks or stores.backend.read()))


def report_trust(stores: Stores) -> Report:
    """What the project brings along that runs, and whether this person has agreed to it."""
    known, config = trust_of(stores.root), commands(stores.project.tree.read(CONFIG))
    tasks_of: dict[str, list[str]] = {}
    for task, checks in _all_checks(stores.backend.read()):
        for check in dict.fromkeys(checks):
            tasks_of.setdefault(check, []).append(task)
    missing = set(known.missing(tasks_of))
    return Report(
        config,
        not config or known.config == digest_of(config),
        [TaskCheck(check, tasks, check not in missing) for check, tasks in tasks_of.items()],
    )


def require_trust(stores: Stores, settings: RunSettings) -> Agreed:
    """CubError, with what would run, unless it is the person's own word or was agreed to.

    What was read here is what was agreed to: later the run may be on another branch.
    """
    tasks = stores.backend.read()
    result = Agreed(stores.root, dict(_all_checks(tasks)))
    if settings.asked.trust:
        return result
    found = executed(stores, tasks)
    whole = found.config
    if not settings.own_checks:
        found = found._replace(checks=[])
    if settings.asked.checks or not settings.own_checks:
        found = found._replace(config={k: v for k, v in found.config.items() if not _is_check(k)})
    known = trust_of(stores.root)
    agreed = not found.config or known.config == digest_of(whole)
    missing = known.missing(found.checks)
    if agreed and not missing:
        return result
    asked = Executed({} if agreed else found.config, missing)
    raise CubError(
        _untrusted(asked, known),
        where=CONFIG if asked.config else "",
        hint="read it, then `cub trust`; `cub run --trust` agrees for this one time",
        details=asked.lines(),
    )


def _untrusted(asked: Executed, known: Trust) -> str:
    """What a person has not agreed to: a task's own check never makes the rest a changed one."""
    if asked.config or known == Trust():
        again = "changed since you trusted it" if known.config else "is not trusted yet"
        return f"what this project runs {again}"
    if len(asked.checks) == 1:
        return "a task brings a check along that is not trusted yet"
    return f"tasks bring {len(asked.checks)} checks along that are not trusted yet"


def agree(stores: Stores) -> Executed:
    """Remember that all of it may run."""
    found = executed(stores)
    keep(stores.root, given(found.config, found.checks))
    return found


def agree_to(stores: Stores, checks: Iterable[str]) -> None:
    """Remember that these checks of tasks may run; where that can't be kept, a run asks."""
    with suppress(CubError):
        add(stores.root, checks)


def disagree(stores: Stores) -> None:
    """Forget it again."""
    keep(stores.root, None)


def _is_check(key: str) -> bool:
    return key.endswith("run.checks")


def _checks_of(tasks: Tasks) -> list[str]:
    """The checks of tasks that are not closed, each once."""
    return list(dict.fromkeys(check for _, checks in _all_checks(tasks) for check in checks))


def _all_checks(tasks: Tasks) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tasks that are not closed and bring checks along, with those."""
    for row in tasks:
        if row.closed or not row.brings_checks:
            continue
        if checks := tuple(tasks.record(row.id).get("checks") or ()):
            yield row.id, checks
