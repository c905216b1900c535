"""Find what `cub run` would use in a project, and the commands that come after `cub init`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import join, quote
from typing import NamedTuple

from cub.actions.check_commands import CheckProposal, propose_checks
from cub.actions.config_set import plan_config_set
from cub.actions.tasks.current_attempt import find_current_attempt
from cub.edit.plan import Plan
from cub.files.file_tree import DiskTree, PlannedTree
from cub.git.worktree import is_git_usable
from cub.project.config import CONFIG_FILE
from cub.project.config_layers import resolve_config
from cub.project.executable_config import find_agent_files, list_config_commands
from cub.project.project import Project
from cub.project.trust_store import (
    add_trusted_checks,
    digest_commands,
    load_trust,
    save_trust,
)

_HARNESS, _CHECKS = "run.harness", "run.checks"
# A file that an agent can write without knowing the project, for the first task's example.
_EXAMPLE_FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


class NextSteps(NamedTuple):
    """Hold the agents and checks that `cub run` would use.

    `harness` and `configured_checks` are set in the configuration; `agents` are installed, and
    `proposed_checks` come with the file that names each. `obstacle` says why the project's tests
    can't be checks here, and what to do. `is_outside` is False within an attempt of a run.
    """

    agents: tuple[str, ...] = ()
    harness: str = ""
    configured_checks: tuple[str, ...] = ()
    proposed_checks: Mapping[str, str] = {}
    obstacle: str = ""
    is_outside: bool = True

    @property
    def has_checks(self) -> bool:
        """Return whether a task without checks of its own would have some."""
        return bool(self.configured_checks or self.proposed_checks)

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the agents to choose from; () if there is nothing to choose."""
        return self.agents if len(self.agents) > 1 and not self.harness else ()


class Answers(NamedTuple):
    """Hold what the user chose: an agent, "" for the first one, and checks to trust."""

    agent: str = ""
    checks: Sequence[str] = ()


def find_next_steps(
    project: Project, agents: Sequence[str], environ: Mapping[str, str]
) -> NextSteps:
    """Return what `cub run` would use here, of the installed `agents`."""
    if find_current_attempt(project.root):
        return NextSteps(is_outside=False)
    values = resolve_config(project, environ).values
    harness = str(values[_HARNESS].value) if values[_HARNESS].origin != "default" else ""
    own = [key.split(".")[1] for key in values if key.startswith("harnesses.")]
    has_checks = values[_CHECKS].origin != "default"
    proposal = CheckProposal() if has_checks else propose_checks(project, environ)
    return NextSteps(
        tuple(agents),
        harness or ", ".join(dict.fromkeys(own)),
        tuple(values[_CHECKS].value or ()) if has_checks else (),
        proposal.commands,
        ": ".join(filter(None, (proposal.obstacle, proposal.remedy))),
    )


def append_answers(project: Project, plan: Plan, answers: Answers) -> Plan:
    """Return the plan, with the chosen agent in the configuration as the plan leaves it."""
    if not answers.agent:
        return plan
    planned = replace(project, tree=PlannedTree(project.tree, plan.contents))
    added = plan_config_set(planned, _HARNESS, answers.agent)
    return plan.append_plan(added, both_reasons=True)


def trust_answers(root: Path, answers: Answers) -> None:
    """Trust what the user agreed to; nothing else that the configuration runs becomes trusted."""
    if answers.checks:
        add_trusted_checks(root, answers.checks)
    config = _list_commands(root)
    if answers.agent and set(config) == {_HARNESS}:
        save_trust(root, load_trust(root)._replace(config=digest_commands(config)))


def _list_commands(root: Path) -> dict[str, str]:
    return list_config_commands(DiskTree(root).read(CONFIG_FILE))


def is_trusted(root: Path, steps: NextSteps) -> bool:
    """Return whether `cub run` would start the configured agent and checks without asking."""
    trust = load_trust(root)
    if not trust.allows(_list_commands(root)) or trust.list_untrusted(steps.proposed_checks):
        return False
    return not any(map(trust.explain_untrusted, find_agent_files(root)))


def list_next_commands(
    project: Project,
    paths: Sequence[str],
    directory: Path,
    steps: NextSteps,
    *,
    is_new: bool = True,
) -> Iterator[str]:
    """Yield the commands to a first closed task, to be typed in `directory`.

    `paths` are those just written.
    """
    root, base = project.root, Path(os.path.realpath(directory))
    has_git = shutil.which("git") is not None
    if not base.is_relative_to(root):
        yield f"cd {quote(os.path.relpath(root, base))}"
        base = root
    if has_git and (line := _make_commit_line(project, paths, base, is_new=is_new)):
        yield line if is_git_usable(root) else f"git init -q && {line}"
    yield _make_task_line(root, uses_tests=steps.has_checks)
    if has_git:
        yield "cub run" if is_trusted(root, steps) else "cub run --trust"


def _make_commit_line(project: Project, paths: Sequence[str], base: Path, *, is_new: bool) -> str:
    """Return the command that commits what was written; "" if git ignores all of it."""
    names = dict.fromkeys(".cub" if path.startswith(".cub/") else path for path in paths)
    kept = [name for name in names if not project.is_ignored(name)]
    if not kept:
        return ""
    files = join(os.path.relpath(project.root / name, base) for name in kept)
    return f'git add {files} && git commit -m "{"Add" if is_new else "Update"} cub"'


def _make_task_line(root: Path, *, uses_tests: bool) -> str:
    """Return an example of a task: with a check of its own where no tests decide."""
    if uses_tests:
        return 'cub task add "Add one missing test"'
    there = {entry.name.lower() for entry in root.iterdir()}
    name = next((name for name in _EXAMPLE_FILES if name.lower() not in there), "README.md")
    verb = "Improve" if name.lower() in there else "Write"
    return f'cub task add "{verb} {name}" --check "test -s {name}"'
