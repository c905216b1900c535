"""What `cub init` suggests for runs, and what a person's answers change."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.init_update import plan_init
from cub.actions.next_steps import (
    Answers,
    NextSteps,
    append_answers,
    suggest_next_steps,
    trust_answers,
)
from cub.edit.plan import FileEdit, Plan
from cub.files import apply_plan, lock_project
from cub.project.project import Project
from cub.project.trust_store import load_trust
from tests.actions.helpers import put_programs, write

PYPROJECT = '[project]\nname = "x"\ndependencies = ["pytest"]\n[tool.pytest.ini_options]\n'
CHECKS = {"pytest": "pyproject.toml"}
BOTH = Answers("claude", ("pytest", "make 'x y'"))


@pytest.fixture(autouse=True)
def _nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CUB_TASK", "CUB_ATTEMPT"):
        monkeypatch.delenv(name, raising=False)


def suggested(root: Path, config: str = "", **environ: str) -> NextSteps:
    write(root, "pyproject.toml", PYPROJECT)
    if config:
        write(root, ".cub/config.yaml", config)
    environ = {"PATH": str(put_programs(root.parent / "bin", "pytest")), **environ}
    return suggest_next_steps(Project.load(root), ("claude", "codex"), environ)


def test_what_is_found_is_suggested_as_commands(project: Path) -> None:
    steps = suggested(project)
    assert (steps.agents, steps.checks) == (("claude", "codex"), CHECKS)
    assert steps.list_commands() == [
        "cub config set run.harness claude",
        "cub config set run.checks '[pytest]'",
    ]
    assert NextSteps().list_commands() == []


@pytest.mark.parametrize(
    ("config", "environ", "steps"),
    [
        ("run: {harness: codex}\n", {}, ((), CHECKS)),
        ("harnesses: {mine: {argv: [a]}}\n", {}, ((), CHECKS)),
        ("run: {checks: [make]}\n", {}, (("claude", "codex"), {})),
        ("run: {checks: []}\n", {}, (("claude", "codex"), {})),
        ("run: {harness: codex, checks: [make]}\n", {}, ((), {})),
        ("", {"CUB_RUN_HARNESS": "codex"}, ((), CHECKS)),
    ],
)
def test_what_is_configured_is_not_suggested(
    project: Path, config: str, environ: dict[str, str], steps: tuple[object, object]
) -> None:
    assert suggested(project, config, **environ) == (*steps, "")


def test_tests_that_cannot_run_here_are_named(project: Path) -> None:
    steps = suggested(project, PATH="")
    assert steps.checks == {}
    assert steps.obstacle.endswith("but pytest is not installed: run `pip install pytest`")


def test_answers_are_part_of_the_plan(project: Path) -> None:
    write(project, ".cub/config.yaml", "# mine\nrun:\n  model: small  # cheap\n")
    plan = append_answers(Project.load(project), plan_init(Project.load(project)), BOTH)
    assert len({edit.path for edit in plan.edits}) == len(plan.edits)
    assert plan.contents[".cub/config.yaml"] == (
        b"# mine\nrun:\n  model: small  # cheap\n  harness: claude\n"
        b"  checks: [pytest, \"make 'x y'\"]\n"
    )
    (edit,) = [edit for edit in plan.edits if edit.path == ".cub/config.yaml"]
    assert edit.reason == "set run.harness; set run.checks"


def test_without_an_answer_nothing_is_added(project: Path) -> None:
    plan = Plan((FileEdit("a", None, b"x"),))
    assert append_answers(Project.load(project), plan, Answers()) == plan


@pytest.mark.parametrize(
    ("config", "trusted"), [("", True), ("run: {notify: ring}\n", False)], ids=["own", "more"]
)
def test_who_answers_agrees_to_that_and_to_nothing_else(
    project: Path, config: str, trusted: bool
) -> None:
    write(project, ".cub/config.yaml", config)
    with lock_project(project) as lock:
        apply_plan(append_answers(Project.load(project), Plan(), BOTH), lock)
    assert trust_answers(project, BOTH) is trusted
    assert bool(load_trust(project).config) is trusted
