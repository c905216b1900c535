"""Require that a person has agreed to the commands that a repository has run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cub.actions.context_scripts import ContextScript
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
    """Hold what would run: configuration keys with their values as JSON, tasks' checks, the
    proposed checks, each with its manifest or test file, and what `cub context` runs.
    """

    config: dict[str, str]
    checks: list[str]
    proposed: Mapping[str, str]
    scripts: Sequence[ContextScript] = ()

    def to_lines(self) -> list[str]:
        """Return a line for each command of the configuration and of tasks."""
        lines = [f"{key}: {value}" for key, value in self.config.items()]
        lines += [f"a task's check: {check}" for check in self.checks]
        return lines + [f"a check: {line}, from {name}" for line, name in self.proposed.items()]


class TaskCheck(NamedTuple):
    """Hold a command that tasks bring along, their ids, and whether it was agreed to."""

    command: str
    tasks: list[str]
    trusted: bool


class ProposedCheck(NamedTuple):
    """Hold a proposed check, its manifest or test file, and whether it was agreed to."""

    command: str
    source: str
    trusted: bool


class TrustedScript(NamedTuple):
    """Hold what `cub context` runs, the file that it stands in, and whether it was agreed to.

    `kind` is bootstrap or command; the `command` of a bootstrap is "".
    """

    kind: str
    source: str
    command: str
    trusted: bool


class TrustReport(NamedTuple):
    """Hold what would run, and whether it was agreed to: the configuration, and each check."""

    config: dict[str, str]
    is_config_trusted: bool
    checks: list[TaskCheck]
    proposed: list[ProposedCheck]
    scripts: list[TrustedScript]

    @property
    def is_trusted(self) -> bool:
        """Return whether nothing is left to agree to."""
        trusted = [check.trusted for check in self.checks]
        trusted += [check.trusted for check in self.proposed]
        trusted += [script.trusted for script in self.scripts]
        return self.is_config_trusted and all(trusted)


@dataclass(slots=True)
class ApprovedChecks:
    """Decide which checks of tasks a run may execute.

    `pinned_checks` are those that each task had when the run started: an agent's changes to them
    don't count, but a person may agree to others during the run.
    """

    root: Path
    pinned_checks: dict[str, tuple[str, ...]]

    def pin_checks(self, task: Record) -> tuple[str, ...]:
        """Return the checks of a task that is about to start, and pin them from here on.

        They are those that it had, or current ones that the person has agreed to.
        """
        pinned = self.pinned_checks.get(task["id"])
        current = tuple(check for check in task.get("checks") or () if check.strip())
        if pinned is None or (current and not load_trust(self.root).list_untrusted(current)):
            pinned = current
        if pinned:
            self.pinned_checks[task["id"]] = pinned
        return pinned

    def allows(self, tasks: TaskIndex, task_id: str) -> bool:
        """Return whether all checks of a task may run."""
        if task_id in self.pinned_checks or not tasks[task_id].has_checks:
            return True
        checks = tuple(tasks.read_record(task_id).get("checks") or ())
        return not load_trust(self.root).list_untrusted(checks)

    def find_removed_checks(self, record: Record) -> tuple[str, ...]:
        """Return the pinned checks of a task if it has lost one of them; () if not."""
        pinned = self.pinned_checks.get(record["id"], ())
        return pinned if set(pinned) - set(record.get("checks") or ()) else ()


def read_executable_content(
    stores: Stores, proposed: Mapping[str, str], tasks: TaskIndex | None = None
) -> ExecutableContent:
    """Return what the project brings along that runs; checks of tasks that are not closed."""
    config = list_config_commands(stores.project.config_data)
    by_task = _iter_checks(tasks or stores.backend.read_tasks())
    checks = dict.fromkeys(check for _, task_checks in by_task for check in task_checks)
    return ExecutableContent(config, list(checks), proposed)


def make_trust_report(
    stores: Stores, proposed: Mapping[str, str], scripts: Sequence[ContextScript] = ()
) -> TrustReport:
    """Return what the project brings along that runs, and whether this person has agreed to it."""
    trusted = load_trust(stores.root)
    config = list_config_commands(stores.project.config_data)
    tasks_of: dict[str, list[str]] = {}
    for task, checks in _iter_checks(stores.backend.read_tasks()):
        for check in dict.fromkeys(checks):
            tasks_of.setdefault(check, []).append(task)
    texts = [script.text for script in scripts]
    untrusted = set(trusted.list_untrusted([*tasks_of, *proposed, *texts]))
    return TrustReport(
        config,
        not config or trusted.config == digest_commands(config),
        [TaskCheck(check, tasks, check not in untrusted) for check, tasks in tasks_of.items()],
        [ProposedCheck(line, name, line not in untrusted) for line, name in proposed.items()],
        [TrustedScript(s.kind, s.source, s.command, s.text not in untrusted) for s in scripts],
    )


def require_trust(stores: Stores, settings: RunSettings) -> ApprovedChecks:
    """Return the checks of tasks that may run.

    Raises CubError, with what would run, unless the person has agreed to it. What is read here is
    what they agreed to: later the run may be on another branch.
    """
    tasks = stores.backend.read_tasks()
    approved_checks = ApprovedChecks(stores.root, dict(_iter_checks(tasks)))
    if settings.options.trust:
        return approved_checks
    content = read_executable_content(stores, settings.proposed_checks, tasks)
    checks, proposed, unused = content.checks, content.proposed, []
    if settings.options.checks or not settings.uses_task_checks:
        unused.append("run.checks")
    if settings.options.no_context_exec:
        unused.append("context_commands")
    config = list_config_commands(stores.project.config_data, omit=unused)
    trusted = load_trust(stores.root)
    is_config_trusted = not config or trusted.config == digest_commands(content.config)
    missing = trusted.list_untrusted(checks if settings.uses_task_checks else [])
    proposed = {line: proposed[line] for line in trusted.list_untrusted(proposed)}
    if is_config_trusted and not missing and not proposed:
        return approved_checks
    untrusted = ExecutableContent({} if is_config_trusted else config, missing, proposed)
    raise CubError(
        _describe_untrusted(untrusted, trusted),
        where=CONFIG_FILE if untrusted.config else "",
        hint="review them, then run `cub trust`; `cub run --trust` allows them for this run only",
        details=untrusted.to_lines(),
    )


def _describe_untrusted(untrusted: ExecutableContent, trusted: TrustedCommands) -> str:
    """Say what is not trusted; a task's check alone never means that the project changed."""
    if untrusted.config or trusted == TrustedCommands():
        again = "changed since you trusted them" if trusted.config else "are not trusted"
        return f"the commands of this project {again}"
    if untrusted.proposed:
        return "the proposed checks are not trusted"
    if len(untrusted.checks) == 1:
        return "a task has an untrusted check"
    return f"tasks have {len(untrusted.checks)} untrusted checks"


def trust_project(
    stores: Stores, proposed: Mapping[str, str], scripts: Sequence[ContextScript] = ()
) -> ExecutableContent:
    """Store that all that the project brings along may run, and return it."""
    content = read_executable_content(stores, proposed)._replace(scripts=scripts)
    texts = [*content.checks, *proposed, *(script.text for script in scripts)]
    save_trust(stores.root, make_trusted_commands(content.config, texts))
    return content


def trust_checks(stores: Stores, checks: Iterable[str]) -> None:
    """Store that these checks may run; if that can't be written, a run asks again."""
    with suppress(CubError):
        add_trusted_checks(stores.root, checks)


def revoke_trust(stores: Stores) -> None:
    """Remove what is stored as trusted."""
    save_trust(stores.root, None)


def _iter_checks(tasks: TaskIndex) -> Iterator[tuple[str, tuple[str, ...]]]:
    for task in tasks:
        if task.is_closed or not task.has_checks:
            continue
        if checks := tuple(tasks.read_record(task.id).get("checks") or ()):
            yield task.id, checks
