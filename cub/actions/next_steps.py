"""Suggest what `cub run` could use in a project: an agent of this machine, and the checks.

A person who says yes writes them into the configuration, and agrees to have them run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cub.actions.check_commands import (
    CheckProposal,
    format_checks_command,
    propose_checks,
)
from cub.actions.config_set import plan_config_set
from cub.actions.tasks.current_attempt import find_current_attempt
from cub.config_edit.yaml_text import format_yaml
from cub.edit.plan import Plan
from cub.files import DiskTree, PlannedTree
from cub.project.config import CONFIG_FILE
from cub.project.config_layers import resolve_config
from cub.project.executable_config import list_config_commands
from cub.project.project import Project
from cub.project.trust_store import digest_commands, load_trust, save_trust

_HARNESS, _CHECKS = "run.harness", "run.checks"


class NextSteps(NamedTuple):
    """Hold agents, and checks with the manifests that name them.

    Both are empty for what is configured already, or not found. `obstacle` says why tests that are
    there can't be checks here, and what to do.
    """

    agents: tuple[str, ...] = ()
    checks: Mapping[str, str] = {}
    obstacle: str = ""

    def list_commands(self) -> list[str]:
        """Return the commands that configure them, ready to be typed."""
        harness = [f"cub config set {_HARNESS} {self.agents[0]}"] if self.agents else []
        return harness + ([format_checks_command(self.checks)] if self.checks else [])


class Answers(NamedTuple):
    """Hold what a person chose: an agent, "" for none, and checks."""

    agent: str = ""
    checks: Sequence[str] = ()

    def to_settings(self) -> dict[str, str]:
        """Return the values to write, by their keys."""
        values = {_HARNESS: self.agent, _CHECKS: format_yaml([*self.checks]) if self.checks else ""}
        return {key: value for key, value in values.items() if value}


def suggest_next_steps(
    project: Project, agents: Sequence[str], environ: Mapping[str, str]
) -> NextSteps:
    """Return what the project does not configure yet: nothing within an attempt of a run."""
    if find_current_attempt(project.root):
        return NextSteps()
    values = resolve_config(project, environ).values
    has_agent = values[_HARNESS].origin != "default" or any(
        key.startswith("harnesses.") for key in values
    )
    has_checks = values[_CHECKS].origin != "default"
    proposal = CheckProposal() if has_checks else propose_checks(project, environ)
    obstacle = ": ".join(filter(None, (proposal.obstacle, proposal.remedy)))
    return NextSteps(() if has_agent else tuple(agents), proposal.commands, obstacle)


def append_answers(project: Project, plan: Plan, answers: Answers) -> Plan:
    """Return the plan, with the answers written into the configuration as the plan leaves it."""
    for key, value in answers.to_settings().items():
        planned = replace(project, tree=PlannedTree(project.tree, plan.contents))
        plan = plan.append_plan(plan_config_set(planned, key, value), both_reasons=True)
    return plan


def trust_answers(root: Path, answers: Answers) -> bool:
    """Agree to the configuration; return False, and do not, if it runs more than was asked for."""
    config = list_config_commands(DiskTree(root).read(CONFIG_FILE))
    if not set(config) <= answers.to_settings().keys():
        return False
    save_trust(root, load_trust(root)._replace(config=digest_commands(config) if config else ""))
    return True
