"""Find what stops a run: git, agents, checks, and commands that are not trusted."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cub import __version__
from cub.actions.check_commands import propose_checks
from cub.actions.check_programs import CheckPrograms, describe_missing, needs_network, read_package
from cub.actions.doctor.findings import Finding
from cub.actions.doctor.git_problems import find_git_problems
from cub.actions.run.agent_programs import MissingProgram, RunAgents, require_available
from cub.actions.run.agent_texts import list_agent_sources
from cub.actions.run.check_proposals import resolve_checks
from cub.actions.run.command_trust import require_trust
from cub.actions.run.run_options import RunSettings
from cub.actions.tasks.current_attempt import build_environment
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.harness.base import Harness
from cub.harness.builtin import BuiltinHarness
from cub.harness.harness_registry import ChosenHarnesses, find_installed_agents, load_harnesses
from cub.harness.native_harness import NativeHarness
from cub.project.config import CONFIG_FILE
from cub.project.project import Project
from cub.repomap.stack.facts import ProjectCommand
from cub.store.task_index import TaskIndex
from cub.text import join_first

# A check that sets its own PATH may find programs that cub does not find.
_SETS_PATH = re.compile(r"activate|PATH|\bsource\b|\beval\b|\bnvm\b|direnv|\$\(")
_VERSION = re.compile(r"\d+(?:\.\d+){2,}")
_PACKAGE_DEPTH = 3  # directories above a program of npm


class RunDiagnosis(NamedTuple):
    """Hold the settings of a run with its checks, its agents, and what was found.

    `choice` says why `auto` chose the agents; "" if it did not.
    """

    settings: RunSettings
    harnesses: Sequence[Harness]
    choice: str
    missing: Sequence[MissingProgram]
    findings: list[Finding]


def diagnose_run(
    stores: Stores,
    tasks: TaskIndex,
    settings: RunSettings,
    chosen: ChosenHarnesses,
    environ: Mapping[str, str],
) -> RunDiagnosis:
    """Find out whether a run of the `chosen` agents would start. Starts none, writes nothing."""
    findings = list(find_git_problems(stores.project.root, settings, environ))
    has_git = not any(one.code in ("D101", "D103") for one in findings)
    try:
        settings = resolve_checks(stores, tasks, settings, environ)
    except CubError as error:
        findings += [Finding.from_error("D301", error)] if has_git else []
    findings += _find_check_problems(stores, settings, environ)
    harnesses, choice = chosen
    is_trusted = not any(one.code == "D304" for one in findings)
    agents = RunAgents(harnesses, settings, stores.project, environ)
    missing = agents.find_unusable(asks_server=is_trusted)
    findings += _find_agent_problems(harnesses, missing)
    return RunDiagnosis(settings, harnesses, choice, missing, findings)


def _find_check_problems(
    stores: Stores, settings: RunSettings, environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield programs that checks lack, and commands that are not trusted."""
    visible = build_environment(settings.hidden_variables, environ)
    programs = CheckPrograms(stores.project.root, visible)
    for check in settings.checks:
        is_known = check in settings.proposed_checks or _SETS_PATH.search(check)
        missing = "" if is_known else programs.find_missing(ProjectCommand("test", check, ""))
        if missing and not needs_network(missing):
            message = f"the check `{check}` can't run: {describe_missing(missing)}"
            fix = f"install {missing}, or change run.checks"
            yield Finding("D303", message, CONFIG_FILE, None, fix)
    try:
        require_trust(stores, settings)
    except CubError as error:
        yield Finding.from_error("D304", error)


def _find_agent_problems(
    harnesses: Sequence[Harness], missing: Sequence[MissingProgram]
) -> Iterator[Finding]:
    """Yield the agents that can't be started: an error if none of them can."""
    if not missing:
        return
    try:
        require_available(harnesses, missing)
    except CubError as error:
        yield Finding.from_error("D201", error)
        if len(missing) == 1:
            return
    for program in missing:
        message = f"the agent {program.harness} can't be started: {program.explain()}"
        yield Finding("D202", message, fix=program.hint)


def find_missing_checks(
    diagnosis: RunDiagnosis, stores: Stores, environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield the checks that a run uses, or say that there are none although no task needs any."""
    settings = diagnosis.settings
    checks = dict.fromkeys(settings.checks, "configured") | dict(settings.proposed_checks)
    if not checks and not any(one.code == "D301" for one in diagnosis.findings):
        proposal = propose_checks(stores.project, environ)
        checks = dict(proposal.commands)
        if not checks and not settings.accept_unverified:
            why = f": {proposal.obstacle}" if proposal.obstacle else ""
            fix = proposal.remedy or "cub config set run.checks '[\"COMMAND\"]'"
            yield Finding("D302", f"no check is configured, and none was found{why}", fix=fix)
    if checks:
        names = [f"`{check}` ({source})" for check, source in checks.items()]
        yield Finding("D305", f"a run uses these checks: {join_first(names)}")


def describe_agents(
    diagnosis: RunDiagnosis, project: Project, environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield the agents that a run uses, and what each installed agent reads.

    Versions are read from the installation: no agent is started.
    """
    missing = {program.harness for program in diagnosis.missing}
    usable = [one for one in diagnosis.harnesses if one.name not in missing]
    for harness in usable:
        choice = f" ({diagnosis.choice})" if diagnosis.choice else ""
        version = _find_version(harness, environ)
        message = f"a run uses {harness.facts.title} {version}".rstrip() + choice
        yield Finding("D204", message)
        if isinstance(harness, NativeHarness) and harness.facts.is_outdated(version):
            facts = harness.facts
            message = f"{facts.title} {version} is older than {facts.oldest_version}, "
            message += "the oldest tested version"
            yield Finding("D203", message, fix=facts.installation)
    names = [name for name in find_installed_agents(environ) if name not in missing]
    installed = load_harnesses(names, {}, project.root, environ).harnesses
    for harness in {one.name: one for one in (*usable, *installed)}.values():
        yield from _describe_reading(harness, project, environ)


def _describe_reading(
    harness: Harness, project: Project, environ: Mapping[str, str]
) -> Iterator[Finding]:
    version = _find_version(harness, environ)
    sources = list_agent_sources(project, harness, version, environ)
    read = [source.label for source in sources if source.times]
    unread = [source.label for source in sources if not source.times]
    if sources:
        message = f"{harness.facts.title} reads {join_first(read) or 'no file of this project'}"
        message += f"; only `cub run` passes on {join_first(unread)}" if unread else ""
        yield Finding("D417", message)


def _find_version(harness: Harness, environ: Mapping[str, str]) -> str:
    """Return the version of an agent that its installation names; "" if it names none."""
    if isinstance(harness, BuiltinHarness):
        return __version__
    if not isinstance(harness, NativeHarness):
        return ""
    path = environ.get("PATH", os.defpath)
    program = shutil.which(harness.facts.program, path=path)
    if program is None:
        return ""
    file = Path(os.path.realpath(program))
    for folder in list(file.parents)[:_PACKAGE_DEPTH]:
        version = read_package(folder).get("version")
        if isinstance(version, str) and _VERSION.match(version):
            return version
    # Some installers name a directory, or the program itself, after the version.
    found = _VERSION.findall(file.as_posix())
    return str(found[-1]) if found else ""
