"""The tools of Python projects: how they are called, and what one types for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from cub.repomap.stack.around import above, beside
from cub.repomap.stack.facts import Command, Facts, Manifest, Purpose, Technology

# By the name of a tool's table, package or hook.
_TOOLS: dict[str, tuple[str, tuple[tuple[Purpose, str], ...]]] = {
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
NOTHING: Mapping[str, str] = MappingProxyType({})
_LOCKS = (
    ("uv.lock", "uv run "),
    ("poetry.lock", "poetry run "),
    ("pdm.lock", "pdm run "),
    ("pixi.lock", "pixi run "),
    ("Pipfile", "pipenv run "),
)


def runner(manifest: Manifest) -> str:
    """What stands in front of a tool's name, by the lock file beside the manifest or above it."""
    for name, typed in _LOCKS:
        if beside(manifest, name) or (name == "uv.lock" and above(manifest, name)):
            return typed
    return ""


def tools(
    manifest: Manifest,
    names: Iterable[str],
    *,
    typed: str = "",
    instead: Mapping[str, str] = NOTHING,
    quiet: bool = False,
) -> Facts:
    """The tools that are configured under these names, each once; others are none of ours.

    `typed` stands in front of what one types. `instead` has other words for a tool. With `quiet`,
    the tools are there, but nothing says that one runs them.
    """
    known = [name for name in dict.fromkeys(names) if name in _TOOLS]
    commands = [
        Command(purpose, typed + instead.get(name, text), manifest.path, manifest.folder)
        for name in known
        for purpose, text in _TOOLS[name][1]
    ]
    found = dict.fromkeys(Technology(_TOOLS[name][0], "tool", "", manifest.path) for name in known)
    return Facts(tuple(found), () if quiet else tuple(commands))
