"""Whole trees: golden/migrations/*/before becomes after; plan.txt says what a person is told."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from cub.actions.init_update import InitOptions, plan_init, plan_update
from cub.edit.plan import Plan
from cub.project.project import Project
from tests.actions.helpers import init
from tests.actions.migrating import CASES, whole, with_stand_ins

NAMES = sorted(path.name for path in CASES.glob("0*"))


def _told(plan: Plan) -> str:
    lines = [f"{edit.kind} {edit.path}: {edit.reason}" for edit in plan.edits if not edit.is_local]
    for warning in plan.warnings:
        lines.append(f"warning {warning.location}: {warning.message}")
        lines += [f"  hint: {warning.hint}"] if warning.hint else []
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_before_becomes_after(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    case, root = CASES / name, tmp_path / "project"
    before = whole(case / "before")
    if sys.platform == "win32" and any(isinstance(data, str) for data in before.values()):
        pytest.skip("needs links")
    shutil.copytree(case / "before", root, symlinks=True)
    folder, prune = with_stand_ins(tmp_path / "migrations"), name.endswith("-prune")
    plan = init(root, prune=prune, migrations=folder)
    if request.config.getoption("force_regen"):
        shutil.rmtree(case / "after", ignore_errors=True)
        ignored = shutil.ignore_patterns("state.json", "cache", "backups")
        shutil.copytree(root, case / "after", symlinks=True, ignore=ignored)
        (case / "plan.txt").write_text(_told(plan), encoding="utf-8")
    assert whole(root) == whole(case / "after")
    assert _told(plan) == (case / "plan.txt").read_text(encoding="utf-8")
    project = Project.load(root)
    assert plan_init(project, InitOptions(prune=prune, migrations=folder)).is_empty
    assert plan_update(project, prune=prune, migrations=folder).is_empty
