"""Proposed checks are commands that can run here: tests first, each suite once."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.check_commands import CheckProposal, propose_checks
from cub.project.project import Project
from tests.actions.helpers import put_programs, write

PYTEST = '[project]\nname = "x"\n[tool.pytest.ini_options]\n[tool.ruff]\n'
TOX = (
    "[tox]\nenvlist = py312\n[testenv]\ncommands = pytest\n[testenv:lint]\ncommands = ruff check\n"
)
LINTERS = "[flake8]\nmax-line-length = 100\n[mypy]\nstrict = true\n"
UNIT = "import unittest\n"
PLAIN = "import pytest\n"
SCRIPTS = '{"scripts": {"pretest": "eslint .", "test": "npm run only", "only:test": "tape test"}}'


def propose(root: Path, files: dict[str, str], programs: str) -> CheckProposal:
    """The proposal where these programs are installed, those with a `:` in node_modules."""
    for path, text in files.items():
        write(root, path, text)
    names = programs.split()
    put_programs(root / "node_modules" / ".bin", *(name[1:] for name in names if name[0] == ":"))
    write(root, ".gitignore", "node_modules\n")
    folder = put_programs(root.parent / "bin", *(name for name in names if name[0] != ":"))
    return propose_checks(Project.load(root), {"PATH": str(folder)})


@pytest.mark.parametrize(
    ("files", "programs", "expected"),
    [
        ({"pyproject.toml": PYTEST}, "python pytest ruff", "python -m pytest; ruff check"),
        ({"pyproject.toml": PYTEST}, "python3 ruff", "python3 -m pytest; ruff check"),
        ({"pyproject.toml": PYTEST}, "pytest", "pytest"),
        ({"pyproject.toml": PYTEST, "tox.ini": TOX}, "python tox", "python -m pytest"),
        ({"pyproject.toml": PYTEST, "tox.ini": TOX}, "tox ruff", "tox -e py; ruff check"),
        ({"tox.ini": TOX, "tests/test_a.py": PLAIN}, "python", "python -m pytest"),
        (
            {"Makefile": "test:\n\tpytest\nlint:\n\tflake8\n", "tox.ini": TOX},
            "make pytest tox",
            "make test",
        ),
        (
            {"Makefile": "test:\n\tpytest\n", "package.json": '{"scripts": {"test": "jest"}}'},
            "make pytest npm :jest",
            "make test; npm test",
        ),
        ({"package.json": SCRIPTS}, "npm :tape", "npm run only:test"),
        ({"package.json": '{"devDependencies": {"eslint": "9"}}', ".eslintrc": ""}, "npx", ""),
        ({"setup.cfg": LINTERS}, "flake8 mypy", ""),
        ({"setup.cfg": LINTERS, "test_a.py": ""}, "python mypy", "python -m pytest; mypy ."),
        ({"first.py": "", "test_first.py": ""}, "python", "python -m pytest"),
        ({"first.py": "", "tests.py": ""}, "python", "python -m pytest tests.py"),
        ({"src/tests.py": UNIT}, "python", "python -m pytest src/tests.py"),
        ({"pkg/tests/test_a.py": ""}, "python", "python -m pytest"),
        ({"test.js": "require('./a')\n"}, "node", "node test.js"),
        ({"test.js": "describe('a', f)\n"}, "node", ""),
        ({"test/a.js": "import t from 'node:test'\n"}, "node", "node --test"),
        ({"go.mod": "module a\n", "test_a.py": ""}, "python", ""),
        ({"go.mod": "module a\n"}, "go", "go test ./...; go vet ./..."),
    ],
)
def test_what_can_run_is_proposed(
    project: Path, files: dict[str, str], programs: str, expected: str
) -> None:
    assert "; ".join(propose(project, files, programs).commands) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tests.py": UNIT}, "python -m unittest"),
        ({"tests/test_a.py": UNIT}, "python -m unittest discover tests"),
        ({"tests/test_a.py": UNIT, "tests/__init__.py": ""}, "python -m unittest"),
        ({"pyproject.toml": PYTEST, "test_a.py": UNIT}, "python -m unittest"),
        ({"tests/test_a.py": UNIT + PLAIN}, ""),
    ],
)
def test_without_pytest_the_standard_library_tests(
    project: Path, files: dict[str, str], expected: str
) -> None:
    put_programs(project.parent / "bin", "python", script="exit 1")
    assert "; ".join(propose(project, files, "").commands) == expected


@pytest.mark.parametrize(
    ("files", "programs", "said"),
    [
        (
            {"pyproject.toml": PYTEST},
            "ruff",
            "`pytest`, from pyproject.toml, but pytest is not installed; run `pip install pytest`",
        ),
        (
            {"package.json": '{"scripts": {"test": "nyc tape"}}'},
            "npm node :tape",
            "`npm test`, from package.json, but nyc is not installed; run `npm install`",
        ),
        (
            {"tox.ini": TOX},
            "ruff",
            "`tox -e py`, from tox.ini, but tox is not installed; run `pip install tox`",
        ),
        (
            {"Makefile": "test:\n\ttrue\n"},
            "",
            "`make test`, from Makefile, but make is not installed; install make",
        ),
        (
            {"test_a.py": ""},
            "",
            "`python3 -m pytest`, from test_a.py, but python3 is not installed; install python3",
        ),
    ],
)
def test_what_is_missing_is_said(
    project: Path, files: dict[str, str], programs: str, said: str
) -> None:
    proposal = propose(project, files, programs)
    assert proposal.commands == {}
    assert f"{proposal.obstacle}; {proposal.remedy}" == f"the tests are {said}"


def test_linters_alone_are_named(project: Path) -> None:
    proposal = propose(project, {"setup.cfg": LINTERS}, "mypy flake8")
    assert proposal == CheckProposal(obstacle="only linters were found, no tests")


@pytest.mark.parametrize(
    ("extras", "remedy"),
    [
        ("", "run `pip install pytest`"),
        ("[project.optional-dependencies]\ntest = ['pytest']\n", 'run `pip install -e ".[test]"`'),
    ],
)
def test_the_remedy_installs_what_is_missing(project: Path, extras: str, remedy: str) -> None:
    put_programs(project.parent / "bin", "python", script="exit 1")
    manifest = f"{PYTEST}[build-system]\nrequires = []\n{extras}"
    assert propose(project, {"pyproject.toml": manifest}, "").remedy == remedy


def test_the_remedy_activates_an_environment_that_has_it(project: Path) -> None:
    put_programs(project / ".venv" / "bin", "pytest")
    proposal = propose(project, {"pyproject.toml": PYTEST}, "")
    assert proposal.remedy == "run `. .venv/bin/activate`"
