"""Read the files of Python's tools: tox.ini, noxfile.py, pre-commit hooks, and mypy's and ruff's.

`tools.toml` says what to type for a tool.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cub.repomap.data import load_table
from cub.repomap.stack.command_purposes import (
    build_target_commands,
    detect_command_purpose,
    detect_target_purpose,
)
from cub.repomap.stack.facts import Fact, ProjectCommand, iter_row_commands
from cub.repomap.stack.formats import as_texts, parse_ini, parse_toml
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.yaml_reader import read_yaml_scalars

MAX_PYTHON_CHARS = 200_000
_MAX_ENVIRONMENTS = 200
_MAX_LIST_CHARS = 4000
_NO_OVERRIDES: Mapping[str, str] = MappingProxyType({})
# Environments for one version of Python each: `py` is the one that tox runs on.
_PYTHON = re.compile(r"(?:py|pypy|python)[\d.]*(?:-.*)?|\d[\d.]*")


def read_tox_ini(manifest: Manifest) -> Iterator[Fact]:
    """Read the environments of tox, and the sections of other tools."""
    sections = parse_ini(manifest.text)
    if any(name == "tox" or name.startswith("testenv") for name in sections):
        yield manifest.make_technology("tox", "tool")
    yield from list_tox_ini_commands(manifest, manifest.text, manifest.python_prefix)
    others = {name: section for name, section in sections.items() if name != "tox"}
    yield from list_configured_tools(manifest, others)


def read_mypy_ini(manifest: Manifest) -> Iterator[Fact]:
    """Read mypy's own file, which may have sections of other tools."""
    return list_configured_tools(manifest, parse_ini(manifest.text))


def read_ruff_toml(manifest: Manifest) -> Iterator[Fact]:
    """Read ruff's own file: ruff is taken to format if that is configured."""
    names = ["ruff", "ruff-format"] if "format" in parse_toml(manifest.text) else ["ruff"]
    return list_tools(manifest, names)


def read_noxfile(manifest: Manifest) -> Iterator[Fact]:
    """Read the sessions of a noxfile.py, which is not run."""
    sessions = dict.fromkeys(_iter_sessions(parse_python(manifest.text)), "")
    nox = f"{manifest.python_prefix}nox"
    yield from build_target_commands(manifest, sessions, lambda name: f"{nox} -s {name}")


def _iter_sessions(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the functions that are decorated as sessions."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                call = decorator if isinstance(decorator, ast.Call) else None
                if get_last_name(call.func if call else decorator) == "session":
                    keywords = call.keywords if call else []
                    values = [evaluate_literal(one.value) for one in keywords if one.arg == "name"]
                    yield next(filter(None, as_texts(values)), node.name)


def read_pre_commit_config(manifest: Manifest) -> Iterator[Fact]:
    """Read the hooks of pre-commit: those of known tools."""
    rows = load_table("tools")["pre_commit"]
    scalars = read_yaml_scalars(manifest.text)
    hooks = [scalar.value for scalar in scalars if scalar.keys[-1:] == ("id",)]
    tools = [rows.get(hook, {}).get("tool", hook) for hook in hooks]
    yield from list_tools(manifest, tools, without_commands=True)
    if "ruff-format" in hooks:
        yield from list_tools(manifest, ["ruff-format"])
    for row in (rows[hook] for hook in hooks if hook in rows):
        yield manifest.make_technology(row.get("name", ""), "tool")


def list_configured_tools(
    manifest: Manifest, sections: dict[str, dict[str, str]]
) -> Iterator[Fact]:
    """Return the tools with a section in setup.cfg, tox.ini or a file of their own."""
    names = [name.removeprefix("tool:").partition(":")[0] for name in sections]
    mypy = sections.get("mypy", {})
    overrides = {"mypy": "mypy"} if "files" in mypy or "packages" in mypy else {}
    return list_tools(manifest, names, overrides=overrides)


def list_tools(
    manifest: Manifest,
    names: Iterable[str],
    *,
    prefix: str | None = None,
    overrides: Mapping[str, str] = _NO_OVERRIDES,
    without_commands: bool = False,
) -> Iterator[Fact]:
    """Yield the tools that are configured under these names, each once; others are ignored.

    `prefix` comes before each command, by default that of the lock file. `overrides` has other
    commands for a tool. With `without_commands`, the tools are there, but nothing says that they
    are run.
    """
    rows = load_table("tools")["python"]
    if prefix is None and not without_commands:
        prefix = manifest.python_prefix
    for name in (name for name in dict.fromkeys(names) if name in rows):
        yield manifest.make_technology(rows[name]["name"], "tool")
        for purpose, text in () if without_commands else iter_row_commands(rows[name]):
            yield manifest.make_command(purpose, f"{prefix}{overrides.get(name, text)}")


def list_installed_tools(
    manifest: Manifest, packages: Collection[str], prefix: str | None = None
) -> Iterator[Fact]:
    """Yield the tools that developers install, of which only pytest is taken to be run."""
    yield from list_tools(manifest, {"pytest"}.intersection(packages), prefix=prefix)
    yield from list_tools(manifest, packages, without_commands=True)


def list_tox_ini_commands(
    manifest: Manifest, text: str, run_prefix: str
) -> tuple[ProjectCommand, ...]:
    """Return the commands for the environments of a tox.ini."""
    sections = parse_ini(text)
    tox = sections.get("tox", {})
    names = split_environments(tox.get("envlist", "") or tox.get("env_list", ""))
    lines = {
        name.removeprefix("testenv:"): section.get("commands", "")
        for name, section in sections.items()
        if name.startswith("testenv:")
    }
    base = sections.get("testenv", {}).get("commands", "")
    return list_tox_commands(manifest, names, lines, base, run_prefix)


def list_tox_commands(
    manifest: Manifest,
    environments: Sequence[str],
    line_by_environment: Mapping[str, str],
    base: str,
    run_prefix: str,
) -> tuple[ProjectCommand, ...]:
    """Return the commands for environments: those listed, those with settings, and the plain one.

    `base` is what an environment runs that says nothing itself.
    """
    lines = {
        name: line
        for name, line in (dict.fromkeys(environments, "") | dict(line_by_environment)).items()
        if "{" not in name and not _PYTHON.fullmatch(name)
    }
    plain: tuple[ProjectCommand, ...] = ()
    if detect_command_purpose(base) == "test" and not {"test", "tests"}.intersection(lines):
        plain = (manifest.make_command("test", f"{run_prefix}tox -e py", "target"),)
        # Environments of other names for tests are variants of the plain one.
        lines = {
            name: line
            for name, line in lines.items()
            if detect_target_purpose(name, line) != "test"
        }
    named = build_target_commands(manifest, lines, lambda name: f"{run_prefix}tox -e {name}")
    return (*plain, *named)


def split_environments(text: str) -> list[str]:
    """Return the environments of `py{310,311}-x, lint`, with what is in braces not expanded."""
    names = re.split(r",(?![^{}]*\})|\s+", text[:_MAX_LIST_CHARS])
    return [name for name in names if name][:_MAX_ENVIRONMENTS]


def parse_python(text: str) -> ast.Module:
    """Return the syntax tree of a text; SyntaxError for what is not Python."""
    if len(text) > MAX_PYTHON_CHARS:
        raise ValueError(f"this has more than {MAX_PYTHON_CHARS:,} characters")
    with warnings.catch_warnings():  # about the text's own escapes
        warnings.simplefilter("ignore")
        return ast.parse(text)


def get_last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name: `setup` of `setuptools.setup`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def evaluate_literal(node: ast.expr) -> Any:
    """Return the value of a literal; None for anything else."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
