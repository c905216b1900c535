"""What a repository may have run on this machine: nothing that this person has not agreed to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cub.actions.run.run_options import RunSettings
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.project.config import CONFIG_FILE
from cub.project.executable_config import list_config_commands
from cub.project.trust_store import (
    TrustedCommands,
    add_trusted_checks,
    digest_commands,
    load_trust,
    make_trusted_commands,
    save_trust,
)
from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex


class ExecutableContent(NamedTuple):
    """What would run: keys of the configuration with their values as JSON, and tasks' checks."""

    config: dict[str, str]
    checks: list[str]

    def to_lines(self) -> list[str]:
        """For a person to read."""
        rows = [f"{key}: {value}" for key, value in self.config.items()]
        return rows + [f"a task's check: {check}" for check in self.checks]


class TaskCheck(NamedTuple):
    """A command that tasks bring along, the ids of these tasks, and whether it was agreed to."""

    command: str
    tasks: list[str]
    trusted: bool


class TrustReport(NamedTuple):
    """What would run, and what of it was agreed to: the configuration as one set, checks one by
    one.
    """

    config: dict[str, str]
    is_config_trusted: bool
    checks: list[TaskCheck]

    @property
    def is_trusted(self) -> bool:
        """Whether nothing is left to agree to."""
        return self.is_config_trusted and all(check.trusted for check in self.checks)


@dataclass(slots=True)
class ApprovedChecks:
    """The checks of tasks that a run may execute: those it began with, and what this person
    agrees to meanwhile. `pinned_checks` are the checks that each task had then: what an agent makes
    of them later does not count.
    """

    root: Path
    pinned_checks: dict[str, tuple[str, ...]]

    def pin_checks(self, task: Record) -> tuple[str, ...]:
        """The checks that decide on a task, which is about to be begun: those that it had, or new
        ones that this person has agreed to. From here on they stay.
        """
        had, now = self.pinned_checks.get(task["id"]), tuple(task.get("checks") or ())
        if had is None or (now and not load_trust(self.root).list_untrusted(now)):
            had = now
        if had:
            self.pinned_checks[task["id"]] = had
        return had

    def allows(self, tasks: TaskIndex, task_id: str) -> bool:
        """Whether all that a task brings along may run."""
        if task_id in self.pinned_checks or not tasks[task_id].has_checks:
            return True
        checks = tuple(tasks.read_record(task_id).get("checks") or ())
        return not load_trust(self.root).list_untrusted(checks)

    def find_removed_checks(self, record: Record) -> tuple[str, ...]:
        """The checks that a task had, if one of them is gone; () if not."""
        had = self.pinned_checks.get(record["id"], ())
        return had if set(had) - set(record.get("checks") or ()) else ()


def read_executable_content(stores: Stores, tasks: TaskIndex | None = None) -> ExecutableContent:
    """What the project brings along that runs."""
    config = list_config_commands(stores.project.tree.read(CONFIG_FILE))
    return ExecutableContent(config, _checks_of(tasks or stores.backend.read_tasks()))


def make_trust_report(stores: Stores) -> TrustReport:
    """What the project brings along that runs, and whether this person has agreed to it."""
    known, config = (
        load_trust(stores.root),
        list_config_commands(stores.project.tree.read(CONFIG_FILE)),
    )
    tasks_of: dict[str, list[str]] = {}
    for task, checks in _all_checks(stores.backend.read_tasks()):
        for check in dict.fromkeys(checks):
            tasks_of.setdefault(check, []).append(task)
    missing = set(known.list_untrusted(tasks_of))
    return TrustReport(
        config,
        not config or known.config == digest_commands(config),
        [TaskCheck(check, tasks, check not in missing) for check, tasks in tasks_of.items()],
    )


def require_trust(stores: Stores, settings: RunSettings) -> ApprovedChecks:
    """CubError, with what would run, unless it is the person's own word or was agreed to.

    What was read here is what was agreed to: later the run may be on another branch.
    """
    tasks = stores.backend.read_tasks()
    result = ApprovedChecks(stores.root, dict(_all_checks(tasks)))
    if settings.options.trust:
        return result
    found = read_executable_content(stores, tasks)
    whole = found.config
    if not settings.uses_task_checks:
        found = found._replace(checks=[])
    if settings.options.checks or not settings.uses_task_checks:
        found = found._replace(config={k: v for k, v in found.config.items() if not _is_check(k)})
    known = load_trust(stores.root)
    agreed = not found.config or known.config == digest_commands(whole)
    missing = known.list_untrusted(found.checks)
    if agreed and not missing:
        return result
    asked = ExecutableContent({} if agreed else found.config, missing)
    raise CubError(
        _describe_untrusted(asked, known),
        where=CONFIG_FILE if asked.config else "",
        hint="read it, then `cub trust`; `cub run --trust` agrees for this one time",
        details=asked.to_lines(),
    )


def _describe_untrusted(asked: ExecutableContent, known: TrustedCommands) -> str:
    """What a person has not agreed to: a task's own check never makes the rest a changed one."""
    if asked.config or known == TrustedCommands():
        again = "changed since you trusted it" if known.config else "is not trusted yet"
        return f"what this project runs {again}"
    if len(asked.checks) == 1:
        return "a task brings a check along that is not trusted yet"
    return f"tasks bring {len(asked.checks)} checks along that are not trusted yet"


def trust_project(stores: Stores) -> ExecutableContent:
    """Remember that all of it may run."""
    found = read_executable_content(stores)
    save_trust(stores.root, make_trusted_commands(found.config, found.checks))
    return found


def trust_checks(stores: Stores, checks: Iterable[str]) -> None:
    """Remember that these checks of tasks may run; where that can't be kept, a run asks."""
    with suppress(CubError):
        add_trusted_checks(stores.root, checks)


def revoke_trust(stores: Stores) -> None:
    """Forget it again."""
    save_trust(stores.root, None)


def _is_check(key: str) -> bool:
    return key.endswith("run.checks")


def _checks_of(tasks: TaskIndex) -> list[str]:
    """The checks of tasks that are not closed, each once."""
    return list(dict.fromkeys(check for _, checks in _all_checks(tasks) for check in checks))


def _all_checks(tasks: TaskIndex) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tasks that are not closed and bring checks along, with those."""
    for row in tasks:
        if row.is_closed or not row.has_checks:
            continue
        if checks := tuple(tasks.read_record(row.id).get("checks") or ()):
            yield row.id, checks
