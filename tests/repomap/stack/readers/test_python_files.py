from __future__ import annotations

import pytest

from tests.repomap.stack.projects import Files, commands, names, stack_of

SETUP_PY = '''
"""Builds it."""
import os
from setuptools import setup, find_packages
version = os.environ["VERSION"]
needs = ["flask>=2", "x"]
setup(
    name="acme", version=version, description="Makes it.", python_requires=">=3.8",
    install_requires=needs, packages=find_packages(),
    entry_points={"console_scripts": ["acme = acme.cli:main"]},
)
'''
SETUP_CFG = """
[metadata]
name = acme
description = Makes it.
[options]
python_requires = >=3.9
install_requires =
    flask>=3
    # a comment
    click
[options.entry_points]
console_scripts =
    acme = acme.cli:main
[tool:pytest]
testpaths = tests
[mypy-other.*]
ignore = true
[flake8]
max-line-length = 100
"""
TOX = """
[tox]
envlist = py{310,311}-{a,b}, lint
    docs
[testenv]
commands = pytest {posargs}
[testenv:typing]
commands = mypy src
[pytest]
addopts = -q
"""
NOXFILE = """
import nox

@nox.session(python=["3.11", "3.12"])
def tests(session):
    session.run("pytest")

@nox.session(name="check-types")
def mypy(session): ...

@session
def lint(session): ...

def helper(): ...

@nox.parametrize("a", [1])
def build(session): ...
"""
HOOKS = """
repos:
- repo: https://github.com/astral-sh/ruff-pre-commit
  rev: v1
  hooks:
    - id: ruff-check
    - id: ruff-format
- repo: x
  hooks:
    - id: mypy
    - id: unheard-of
- repo: local
  hooks:
    - {id: eslint, language: system}
"""
COMMANDS: dict[str, tuple[Files, dict[str, list[str]]]] = {
    "setup.py": ({"setup.py": SETUP_PY}, {"install": ["pip install -e ."]}),
    "setup.cfg": (
        {"setup.cfg": SETUP_CFG},
        {"install": ["pip install -e ."], "test": ["pytest"], "lint": ["flake8"]},
    ),
    "tox.ini": (
        {"tox.ini": TOX},
        {"test": ["tox -e py", "pytest"], "lint": ["tox -e lint"], "typecheck": ["tox -e typing"]},
    ),
    "noxfile.py": (
        {"noxfile.py": NOXFILE},
        {"test": ["nox -s tests"], "lint": ["nox -s lint"], "typecheck": ["nox -s check-types"]},
    ),
    "pre-commit": (
        {".pre-commit-config.yaml": HOOKS},
        {"lint": ["pre-commit run --all-files"], "format": ["ruff format"]},
    ),
    "requirements": (
        {
            "requirements.txt": "flask==2\n",
            "requirements-dev.txt": "-r requirements.txt\npytest\n",
        },
        {
            "install": ["pip install -r requirements-dev.txt", "pip install -r requirements.txt"],
            "test": ["pytest"],
        },
    ),
    "a folder of requirements": (
        {"requirements/base.txt": "flask\n"},
        {"install": ["pip install -r requirements/base.txt"]},
    ),
    "Pipfile": (
        {
            "Pipfile": "[packages]\nflask = '*'\n[dev-packages]\npytest = '*'\n"
            "[requires]\npython_version = '3.12'\n"
        },
        {"install": ["pipenv install --dev"], "test": ["pipenv run pytest"]},
    ),
    "environment.yml": (
        {"environment.yml": "name: x\ndependencies:\n  - python=3.12\n"},
        {"install": ["conda env create -f environment.yml"]},
    ),
    "manage.py": (
        {"manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'x')\n", "poetry.lock": ""},
        {
            "test": ["poetry run python manage.py test"],
            "run": ["poetry run python manage.py runserver"],
        },
    ),
    "another manage.py": ({"manage.py": "print('hello')\n"}, {}),
    "one file for each tool": (
        {
            "pytest.ini": "[pytest]\n",
            "mypy.ini": "[mypy]\nfiles = x\n",
            "ruff.toml": "[format]\n",
            ".flake8": "[flake8]\n",
            "pyrightconfig.json": "{}",
            ".isort.cfg": "",
        },
        {
            "test": ["pytest"],
            "lint": ["ruff check", "flake8"],
            "format": ["ruff format", "isort ."],
            "typecheck": ["mypy", "pyright"],
        },
    ),
}


@pytest.mark.parametrize(("files", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_the_commands_are_those_that_one_would_type(
    files: Files, expected: dict[str, list[str]]
) -> None:
    assert commands(stack_of(files)) == expected


TECHNOLOGIES: dict[str, tuple[Files, list[str]]] = {
    "setup.py": ({"setup.py": SETUP_PY}, ["Python >=3.8", "Flask >=2"]),
    "setup.cfg": (
        {"setup.cfg": SETUP_CFG},
        ["Python >=3.9", "Flask >=3", "Click", "pytest", "Flake8"],
    ),
    "hooks": (
        {".pre-commit-config.yaml": HOOKS},
        ["pre-commit", "Ruff", "mypy", "ESLint"],
    ),
    "requirements": (
        {
            "requirements.txt": "Django == 5.0 --hash=sha256:0 # c\n-e git+https://x#egg=flask\n"
            "fastapi @ https://x\n./local\n\n# sanic\ngunicorn>=20 \\\n"
        },
        ["Python", "Django == 5.0", "FastAPI", "Gunicorn >=20"],
    ),
    "requirements of developers": (
        {"requirements.txt": "-e .[all]\nflask\nmypy\n", "docs-requirements.txt": "django\ntox\n"},
        ["Python", "tox", "mypy"],
    ),
    "Pipfile": (
        {"Pipfile": "[packages]\nFlask = {version = '~=2.0', extras = ['x']}\nclick = '*'\n"},
        ["Python", "Flask ~=2.0", "Click", "Pipenv"],
    ),
    "environment.yml": (
        {
            "environment.yml": "dependencies:\n  - python>=3.10\n  - numpy=1.26\n  - pip:\n"
            "    - torch==2.1\n    - pytest\n"
        },
        ["Python >=3.10", "NumPy ==1.26", "PyTorch ==2.1", "conda", "pytest"],
    ),
    "environment.yml of a project": (
        {"environment.yml": "dependencies: [python, numpy, ruff]\n", "setup.py": "setup()\n"},
        ["Python", "conda", "Ruff"],
    ),
    ".python-version": ({".python-version": "3.12.1\n3.11\n"}, ["Python 3.12.1"]),
    ".python-version of another kind": ({".python-version": "$(evil)\n"}, ["Python"]),
}


@pytest.mark.parametrize(("files", "expected"), TECHNOLOGIES.values(), ids=TECHNOLOGIES)
def test_the_technologies_are_those_that_matter(files: Files, expected: list[str]) -> None:
    assert names(stack_of(files)) == expected


@pytest.mark.parametrize("name", ["setup.py", "setup.cfg"])
def test_programs_and_the_package_come_from_setup(name: str) -> None:
    text = SETUP_PY if name == "setup.py" else SETUP_CFG
    stack = stack_of({name: text})
    assert [(one.name, one.target) for one in stack.entry_points] == [("acme", "acme.cli:main")]
    assert [(one.name, one.description) for one in stack.packages] == [("acme", "Makes it.")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("pyproject.toml", "[a]\nb = \n", "line 2: this is not TOML: Invalid value"),
        ("pyproject.toml", "a = [", "this is not TOML: Invalid value"),
        ("pyproject.toml", "a." * 200 + "b = 1\n", "a key has a hundred or more parts"),
        ("pyproject.toml", "a = " + "[" * 100_000, "too deeply nested"),
        ("setup.py", "setup(\nname='a\n", "line 2: unterminated string literal"),
        ("setup.py", "(" * 5_000, "too many nested parentheses"),
        ("setup.py", "-" * 100_000 + "1", "too deeply nested"),
        ("setup.py", "x" * 300_000, "this has more than 200,000 characters"),
        ("setup.cfg", "a = b\n", "line 1: this line is outside of any section"),
        ("setup.cfg", "[a]\nb\n= c\n", "line 3: not a valid option"),
        ("Pipfile", "[[a]]\n[a]\n", "line 2: this is not TOML"),
        ("ruff.toml", "]", "line 1: this is not TOML"),
    ],
)
def test_a_broken_file_costs_itself_and_a_note(name: str, text: str, message: str) -> None:
    stack = stack_of({name: text, ".python-version": "3.12"})
    assert [note.path for note in stack.omissions] == [name]
    assert message in stack.omissions[0].message
    assert names(stack) == ["Python 3.12"]


def test_setup_py_is_never_run() -> None:
    text = "raise SystemExit\nsetup(name=print('x'), description='y'.upper())\n"
    stack = stack_of({"setup.py": text})
    assert (stack.omissions, stack.packages) == ((), ())
