"""What `cub init` suggests for runs, and what a person's answers change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.actions.init_update import plan_init
from cub.actions.next_steps import (
    Answers,
    NextSteps,
    append_answers,
    find_next_steps,
    is_trusted,
    list_next_commands,
    trust_answers,
)
from cub.edit.plan import FileEdit, Plan
from cub.files.apply import apply_plan
from cub.files.lock import lock_project
from cub.project.project import Project
from cub.project.trust_store import load_trust
from tests.actions.helpers import put_programs, write

PYPROJECT = '[project]\nname = "x"\ndependencies = ["pytest"]\n[tool.pytest.ini_options]\n'
CHECKS = {"pytest": "pyproject.toml"}
COMMIT = 'git add AGENTS.md .cub && git commit -m "Add cub"'
TASK = 'cub task add "Add one missing test"'
BOTH = Answers("claude", ("pytest", "make 'x y'"))


@pytest.fixture(autouse=True)
def _nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CUB_TASK", "CUB_ATTEMPT"):
        monkeypatch.delenv(name, raising=False)


def found(root: Path, config: str = "", **environ: str) -> NextSteps:
    write(root, "pyproject.toml", PYPROJECT)
    if config:
        write(root, ".cub/config.yaml", config)
    environ = {"PATH": str(put_programs(root.parent / "bin", "pytest")), **environ}
    return find_next_steps(Project.load(root), ("claude", "codex"), environ)


def commands(root: Path, steps: NextSteps, directory: Path | None = None) -> list[str]:
    paths = ("AGENTS.md", ".cub/map.md", ".cub/.gitignore")
    return list(list_next_commands(Project.load(root), paths, directory or root, steps))


def test_what_is_found_is_what_a_run_uses(project: Path) -> None:
    steps = found(project)
    assert (steps.choices, steps.proposed_checks) == (("claude", "codex"), CHECKS)
    assert commands(project, steps) == [COMMIT, TASK, "cub run --trust"]
    trust_answers(project, Answers("", ("pytest",)))
    assert commands(project, steps) == [COMMIT, TASK, "cub run"]


@pytest.mark.parametrize(
    ("config", "environ", "harness", "checks"),
    [
        ("run: {harness: codex}\n", {}, "codex", ()),
        ("harnesses: {mine: {argv: [a]}}\n", {}, "mine", ()),
        ("run: {checks: [make]}\n", {}, "", ("make",)),
        ("run: {checks: []}\n", {}, "", ()),
        ('run: {harness: "codex,claude", checks: [make]}\n', {}, "codex,claude", ("make",)),
        ("", {"CUB_RUN_HARNESS": "codex"}, "codex", ()),
    ],
)
def test_what_is_configured_is_not_chosen_again(
    project: Path, config: str, environ: dict[str, str], harness: str, checks: tuple[str, ...]
) -> None:
    steps = found(project, config, **environ)
    assert (steps.harness, steps.configured_checks) == (harness, checks)
    assert steps.choices == (() if harness else ("claude", "codex"))
    assert steps.proposed_checks == ({} if "checks" in config else CHECKS)


def test_tests_that_cannot_run_here_are_named(project: Path) -> None:
    steps = found(project, PATH="")
    assert steps.proposed_checks == {}
    assert steps.obstacle.endswith("but pytest is not installed: run `pip install pytest`")
    assert commands(project, steps)[1:] == [
        'cub task add "Write README.md" --check "test -s README.md"', "cub run"
    ]  # fmt: skip


def test_one_agent_is_no_choice(project: Path) -> None:
    assert find_next_steps(Project.load(project), ("claude",), {"PATH": ""}).choices == ()


def test_a_file_that_is_there_is_no_example(project: Path) -> None:
    write(project, "readme.md", "# x\n")
    assert "Write CONTRIBUTING.md" in commands(project, NextSteps())[1]
    write(project, "CONTRIBUTING.md", "# x\n")
    write(project, "CHANGELOG.md", "# x\n")
    assert "Improve README.md" in commands(project, NextSteps())[1]


def test_commands_fit_the_directory_in_which_they_are_typed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = project / "a b"
    below.mkdir()
    assert commands(project, NextSteps(), below)[0].startswith("git add ../AGENTS.md ../.cub &&")
    assert commands(project, NextSteps(), project.parent)[:2] == [f"cd {project.name}", COMMIT]
    shutil.rmtree(project / ".git")
    assert commands(project, NextSteps())[0] == f"git init -q && {COMMIT}"
    monkeypatch.setenv("PATH", "")
    (alone,) = commands(project, NextSteps())
    assert alone.startswith("cub task add")


def test_what_git_ignores_is_not_added(project: Path) -> None:
    write(project, ".gitignore", "/.cub\n")
    assert commands(project, NextSteps())[0].startswith("git add AGENTS.md &&")
    write(project, ".gitignore", "/.cub\nAGENTS.md\n")
    assert commands(project, NextSteps())[0].startswith("cub task add")


def test_the_agent_is_part_of_the_plan(project: Path) -> None:
    write(project, ".cub/config.yaml", "# mine\nrun:\n  model: small  # cheap\n")
    plan = append_answers(Project.load(project), plan_init(Project.load(project)), BOTH)
    assert len({edit.path for edit in plan.edits}) == len(plan.edits)
    assert plan.contents[".cub/config.yaml"] == (
        b"# mine\nrun:\n  model: small  # cheap\n  harness: claude\n"
    )
    (edit,) = [edit for edit in plan.edits if edit.path == ".cub/config.yaml"]
    assert edit.reason == "set run.harness"


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
    trust_answers(project, BOTH)
    assert bool(load_trust(project).config) is trusted
    assert (
        is_trusted(project, NextSteps(proposed_checks=dict.fromkeys(BOTH.checks, "x"))) is trusted
    )
