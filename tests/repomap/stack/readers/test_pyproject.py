from __future__ import annotations

import pytest

from tests.repomap.stack.projects import Files, commands, names, stack_of

PROJECT = '[project]\nname = "acme"\ndescription = "Makes it."\nrequires-python = ">=3.11"\n'
BUILD = '[build-system]\nbuild-backend = "hatchling.build"\n'

COMMANDS: dict[str, tuple[Files, dict[str, list[str]]]] = {
    "plain": (
        {"pyproject.toml": PROJECT + BUILD},
        {"install": ["pip install -e ."], "build": ["python -m build"]},
    ),
    "extras and groups for developers": (
        {
            "pyproject.toml": PROJECT
            + "[project.optional-dependencies]\ndocs = []\ndev = ['pytest']\n"
            "[dependency-groups]\ndev = ['ruff']\n" + BUILD
        },
        {
            "install": ['pip install -e ".[dev]" --group dev'],
            "build": ["python -m build"],
            "test": ["pytest"],
        },
    ),
    "uv, by its lock": (
        {"pyproject.toml": PROJECT + "[tool.pytest.ini_options]\n[tool.ruff]\n", "uv.lock": ""},
        {"install": ["uv sync"], "test": ["uv run pytest"], "lint": ["uv run ruff check"]},
    ),
    "poetry, by its table": (
        {
            "pyproject.toml": "[tool.poetry]\nname = 'a'\n"
            "[tool.poetry.dependencies]\npython = '^3.12'\n"
            "[tool.poetry.group.dev.dependencies]\npytest = '*'\n[tool.mypy]\nfiles = ['a']\n"
            "[build-system]\nbuild-backend = 'poetry.core.masonry.api'\n"
        },
        {
            "install": ["poetry install"],
            "build": ["poetry build"],
            "test": ["poetry run pytest"],
            "typecheck": ["poetry run mypy"],
        },
    ),
    "an application of poetry's": (
        {"pyproject.toml": "[tool.poetry]\npackage-mode = false\n[build-system]\n"},
        {"install": ["poetry install"]},
    ),
    "pdm with scripts": (
        {
            "pyproject.toml": PROJECT
            + "[tool.pdm.scripts]\nlint = 'ruff check'\n_.env_file = 'x'\n"
            "all = {composite = ['lint', 'pytest']}\ntest.cmd = 'pytest'\n"
        },
        {
            "install": ["pdm install"],
            "test": ["pdm run test", "pdm run all"],
            "lint": ["pdm run lint"],
        },
    ),
    "hatch with scripts": (
        {
            "pyproject.toml": PROJECT
            + BUILD
            + "[tool.hatch.envs.default.scripts]\ntest = 'pytest {args}'\n"
            "[tool.hatch.envs.types.scripts]\ncheck = 'mypy .'\n"
            "[tool.hatch.envs.docs.scripts]\nbuild = 'mkdocs build'\n"
        },
        {
            "install": ["pip install -e ."],
            "build": ["hatch build"],
            "test": ["hatch run test"],
            "typecheck": ["hatch run types:check"],
        },
    ),
    "poe under uv": (
        {
            "pyproject.toml": PROJECT + "[tool.uv]\n[tool.poe.tasks]\nfmt = 'ruff format'\n"
            "serve.shell = 'flask run'\ncheck = {sequence = ['lint', 'mypy .']}\n"
        },
        {
            "install": ["uv sync"],
            "format": ["uv run poe fmt"],
            "typecheck": ["uv run poe check"],
            "run": ["uv run poe serve"],
        },
    ),
    "tox, as TOML and as INI": (
        {
            "pyproject.toml": "[tool.tox]\nenv_list = ['py3.12', 'lint', 'docs']\n"
            "[tool.tox.env_run_base]\ncommands = [['pytest', '{posargs}']]\n"
            "[tool.tox.env.tests-min]\n[tool.tox.env.types]\ncommands = [['mypy']]\n",
            "sub/pyproject.toml": "[tool.tox]\n"
            "legacy_tox_ini = '[testenv:tests]\\ncommands = pytest'\n",
        },
        {"test": ["tox -e py"], "lint": ["tox -e lint"], "typecheck": ["tox -e types"]},
    ),
    "the place of the code": (
        {"pyproject.toml": PROJECT + "[tool.mypy]\nstrict = true\n", "src/acme/__init__.py": ""},
        {"typecheck": ["mypy src"]},
    ),
    "ruff formats only where it says so": (
        {"pyproject.toml": "[tool.ruff.format]\n[tool.black]\n[tool.isort]\n"},
        {"lint": ["ruff check"], "format": ["black .", "isort .", "ruff format"]},
    ),
    "names that a shell takes apart": (
        {"pyproject.toml": '[tool.poe.tasks]\n"test; rm -rf ~" = "pytest"\n"-test" = "x"\n'},
        {},
    ),
}


@pytest.mark.parametrize(("files", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_the_commands_are_those_that_one_would_type(
    files: Files, expected: dict[str, list[str]]
) -> None:
    assert commands(stack_of(files)) == expected


def test_frameworks_come_from_what_a_program_needs_and_tools_from_everywhere() -> None:
    text = (
        PROJECT
        + 'dependencies = ["Django[argon2] >=5,<6 ; python_version>\'3\'", "left-pad", "click"]\n'
        "[project.optional-dependencies]\nx = ['flask', 'tox']\n"
        "[dependency-groups]\ntest = ['pytest>=8', {include-group = 'x'}]\n" + BUILD
    )
    stack = stack_of({"pyproject.toml": text})
    assert names(stack) == [
        "Python >=3.11",
        "Django >=5,<6",
        "Click",
        "Hatchling",
        "pytest",
        "tox",
    ]


def test_programs_are_entry_points() -> None:
    text = (
        "[project.scripts]\nacme = 'acme.cli:main [extra]'\n"
        "[project.gui-scripts]\nwin = 'acme:win'\n"
        "[tool.poetry.scripts]\nold = {reference = 'acme.old:run', type = 'console'}\nbad = 3\n"
    )
    stack = stack_of({"pyproject.toml": text})
    assert [(one.name, one.target) for one in stack.entry_points] == [
        ("acme", "acme.cli:main"),
        ("win", "acme:win"),
        ("old", "acme.old:run"),
    ]


def test_the_members_of_a_workspace_are_packages() -> None:
    files = {
        "pyproject.toml": PROJECT + "[tool.uv.workspace]\nmembers = ['libs/*']\n",
        "libs/one/pyproject.toml": "[project]\nname = 'one'\n[tool.pytest.ini_options]\n",
        "libs/two/pyproject.toml": "[project]\nname = 'two'\ndescription = '''Two\n lines'''\n",
        "apart/pyproject.toml": "[project]\nname = 'apart'\n[tool.ruff]\n",
        "uv.lock": "",
    }
    stack = stack_of(files)
    assert [(one.folder, one.name, one.description) for one in stack.packages] == [
        ("", "acme", "Makes it."),
        ("apart", "apart", ""),
        ("libs/one", "one", ""),
        ("libs/two", "two", "Two lines"),
    ]
    # The root has no tests of its own, and `apart` is no member.
    assert commands(stack) == {"install": ["uv sync"], "test": ["libs/one: uv run pytest"]}


@pytest.mark.parametrize(
    "text",
    [
        "project = 1\ntool = 2\n",
        "[project]\nname = 1\nscripts = []\ndependencies = {a = 1}\n",
        "[tool]\npoetry = 1\nuv = []\nruff = 'x'\nhatch.envs = 1\npoe.tasks = [1]\ntox = 1\n",
        "[tool.poetry]\ndependencies = []\ngroup = 3\n[tool.hatch.envs]\na = 1\nb.scripts = 2\n",
        "[tool.tox]\nenv_list = 1\nenv = {a = 1, b = {commands = 1}, c = {commands = [1, [1]]}}\n",
        "[tool.poetry.group]\na = 1\nb.dependencies = 1\n[tool.poetry.dependencies]\nx = [1]\n",
        "[dependency-groups]\na = 1\nb = [1, {include-group = 1}]\n",
        "[project.optional-dependencies]\nc = 1\n[tool]\nmypy = 1\nisort = 1\n",
        "[build-system]\nbuild-backend = 1\n[tool.pdm]\nscripts = 1\n[tool.uv]\nworkspace = 1\n",
    ],
)
def test_values_of_other_kinds_are_passed_over(text: str) -> None:
    assert stack_of({"pyproject.toml": text}).omissions == ()
