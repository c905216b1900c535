"""Run all checks of `cub doctor` on a project, and fix what needs no decision."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from cub.actions.command_options import RunOptions
from cub.actions.doctor.findings import Finding, sort_findings
from cub.actions.doctor.git_problems import find_git_problems
from cub.actions.doctor.instruction_problems import (
    find_file_problems,
    find_section_problems,
    find_stale_map,
)
from cub.actions.doctor.reference_problems import find_reference_problems
from cub.actions.migration.migrate import warn_due_migrations
from cub.actions.project_state import load_project_state
from cub.actions.run.run_options import resolve_settings
from cub.actions.tasks import task_findings
from cub.actions.tasks.stores import Stores, TaskResult, open_stores
from cub.actions.tasks.transitions import release_task
from cub.errors import CubError
from cub.files.journal import warn_pending_change
from cub.files.read_files import read_file
from cub.harness.harness_registry import ChosenHarnesses, load_harnesses
from cub.project.config_layers import resolve_config
from cub.project.project import Project
from cub.store.jsonl import decode_record, iter_lines
from cub.store.store_paths import ARCHIVE_FILE, REJECTED_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex
from cub.store.task_schema import IN_PROGRESS

_TASK_CODES = {
    "rejected": "D601", "duplicate": "D602", "cycle": "D603", "dangling": "D604", "parent": "D605",
    "lease": "D606",
}  # fmt: skip


def diagnose(root: Path, environ: Mapping[str, str], home: Path | None) -> list[Finding]:
    """Return the problems of the project at `root`, also if its configuration can't be read."""
    try:
        project = Project.load(root)
    except CubError as error:
        return [Finding.from_error("D501", error)]
    return find_problems(project, environ, home)


def find_problems(
    project: Project,
    environ: Mapping[str, str],
    home: Path | None,
    *,
    without: Collection[str] = (),
) -> list[Finding]:
    """Return all problems of a project, errors first; nothing is written, no agent is started.

    `home` is the user's home directory; None if there is none. `without` saves time: "D2" leaves
    out agents and their checks, "D416" the map.
    """
    if home:
        environ = {**environ, "HOME": home.as_posix()}
    stores = open_stores(project, "cub doctor")
    parts = (
        ("D401", _find_instruction_problems(project, home, without)),
        ("D501", _find_run_problems(stores, environ, without)),
        ("D609", find_store_problems(stores)),
    )
    return sort_findings(finding for code, part in parts for finding in _collect(code, part))


def _collect(code: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings of one part, and the error that ends it, as a finding with `code`."""
    try:
        yield from findings
    except CubError as error:
        yield Finding.from_error(code, error)


def _find_run_problems(
    stores: Stores, environ: Mapping[str, str], without: Collection[str]
) -> Iterator[Finding]:
    project = stores.project
    layers = resolve_config(project, environ)
    for warning in dict.fromkeys((*project.config.warnings, *layers.warnings)):
        yield Finding.from_warning("D502", warning)
    settings = resolve_settings(layers.values, RunOptions())
    if "D2" in without:
        yield from find_git_problems(project.root, settings, environ)
        return
    from cub.actions.doctor.run_problems import describe_agents, diagnose_run, find_missing_checks

    chosen = ChosenHarnesses([], "")
    try:
        chosen = load_harnesses(settings.harnesses, settings.harness_configs, stores.root, environ)
    except CubError as error:
        yield Finding.from_error("D201", error)
    diagnosis = diagnose_run(stores, stores.backend.read_tasks(), settings, chosen, environ)
    yield from diagnosis.findings
    yield from find_missing_checks(diagnosis, stores, environ)
    yield from describe_agents(diagnosis, project, environ)


def _find_instruction_problems(
    project: Project, home: Path | None, without: Collection[str]
) -> Iterator[Finding]:
    for warning in warn_due_migrations(project):
        yield Finding.from_warning("D503", warning)
    state = load_project_state(project)
    yield from find_section_problems(state)
    yield from find_file_problems(state)
    yield from find_reference_problems(state, home)
    if "D416" not in without:
        yield from find_stale_map(state)


def find_store_problems(stores: Stores) -> Iterator[Finding]:
    """Yield every problem of the tasks, and lines that an earlier change set aside."""
    for root in dict.fromkeys((stores.root, stores.project.root)):
        for warning in warn_pending_change(root):
            yield Finding.from_warning("D608", warning)
    tasks = stores.backend.read_tasks()
    problems = (
        *task_findings.find_bad_lines(tasks),
        *task_findings.find_duplicates(tasks),
        *task_findings.find_dependency_problems(tasks, stores.lease_checker),
        *task_findings.find_expired_leases(tasks, stores.lease_checker),
    )
    for one in problems:
        yield Finding(_TASK_CODES[one.kind], one.message, TASKS_FILE, one.line, one.hint)
    yield from _find_older_rejected_lines(tasks, stores)
    yield from _find_bad_events(stores)


def _find_older_rejected_lines(tasks: TaskIndex, stores: Stores) -> Iterator[Finding]:
    """Yield one finding for the lines that were moved away: only a person can decide on them."""
    lines = (read_file(stores.root, REJECTED_FILE) or b"").split(b"\n")
    current = {rejected.content for rejected in tasks.rejected_lines}
    if older := [line for line in lines if line.strip() and line not in current]:
        message = f"{len(older):,} invalid line{'s were' if len(older) > 1 else ' was'} set aside"
        fix = f"copy what you need to {TASKS_FILE}, then delete {REJECTED_FILE}"
        yield Finding("D607", message, REJECTED_FILE, None, fix)


def _find_bad_events(stores: Stores) -> Iterator[Finding]:
    """Yield the lines of the ledger and its archive that are not events."""
    for path in (stores.ledger.path, ARCHIVE_FILE):
        with replace(stores.ledger, path=path).open_file() as file:
            for line in iter_lines(file or ()):
                try:
                    decode_record(line.text)
                except ValueError as error:
                    message = f"{error}; cub leaves this event out"
                    yield Finding("D610", message, path, line.number, "fix the line, or delete it")


def fix_store_problems(stores: Stores) -> TaskResult:
    """Merge duplicate lines, set invalid lines aside, and release tasks with expired leases."""
    with stores.transaction() as transaction:
        for task in list(transaction.tasks):
            if task.status == IN_PROGRESS and stores.lease_checker.is_expired(task.lease):
                release_task(transaction, task.id)
        transaction.store.save_repairs()
    return transaction.result
