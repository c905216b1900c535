"""Require that a person has agreed to the commands that a repository has run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from json import loads
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cub.actions.context_scripts import ContextScript
from cub.actions.run.run_options import RunSettings
from cub.actions.tasks.stores import Stores
from cub.errors import CubError
from cub.project.config import CONFIG_FILE
from cub.project.executable_config import find_agent_files, list_config_commands
from cub.project.trust_store import (
    TrustedCommands,
    add_trusted_checks,
    load_trust,
    make_trusted_commands,
    save_trust,
)
from cub.store.jsonl import Record
from cub.store.task_index import TaskIndex

TRUST_HINT = "review them, then run `cub trust`; `cub run --trust` allows them for this run only"
FILES_UNTRUSTED = "agents execute files of this project that are not trusted"


class Executable(NamedTuple):
    """Hold something of the project that runs, and whether the person has agreed to it.

    `section`: where JSON lists it, with these `facts`; `line`: what it is, for a person; `content`:
    what the person agrees to, of a file as its digest; `text`: what a script or a file contains.
    """

    section: Literal["config", "checks", "proposed", "scripts", "files"]
    line: str
    facts: Mapping[str, Any]
    content: str
    trusted: bool = False
    text: str = ""


@dataclass(slots=True)
class ApprovedChecks:
    """Decide which checks of tasks a run may execute, and which files its agents.

    `pinned_checks` are those that each task had when the run started: an agent's changes to them
    don't count, but a person may agree to others during the run. `pinned_files` are the digests of
    files that are trusted for this run only.
    """

    root: Path
    pinned_checks: dict[str, tuple[str, ...]]
    pinned_files: Mapping[str, str] = field(default_factory=dict)

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

    def list_untrusted_files(self, folder: Path) -> list[str]:
        """Return a line for each file in the checkout of a run that agents must not execute."""
        trusted = load_trust(self.root)
        trusted = trusted._replace(files={**trusted.files, **self.pinned_files})
        return [one.line for one in _list_files(folder, trusted) if not one.trusted]


def read_executables(
    stores: Stores,
    proposed: Mapping[str, str],
    scripts: Sequence[ContextScript] = (),
    tasks: TaskIndex | None = None,
) -> list[Executable]:
    """Return what the project brings along that runs; checks of tasks that are not closed."""
    trusted, tasks_of = load_trust(stores.root), dict[str, list[str]]()
    for task, checks in iter_task_checks(tasks or stores.backend.read_tasks()):
        for check in dict.fromkeys(checks):
            tasks_of.setdefault(check, []).append(task)
    found = [
        Executable("checks", f"a task's check: {check}", {"command": check, "tasks": ids}, check)
        for check, ids in tasks_of.items()
    ]
    found += [
        Executable("proposed", f"a check: {line}, from {name}",
                   {"command": line, "source": name}, line)
        for line, name in proposed.items()
    ]  # fmt: skip
    found += [
        Executable("scripts", one.title, {"kind": one.kind, "source": one.source,
                   "command": one.command}, one.text, text=one.text)
        for one in scripts
    ]  # fmt: skip
    untrusted = {*trusted.list_untrusted(one.content for one in found)}
    return [
        *_list_config(stores, trusted),
        *(one._replace(trusted=one.content not in untrusted) for one in found),
        *_list_files(stores.project.root, trusted),
    ]


def _list_config(stores: Stores, trusted: TrustedCommands) -> list[Executable]:
    config = list_config_commands(stores.project.config_data)
    is_trusted = trusted.allows(config)
    return [
        Executable("config", f"{key}: {value}", {"key": key, "value": loads(value)}, value,
                   is_trusted)
        for key, value in config.items()
    ]  # fmt: skip


def _list_files(root: Path, trusted: TrustedCommands) -> Iterator[Executable]:
    for file in find_agent_files(root):
        reason = trusted.explain_untrusted(file)
        line = f"a file of an agent: {file.path}" + (f" ({reason})" if reason else "")
        yield Executable(
            "files", line, {"path": file.path}, file.digest, not reason, file.text if reason else ""
        )


def require_trust(stores: Stores, settings: RunSettings) -> ApprovedChecks:
    """Return the checks of tasks that may run.

    Raises CubError, with what would run, unless the person has agreed to it. What is read here is
    what they agreed to: later the run may be on another branch.
    """
    tasks, options = stores.backend.read_tasks(), settings.options
    approved_checks = ApprovedChecks(stores.root, dict(iter_task_checks(tasks)))
    if options.trust:
        return approved_checks
    unused = ["run.checks"] * bool(options.checks or options.no_checks)
    unused += ["context_commands"] * options.no_context_exec
    used = list_config_commands(stores.project.config_data, omit=unused)
    untrusted = [
        one
        for one in read_executables(stores, settings.proposed_checks, tasks=tasks)
        if not one.trusted
        and (one.section != "config" or one.facts["key"] in used)
        and (one.section != "checks" or not options.no_checks)
    ]
    if untrusted:
        raise CubError(
            _describe_untrusted(untrusted, load_trust(stores.root)),
            where=CONFIG_FILE if untrusted[0].section == "config" else "",
            hint=TRUST_HINT,
            details=[one.line for one in untrusted],
        )
    return approved_checks


def _describe_untrusted(untrusted: Sequence[Executable], trusted: TrustedCommands) -> str:
    """Say what is not trusted; a task's check alone never means that the project changed."""
    counts = Counter(one.section for one in untrusted)
    if counts["config"] or (counts["checks"] and trusted == TrustedCommands()):
        again = "changed since you trusted them" if trusted.config else "are not trusted"
        return f"the commands of this project {again}"
    if counts["proposed"]:
        return "the proposed checks are not trusted"
    if counts["files"] and not counts["checks"]:
        return FILES_UNTRUSTED
    if counts["checks"] == 1:
        return "a task has an untrusted check"
    return f"tasks have {counts['checks']} untrusted checks"


def trust_project(
    stores: Stores, proposed: Mapping[str, str], scripts: Sequence[ContextScript] = ()
) -> list[Executable]:
    """Store that all that the project brings along may run, and return it."""
    found = read_executables(stores, proposed, scripts)
    config = {one.facts["key"]: one.content for one in found if one.section == "config"}
    texts = [one.content for one in found if one.section in ("checks", "proposed", "scripts")]
    files = {one.facts["path"]: one.content for one in found if one.section == "files"}
    files = {path: digest for path, digest in files.items() if digest}
    save_trust(stores.root, make_trusted_commands(config, texts)._replace(files=files))
    return found


def trust_checks(stores: Stores, checks: Iterable[str]) -> None:
    """Store that these checks may run; if that can't be written, a run asks again."""
    with suppress(CubError):
        add_trusted_checks(stores.root, checks)


def iter_task_checks(tasks: TaskIndex) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the ids of tasks that are not closed and have checks, each with these."""
    for task in tasks:
        if task.is_closed or not task.has_checks:
            continue
        if checks := tuple(tasks.read_record(task.id).get("checks") or ()):
            yield task.id, checks
