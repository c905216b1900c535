"""Run all checks of `cub doctor` on a project."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from cub.actions.doctor.findings import Finding, sort_findings
from cub.actions.doctor.git_problems import find_git_problems
from cub.actions.doctor.instruction_problems import (
    find_file_problems,
    find_section_problems,
    find_stale_map,
)
from cub.actions.doctor.reference_problems import find_reference_problems
from cub.actions.doctor.store_problems import find_store_problems
from cub.actions.migration.migrate import warn_due_migrations
from cub.actions.project_state import load_project_state
from cub.actions.run.run_options import RunOptions, resolve_settings
from cub.actions.tasks.stores import Stores, open_stores
from cub.errors import CubError
from cub.harness.harness_registry import ChosenHarnesses, load_harnesses
from cub.project.config_layers import resolve_config
from cub.project.project import Project


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
    diagnosis = diagnose_run(stores, settings, chosen, environ)
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
