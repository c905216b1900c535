"""Read pyproject.toml: the project, what it needs, its programs, its tasks and its tools.

The package manager decides what to type. `tools.toml` knows the managers and the build backends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from cub.repomap.data import load_table
from cub.repomap.stack.command_purposes import build_target_commands
from cub.repomap.stack.facts import (
    EntryPoint,
    Fact,
    ProjectCommand,
    Technology,
)
from cub.repomap.stack.formats import (
    as_table,
    as_texts,
    get_text_at,
    get_value_at,
    list_tree_values,
    parse_toml,
)
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.readers.python_tools import (
    list_installed_tools,
    list_tools,
    list_tox_commands,
    list_tox_ini_commands,
)
from cub.repomap.stack.readers.requirements import (
    Requirement,
    iter_versioned_packages,
    normalize_package_name,
    parse_requirement,
)

_DEVELOPER_EXTRAS = ("dev", "develop", "development", "test", "tests", "testing", "all")
# The keys of each package that developers install; Poetry's are named by the last one.
_INSTALLED = re.compile(
    r"(?:project\.optional-dependencies\..+|dependency-groups\..+|tool\.pdm\.dev-dependencies\..+"
    r"|tool\.(?:uv|rye)\.dev-dependencies|tool\.hatch\.envs\..+\.(?:extra-)?dependencies)\.\d+$"
    r"|tool\.poetry\.(?:dev-dependencies|group\..+\.dependencies)\.(?P<poetry>[^.]+)"
)
_TASK_KEYS = ("cmd", "shell", "command", "script", "sequence", "composite", "chain", "call")
_MAX_PROGRAMS = 12


def read_pyproject(manifest: Manifest) -> Iterator[Fact]:
    """Read a project's pyproject.toml."""
    tree = parse_toml(manifest.text)
    manager = _detect_package_manager(manifest, tree)
    prefix = load_table("tools")["python_managers"].get(manager, {}).get("prefix", "")
    yield from _list_technologies(tree, manager, manifest)
    yield from _list_task_commands(manifest, tree, prefix)
    yield from _list_install_and_build_commands(manifest, tree, manager)
    yield from _list_programs(tree, manifest)
    project = as_table(tree.get("project")) or as_table(get_value_at(tree, "tool", "poetry"))
    yield manifest.make_package(get_text_at(project, "name"), get_text_at(project, "description"))
    globs = as_texts(get_value_at(tree, "tool", "uv", "workspace", "members"))
    yield from manifest.make_members(globs, "pyproject.toml")
    yield from _list_project_tools(manifest, tree, prefix)


def _detect_package_manager(manifest: Manifest, tree: dict[str, Any]) -> str:
    """Return the manager whose lock file is there, else one whose table is in the file, or ""."""
    rows, tools = load_table("tools")["python_managers"], as_table(tree.get("tool"))
    prefixes = {name: row["prefix"] for name, row in rows.items() if "prefix" in row}
    prefix = manifest.python_prefix
    locked = (name for name in prefixes if prefixes[name] == prefix)
    configured = (name for name in prefixes if name.lower() in tools)
    hatch = "Hatch" if get_value_at(tools, "hatch", "envs") else ""
    return next(locked, "") or next(configured, hatch)


def _list_technologies(
    tree: dict[str, Any], manager: str, manifest: Manifest
) -> Iterator[Technology]:
    version = get_text_at(tree, "project", "requires-python")
    version = version or get_text_at(tree, "tool", "poetry", "dependencies", "python")
    if version or "project" in tree or get_value_at(tree, "tool", "poetry"):
        yield manifest.make_technology("Python", "language", version)
    requirements = as_texts(get_value_at(tree, "project", "dependencies"))
    poetry = _iter_poetry_requirements(get_value_at(tree, "tool", "poetry", "dependencies"))
    yield from manifest.find_known("pypi", [*map(parse_requirement, requirements), *poetry])
    if manager:
        yield manifest.make_technology(manager, "manager")
    backend = get_text_at(tree, "build-system", "build-backend").partition(".")[0]
    if name := load_table("tools")["python_backends"].get(backend):
        yield manifest.make_technology(name, "build")


def _list_install_and_build_commands(
    manifest: Manifest, tree: dict[str, Any], manager: str
) -> Iterator[ProjectCommand]:
    """Yield what to type in a fresh checkout, and for a distribution."""
    row = load_table("tools")["python_managers"].get(manager, {})
    tools = as_table(tree.get("tool"))
    has_workspace = get_value_at(tools, "uv", "workspace") is not None
    can_be_installed = "project" in tree or "poetry" in tools or has_workspace
    install = row.get("install", "") if can_be_installed else ""
    if not install and "project" in tree and "build-system" in tree:
        install = _format_pip_install(tree)
    if install and not (manager == "uv" and manifest.exists_above("uv.lock")):
        yield manifest.make_command("install", install)
    if "build-system" in tree and get_value_at(tree, "tool", "poetry", "package-mode") is not False:
        yield manifest.make_command("build", row.get("build", "python -m build"))


def _format_pip_install(tree: dict[str, Any]) -> str:
    """Return the command with the extra and the group that developers need."""
    extras = as_table(get_value_at(tree, "project", "optional-dependencies"))
    extra = next((name for name in _DEVELOPER_EXTRAS if name in extras), "")
    project = f'-e ".[{extra}]"' if extra else "-e ."
    has_group = "dev" in as_table(tree.get("dependency-groups"))
    return f"pip install {project}{' --group dev' if has_group else ''}"


def _iter_installed_packages(tree: dict[str, Any]) -> Iterator[str]:
    """Yield the names of what extras and groups of dependencies hold, those of all managers."""
    for path, value in list_tree_values(tree):
        if place := _INSTALLED.match(path):
            yield normalize_package_name(place["poetry"] or parse_requirement(value)[0])


def _iter_poetry_requirements(dependencies: object) -> Iterator[Requirement]:
    table = {name: value for name, value in as_table(dependencies).items() if name != "python"}
    return iter_versioned_packages(table)


def _list_task_commands(
    manifest: Manifest, tree: dict[str, Any], prefix: str
) -> Iterator[ProjectCommand]:
    """Yield the commands for the targets of all task runners that are configured in the file."""
    tools = as_table(tree.get("tool"))
    runners: tuple[tuple[object, Callable[[str], str]], ...] = (
        (get_value_at(tools, "poe", "tasks"), lambda name: f"{prefix}poe {name}"),
        (get_value_at(tools, "pdm", "scripts"), lambda name: f"pdm run {name}"),
        (get_value_at(tools, "taskipy", "tasks"), lambda name: f"{prefix}task {name}"),
        (get_value_at(tools, "rye", "scripts"), lambda name: f"rye run {name}"),
        (get_value_at(tools, "pixi", "tasks"), lambda name: f"pixi run {name}"),
        (_list_hatch_scripts(tools), lambda name: f"hatch run {name}"),
    )
    for tasks, format_invocation in runners:
        lines = {
            name: format_task(task) for name, task in as_table(tasks).items() if name[:1] != "_"
        }
        yield from build_target_commands(manifest, lines, format_invocation)
    yield from _list_tox_targets(manifest, as_table(tools.get("tox")), prefix)


def format_task(task: object) -> str:
    """Return what a task runs, however it is written."""
    values = (get_value_at(task, key) for key in _TASK_KEYS)
    lines = as_texts(task) or as_texts(next(filter(None, values), None))
    return " && ".join(lines)


def _list_hatch_scripts(tools: dict[str, Any]) -> dict[str, object]:
    """Return the scripts of all environments, as `hatch run` names them."""
    return {
        name if environment == "default" else f"{environment}:{name}": script
        for environment, settings in as_table(get_value_at(tools, "hatch", "envs")).items()
        for name, script in as_table(get_value_at(settings, "scripts")).items()
    }


def _list_tox_targets(
    manifest: Manifest, tox: dict[str, Any], run_prefix: str
) -> tuple[ProjectCommand, ...]:
    if ini := get_text_at(tox, "legacy_tox_ini"):
        return list_tox_ini_commands(manifest, ini, run_prefix)
    lines = {name: _format_tox_commands(env) for name, env in as_table(tox.get("env")).items()}
    base = _format_tox_commands(tox.get("env_run_base"))
    names = [*as_texts(tox.get("env_list")), *as_texts(tox.get("envlist"))]
    return list_tox_commands(manifest, names, lines, base, run_prefix)


def _format_tox_commands(environment: object) -> str:
    commands = get_value_at(environment, "commands")
    rows = commands if isinstance(commands, list) else []
    return " && ".join(" ".join(as_texts(row)) for row in rows)


def _list_programs(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    tables = (
        get_value_at(tree, "project", "scripts"),
        get_value_at(tree, "project", "gui-scripts"),
        get_value_at(tree, "tool", "poetry", "scripts"),
    )
    programs = [program for table in tables for program in as_table(table).items()]
    for name, value in programs[:_MAX_PROGRAMS]:
        target = value if isinstance(value, str) else get_text_at(value, "reference")
        target = target or get_text_at(value, "callable")
        yield manifest.make_entry_point(name, target.partition("[")[0].strip())


def _list_project_tools(manifest: Manifest, tree: dict[str, Any], prefix: str) -> Iterator[Fact]:
    """Yield the tools with a table of their own, and those that developers are to install."""
    tools = as_table(tree.get("tool"))
    # Without these keys, `tool.pytest` only configures one of pytest's plugins.
    has_pytest = {"ini_options", "testpaths"}.intersection(as_table(tools.get("pytest")))
    configured = [name for name in tools if name != "pytest" or has_pytest]
    if get_value_at(tools, "ruff", "format") is not None:
        configured.append("ruff-format")
    installed = sorted(set(_iter_installed_packages(tree)))
    has_files = {"files", "packages", "modules"}.intersection(as_table(tools.get("mypy")))
    overrides = {"mypy": "mypy" if has_files else f"mypy {_find_code_folder(tree, manifest)}"}
    yield from list_tools(manifest, configured, prefix=prefix, overrides=overrides)
    yield from list_installed_tools(manifest, installed, prefix)


def _find_code_folder(tree: dict[str, Any], manifest: Manifest) -> str:
    """Return the folder with the project's code, as a tool's argument."""
    name = get_text_at(tree, "project", "name") or get_text_at(tree, "tool", "poetry", "name")
    module = normalize_package_name(name).replace("-", "_")
    for argument, folder in (("src", f"src/{module}"), (module, module)):
        if module and manifest.find_beside(f"{folder}/__init__.py"):
            return argument
    return "."
