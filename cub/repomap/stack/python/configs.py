"""Files of Python's tools: tox.ini, noxfile.py, pre-commit hooks, and one file for each tool."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from cub.repomap.stack.commands.targets import commands_of
from cub.repomap.stack.facts import Command, Facts, Manifest, Reader, Technology
from cub.repomap.stack.formats.ini import sections
from cub.repomap.stack.formats.trees import toml_tree
from cub.repomap.stack.formats.yaml_lines import entries
from cub.repomap.stack.merging import joined
from cub.repomap.stack.python.setup import configured
from cub.repomap.stack.python.setup_py import literal, name_of, parsed
from cub.repomap.stack.python.tools import runner, tools
from cub.repomap.stack.python.tox import tox_ini

# Hooks of pre-commit by their ids: those of Python's tools with another name, and other tools.
_HOOKS = {"ruff-check": "ruff", "black-jupyter": "black", "pyright-python": "pyright"}
_NAMED = {
    "eslint": "ESLint", "prettier": "Prettier", "biome-check": "Biome", "shellcheck": "ShellCheck",
    "codespell": "codespell", "golangci-lint": "golangci-lint", "rubocop": "RuboCop",
    "clang-format": "clang-format", "hadolint": "hadolint", "terraform_fmt": "terraform fmt",
    "pyupgrade": "pyupgrade", "yamllint": "yamllint", "markdownlint": "markdownlint",
    "typos": "typos", "stylelint": "Stylelint", "actionlint": "actionlint", "zizmor": "zizmor",
}  # fmt: skip


def _tox(manifest: Manifest) -> Facts:
    found = sections(manifest.text)
    environments = any(name == "tox" or name.startswith("testenv") for name in found)
    own = Facts(
        (Technology("tox", "tool", "", manifest.path),) if environments else (),
        tox_ini(manifest, manifest.text, runner(manifest)),
    )
    return joined(own, configured(manifest, {k: v for k, v in found.items() if k != "tox"}))


def _nox(manifest: Manifest) -> Facts:
    sessions = dict.fromkeys(_sessions(parsed(manifest.text)), "")
    return Facts(
        (Technology("nox", "tool", "", manifest.path),),
        commands_of(manifest, sessions, lambda name: f"{runner(manifest)}nox -s {name}"),
    )


def _sessions(tree: ast.Module) -> Iterator[str]:
    """The names of the functions that are decorated as sessions."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                call = decorator if isinstance(decorator, ast.Call) else None
                if name_of(call.func if call else decorator) == "session":
                    yield _given(call) or node.name


def _given(call: ast.Call | None) -> str:
    names = [literal(word.value) for word in call.keywords if word.arg == "name"] if call else []
    return next((name for name in names if isinstance(name, str)), "")


def _pre_commit(manifest: Manifest) -> Facts:
    hooks = [one.value for one in entries(manifest.text) if one.keys[-1:] == ("id",)]
    known = (_NAMED[hook] for hook in hooks if hook in _NAMED)
    named = [Technology(name, "tool", "", manifest.path) for name in dict.fromkeys(known)]
    run = Command("lint", "pre-commit run --all-files", manifest.path, manifest.folder)
    return joined(
        Facts((Technology("pre-commit", "tool", "", manifest.path),), (run,)),
        tools(manifest, (_HOOKS.get(hook, hook) for hook in hooks), quiet=True),
        tools(manifest, {"ruff-format"}.intersection(hooks), typed=runner(manifest)),
        Facts(tuple(named)),
    )


def _ini(manifest: Manifest) -> Facts:
    return configured(manifest, sections(manifest.text))


def _ruff(manifest: Manifest) -> Facts:
    names = ["ruff", "ruff-format"] if "format" in toml_tree(manifest.text) else ["ruff"]
    return tools(manifest, names, typed=runner(manifest))


def _by_name(tool: str, *names: str) -> Reader:
    """A reader of files whose name says everything."""
    return Reader(names, lambda manifest: tools(manifest, [tool], typed=runner(manifest)))


READERS = (
    Reader(("tox.ini",), _tox),
    Reader(("noxfile.py",), _nox),
    _by_name("pytest", "pytest.ini", ".pytest.ini", "pytest.toml"),
    Reader(("mypy.ini", ".mypy.ini"), _ini),
    Reader(("ruff.toml", ".ruff.toml"), _ruff),
    _by_name("flake8", ".flake8"),
    _by_name("pylint", ".pylintrc", "pylintrc"),
    _by_name("isort", ".isort.cfg"),
    _by_name("pyright", "pyrightconfig.json"),
    _by_name("ty", "ty.toml"),
    _by_name("coverage", ".coveragerc"),
    Reader((".pre-commit-config.yaml",), _pre_commit),
)
