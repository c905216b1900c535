"""What a command lacks is found before it is run, where the check itself would look."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cub.actions.check_programs import CheckPrograms, describe_missing
from cub.repomap.stack.facts import ProjectCommand
from tests.actions.helpers import put_programs, write

HOOKS = (
    '{"scripts": {"pretest": "npm run --silent lint", "test": "npm run tests-only --",'
    ' "posttest": "aud --production", "tests-only": "nyc tape \'test/**/*.js\'",'
    ' "prelint": "eclint check $(git ls-files | xargs find 2> /dev/null)", "lint": "eslint .",'
    ' "loop": "npm run loop", "quoted": "node -e \\"a; b && c\\" && mocha",'
    ' "audited": "mocha && npm audit", "file": "node test.js", "dlx": "pnpm dlx vitest"}}'
)


def missing(root: Path, text: str, *programs: str, runs: str = "") -> str:
    """What a command lacks if these programs are in PATH, where Python has all modules."""
    path = put_programs(root.parent / "bin", *programs)
    command = ProjectCommand("test", text, "x", runs=runs)
    return CheckPrograms(root, {"PATH": str(path)}).find_missing(command)


@pytest.mark.parametrize(
    ("text", "programs", "lacks"),
    [
        ("pytest -q", "", "pytest"),
        ("pytest -q", "pytest", ""),
        ("tox -e py", "pytest", "tox"),
        ("CI=1 pytest", "", "pytest"),
        ("env CI=1 pytest", "env", "pytest"),
        ("cd web && npm test", "", "npm"),
        ("make all; pytest", "make", "pytest"),
        ("uv run pytest", "uv", ""),
        ("vendor/bin/phpunit", "", "vendor/bin/phpunit"),
        ("pip install x && pytest", "pip", ""),
        ("if true; then (cd a; ruff check); fi 2>&1", "", "ruff"),
        ("echo 'not closed", "", ""),
        ('$(PYTHON) -m pytest ""', "", ""),
        ("npx eslint .", "npx eslint", "eslint"),
        ("npx --yes eslint@9 .", "npx", "eslint@9"),
        ("yarn eslint .", "yarn eslint", "eslint"),
        ("pnpm exec eslint .", "pnpm", "eslint"),
        ("yarn install", "yarn", ""),
        ("bun test", "bun", ""),
    ],
)
def test_programs_are_looked_for_in_path(
    project: Path, text: str, programs: str, lacks: str
) -> None:
    assert missing(project, text, *programs.split()) == lacks


@pytest.mark.parametrize(
    ("text", "programs", "lacks"),
    [
        ("npm test", "", "eclint"),
        ("npm test", "eclint", "eslint"),
        ("npm test", "eclint eslint nyc", "aud"),
        ("npm test", "eclint eslint nyc aud", "aud"),
        ("npm run tests-only", "", "nyc"),
        ("npm run tests-only", "nyc", ""),
        ("npm run lint", "eclint eslint", ""),
        ("npm run loop", "", ""),
        ("npm run quoted", "", "mocha"),
        ("npm run audited", "mocha", "npm audit"),
        ("npm run file", "", "tape"),
        ("npm run dlx", "pnpm", "vitest"),
        ("npm run file", "../tape", ""),
        ("npm run no-such-script", "", ""),
        ("npm test --workspace web", "", ""),
    ],
)
def test_scripts_are_followed_down_to_their_programs(
    project: Path, text: str, programs: str, lacks: str
) -> None:
    write(project, "package.json", HOOKS)
    write(project, "test.js", "var test = require('tape');\nrequire('fs'); require('./a');\n")
    put_programs(project / "node_modules" / ".bin", *programs.split())
    assert missing(project, text, "npm", "node", "pnpm") == lacks


def test_a_target_is_followed_to_what_it_runs(project: Path) -> None:
    assert missing(project, "make test", "make", runs="@echo a\nruff check\npytest") == "ruff"
    assert missing(project, "make test", "make", "ruff", "pytest", runs="ruff x\npytest") == ""
    assert missing(project, "tox -e py", "tox", runs="pytest") == ""  # tox installs it


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("python -m no_such_module -q", "no_such_module"),
        ("python -W error -m no_such.module", "no_such"),
        ("python -m unittest", ""),
        ("python -m pytest", ""),
        ("python -m coverage run -m no_such_module", "no_such_module"),
        ("python -m mine", ""),
        ("python mine.py", ""),
    ],
)
def test_modules_are_looked_for_in_that_python(project: Path, text: str, lacks: str) -> None:
    write(project, "mine.py", "raise SystemExit('this is not imported')\n")
    write(project, "coverage.py", "")
    put_programs(project.parent / "bin", "python", script=f'exec {sys.executable} "$@"')
    assert missing(project, text) == lacks


@pytest.mark.parametrize("name", ["importlib/__init__.py", "sys.py", "os.py"])
def test_nothing_of_the_project_runs(project: Path, name: str) -> None:
    write(project, name, "open('ran', 'w')\n")
    put_programs(project.parent / "bin", "python", script=f'exec {sys.executable} "$@"')
    assert missing(project, "python -m pytest") == ""
    assert not (project / "ran").exists()


def test_a_program_of_the_repository_is_not_started(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_programs(project / "bin", "python", script="touch ran")
    monkeypatch.chdir(project)
    command = ProjectCommand("test", "python -m pytest", "x")
    assert CheckPrograms(project, {"PATH": "bin"}).find_missing(command) == "python"
    assert not (project / "ran").exists()


def test_a_shim_says_nothing_of_the_version_in_use(project: Path) -> None:
    shims = put_programs(project.parent / "shims", "pytest")
    programs = CheckPrograms(project, {"PATH": str(shims)})
    assert programs.find_missing(ProjectCommand("test", "pytest", "x")) == "pytest"
    put_programs(shims, "python")
    assert programs.find_missing(ProjectCommand("test", "pytest", "x")) == ""


def test_what_is_missing_is_described() -> None:
    assert describe_missing("nyc") == "nyc is not installed"
    assert describe_missing("npm audit") == "npm audit needs the network"
