"""Files of Python's tools: tox.ini, noxfile.py, pre-commit hooks, and one file for each tool.

The tools of Python projects: how they are called, and what one types for them.

tox: its environments as commands, from tox.ini, setup.cfg or pyproject.toml.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cub.repomap.stack.command_purposes import (
    build_target_commands,
    detect_command_purpose,
    detect_target_purpose,
)
from cub.repomap.stack.facts import (
    CommandPurpose,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    Technology,
    combine_facts,
)
from cub.repomap.stack.formats import parse_ini, parse_toml
from cub.repomap.stack.manifest_paths import exists_above, find_beside
from cub.repomap.stack.yaml_reader import read_yaml_scalars


def list_configured_tools(manifest: Manifest, sections: dict[str, dict[str, str]]) -> ManifestFacts:
    """The tools with a section in setup.cfg, tox.ini or a file of their own."""
    names = [name.removeprefix("tool:").partition(":")[0] for name in sections]
    has_files = "files" in sections.get("mypy", {}) or "packages" in sections.get("mypy", {})
    instead = {"mypy": "mypy"} if has_files else {}
    return list_tools(manifest, names, run_prefix=detect_run_prefix(manifest), overrides=instead)


MAX_PYTHON_CHARS = 200_000


def parse_python(text: str) -> ast.Module:
    """The syntax tree of a text; SyntaxError for what is no Python."""
    if len(text) > MAX_PYTHON_CHARS:
        raise ValueError(f"this has more than {MAX_PYTHON_CHARS:,} characters")
    with warnings.catch_warnings():  # about the text's own escapes
        warnings.simplefilter("ignore")
        return ast.parse(text)


def get_last_name(node: ast.expr) -> str:
    """The last part of a dotted name: `setup` of `setuptools.setup`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def evaluate_literal(node: ast.expr) -> Any:
    """The value of a literal; None for anything else."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


# By the name of a tool's table, package or hook.
_TOOLS: dict[str, tuple[str, tuple[tuple[CommandPurpose, str], ...]]] = {
    "pytest": ("pytest", (("test", "pytest"),)),
    "ruff": ("Ruff", (("lint", "ruff check"),)),
    "ruff-format": ("Ruff", (("format", "ruff format"),)),
    "black": ("Black", (("format", "black ."),)),
    "isort": ("isort", (("format", "isort ."),)),
    "yapf": ("YAPF", ()),
    "flake8": ("Flake8", (("lint", "flake8"),)),
    "pylint": ("Pylint", ()),
    "mypy": ("mypy", (("typecheck", "mypy ."),)),
    "pyright": ("Pyright", (("typecheck", "pyright"),)),
    "basedpyright": ("basedpyright", (("typecheck", "basedpyright"),)),
    "ty": ("ty", (("typecheck", "ty check"),)),
    "pyrefly": ("Pyrefly", (("typecheck", "pyrefly check"),)),
    "coverage": ("Coverage.py", ()),
    "bandit": ("Bandit", ()),
    "tox": ("tox", ()),
    "nox": ("nox", ()),
    "pre-commit": ("pre-commit", ()),
    "hypothesis": ("Hypothesis", ()),
    "cibuildwheel": ("cibuildwheel", ()),
    "towncrier": ("towncrier", ()),
    "commitizen": ("Commitizen", ()),
    "importlinter": ("import-linter", (("lint", "lint-imports"),)),
}
NO_OVERRIDES: Mapping[str, str] = MappingProxyType({})
_LOCKS = (
    ("uv.lock", "uv run "),
    ("poetry.lock", "poetry run "),
    ("pdm.lock", "pdm run "),
    ("pixi.lock", "pixi run "),
    ("Pipfile", "pipenv run "),
)


def detect_run_prefix(manifest: Manifest) -> str:
    """What stands in front of a tool's name, by the lock file beside the manifest or above it."""
    for name, typed in _LOCKS:
        if find_beside(manifest, name) or (name == "uv.lock" and exists_above(manifest, name)):
            return typed
    return ""


def list_tools(
    manifest: Manifest,
    names: Iterable[str],
    *,
    run_prefix: str = "",
    overrides: Mapping[str, str] = NO_OVERRIDES,
    without_commands: bool = False,
) -> ManifestFacts:
    """The tools that are configured under these names, each once; others are none of ours.

    `run_prefix` stands in front of what one types. `overrides` has other words for a tool. With
    `without_commands`, the tools are there, but nothing says that one runs them.
    """
    known = [name for name in dict.fromkeys(names) if name in _TOOLS]
    commands = [
        ProjectCommand(
            purpose, run_prefix + overrides.get(name, text), manifest.path, manifest.folder
        )
        for name in known
        for purpose, text in _TOOLS[name][1]
    ]
    found = dict.fromkeys(Technology(_TOOLS[name][0], "tool", "", manifest.path) for name in known)
    return ManifestFacts(tuple(found), () if without_commands else tuple(commands))


# Environments for one version of Python each: `py` stands for the one that tox runs on.
_PYTHON = re.compile(r"(?:py|pypy|python)[\d.]*(?:-.*)?|\d[\d.]*")
_MOST_ENVIRONMENTS = 200


def list_tox_ini_commands(
    manifest: Manifest, text: str, run_prefix: str
) -> tuple[ProjectCommand, ...]:
    """The commands for the environments of a tox.ini."""
    found = parse_ini(text)
    listed = found.get("tox", {})
    names = split_environments(listed.get("envlist", "") or listed.get("env_list", ""))
    envs = {
        name.removeprefix("testenv:"): section.get("commands", "")
        for name, section in found.items()
        if name.startswith("testenv:")
    }
    return list_tox_commands(
        manifest, names, envs, found.get("testenv", {}).get("commands", ""), run_prefix
    )


def list_tox_commands(
    manifest: Manifest,
    environments: Sequence[str],
    envs: Mapping[str, str],
    base: str,
    run_prefix: str,
) -> tuple[ProjectCommand, ...]:
    """The commands for environments: those listed, those with settings, and the plain one.

    `base` is what an environment runs that says nothing itself.
    """
    named = dict.fromkeys(environments, "") | dict(envs)
    for name in [name for name in named if "{" in name or _PYTHON.fullmatch(name)]:
        del named[name]
    plain = []
    if detect_command_purpose(base) == "test" and not {"test", "tests"}.intersection(named):
        plain = [
            ProjectCommand(
                "test", f"{run_prefix}tox -e py", manifest.path, manifest.folder, "target"
            )
        ]
        # Environments of other names for tests are variants of the plain one.
        named = {n: line for n, line in named.items() if detect_target_purpose(n, line) != "test"}
    return (
        *plain,
        *build_target_commands(manifest, named, lambda name: f"{run_prefix}tox -e {name}"),
    )


def split_environments(text: str) -> list[str]:
    """The environments of a list: `py{310,311}-x, lint` without what is in braces expanded."""
    parts = re.split(r",(?![^{}]*\})|\s+", text[:4000])
    return [part for part in parts if part][:_MOST_ENVIRONMENTS]


# Hooks of pre-commit by their ids: those of Python's tools with another name, and other tools.
_HOOKS = {"ruff-check": "ruff", "black-jupyter": "black", "pyright-python": "pyright"}
_NAMED = {
    "eslint": "ESLint", "prettier": "Prettier", "biome-check": "Biome", "shellcheck": "ShellCheck",
    "codespell": "codespell", "golangci-lint": "golangci-lint", "rubocop": "RuboCop",
    "clang-format": "clang-format", "hadolint": "hadolint", "terraform_fmt": "terraform fmt",
    "pyupgrade": "pyupgrade", "yamllint": "yamllint", "markdownlint": "markdownlint",
    "typos": "typos", "stylelint": "Stylelint", "actionlint": "actionlint", "zizmor": "zizmor",
}  # fmt: skip


def _tox(manifest: Manifest) -> ManifestFacts:
    found = parse_ini(manifest.text)
    environments = any(name == "tox" or name.startswith("testenv") for name in found)
    own = ManifestFacts(
        (Technology("tox", "tool", "", manifest.path),) if environments else (),
        list_tox_ini_commands(manifest, manifest.text, detect_run_prefix(manifest)),
    )
    return combine_facts(
        own, list_configured_tools(manifest, {k: v for k, v in found.items() if k != "tox"})
    )


def _nox(manifest: Manifest) -> ManifestFacts:
    sessions = dict.fromkeys(_sessions(parse_python(manifest.text)), "")
    return ManifestFacts(
        (Technology("nox", "tool", "", manifest.path),),
        build_target_commands(
            manifest, sessions, lambda name: f"{detect_run_prefix(manifest)}nox -s {name}"
        ),
    )


def _sessions(tree: ast.Module) -> Iterator[str]:
    """The names of the functions that are decorated as sessions."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                call = decorator if isinstance(decorator, ast.Call) else None
                if get_last_name(call.func if call else decorator) == "session":
                    yield _given(call) or node.name


def _given(call: ast.Call | None) -> str:
    names = (
        [evaluate_literal(word.value) for word in call.keywords if word.arg == "name"]
        if call
        else []
    )
    return next((name for name in names if isinstance(name, str)), "")


def _pre_commit(manifest: Manifest) -> ManifestFacts:
    hooks = [one.value for one in read_yaml_scalars(manifest.text) if one.keys[-1:] == ("id",)]
    known = (_NAMED[hook] for hook in hooks if hook in _NAMED)
    named = [Technology(name, "tool", "", manifest.path) for name in dict.fromkeys(known)]
    run = ProjectCommand("lint", "pre-commit run --all-files", manifest.path, manifest.folder)
    return combine_facts(
        ManifestFacts((Technology("pre-commit", "tool", "", manifest.path),), (run,)),
        list_tools(manifest, (_HOOKS.get(hook, hook) for hook in hooks), without_commands=True),
        list_tools(
            manifest, {"ruff-format"}.intersection(hooks), run_prefix=detect_run_prefix(manifest)
        ),
        ManifestFacts(tuple(named)),
    )


def _ini(manifest: Manifest) -> ManifestFacts:
    return list_configured_tools(manifest, parse_ini(manifest.text))


def _ruff(manifest: Manifest) -> ManifestFacts:
    names = ["ruff", "ruff-format"] if "format" in parse_toml(manifest.text) else ["ruff"]
    return list_tools(manifest, names, run_prefix=detect_run_prefix(manifest))


def _by_name(tool: str, *names: str) -> ManifestReader:
    """A reader of files whose name says everything."""
    return ManifestReader(
        names, lambda manifest: list_tools(manifest, [tool], run_prefix=detect_run_prefix(manifest))
    )


READERS = (
    ManifestReader(("tox.ini",), _tox),
    ManifestReader(("noxfile.py",), _nox),
    _by_name("pytest", "pytest.ini", ".pytest.ini", "pytest.toml"),
    ManifestReader(("mypy.ini", ".mypy.ini"), _ini),
    ManifestReader(("ruff.toml", ".ruff.toml"), _ruff),
    _by_name("flake8", ".flake8"),
    _by_name("pylint", ".pylintrc", "pylintrc"),
    _by_name("isort", ".isort.cfg"),
    _by_name("pyright", "pyrightconfig.json"),
    _by_name("ty", "ty.toml"),
    _by_name("coverage", ".coveragerc"),
    ManifestReader((".pre-commit-config.yaml",), _pre_commit),
)
