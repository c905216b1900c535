"""Looking for what is broken in a folder, and repairing it, without the command line."""

from __future__ import annotations

from pathlib import Path

from cub.actions.repair import RepairReport, make_repair_report, plan_repair
from cub.edit.plan import Plan
from cub.project.project import Project
from tests.actions.helpers import carry_out, init, write
from tests.edit.broken import END

MARKER = END.encode()


def bakery_in(root: Path) -> Path:
    """A project with text of its own in both files, and cub in it."""
    write(root, "AGENTS.md", "# Bakery\n")
    write(root, "CLAUDE.md", "# For Claude\n")
    init(root)
    return root


def look(root: Path, *paths: str) -> RepairReport:
    return make_repair_report(Project.load(root), paths)


def repair(root: Path, number: int = 1, *paths: str) -> Plan:
    return carry_out(root, lambda project: plan_repair(project, number, paths))
