"""pyproject.toml: the project, what it needs, its programs and the tools that it configures.

Which manager a Python project uses, and what one types to install and to build.

What a pyproject.toml says that the project needs: at run time, and for its developers.

The named targets in a pyproject.toml, those of hatch, PDM, Poe the Poet, tox and others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cub.repomap.stack.command_purposes import build_target_commands
from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
    combine_facts,
)
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, get_value_at, parse_toml
from cub.repomap.stack.manifest_paths import exists_above, find_workspace_members
from cub.repomap.stack.readers import requirements
from cub.repomap.stack.readers.python_tools import (
    detect_run_prefix,
    list_tools,
    list_tox_commands,
    list_tox_ini_commands,
)
from cub.repomap.stack.readers.requirements import (
    Requirement,
    normalize_package_name,
    parse_requirement,
)

_FOR_DEVELOPERS = ("dev", "develop", "development", "test", "tests", "testing", "all")


class PythonPackageManager(NamedTuple):
    """Its name, "" for plain pip; and what one types in front of a tool, "" for nothing."""

    name: str
    run_prefix: str


_MANAGERS = (
    PythonPackageManager("uv", "uv run "),
    PythonPackageManager("Poetry", "poetry run "),
    PythonPackageManager("PDM", "pdm run "),
    PythonPackageManager("pixi", "pixi run "),
    PythonPackageManager("Rye", "rye run "),
    PythonPackageManager("Pipenv", "pipenv run "),
)
_INSTALL = {
    "uv": "uv sync", "Poetry": "poetry install", "PDM": "pdm install", "pixi": "pixi install",
    "Rye": "rye sync",
}  # fmt: skip
_BUILD = {"uv": "uv build", "Poetry": "poetry build", "PDM": "pdm build", "Hatch": "hatch build"}


def detect_python_package_manager(manifest: Manifest, tree: dict[str, Any]) -> PythonPackageManager:
    """The manager whose lock file is there, else one whose table is in the file."""
    typed = detect_run_prefix(manifest)
    locked = next((one for one in _MANAGERS if one.run_prefix == typed), None)
    if locked:
        return locked
    tool = as_table(tree.get("tool"))
    named = next((one for one in _MANAGERS if one.name.lower() in tool), None)
    return named or PythonPackageManager("Hatch" if get_value_at(tool, "hatch", "envs") else "", "")


def list_install_and_build_commands(
    manifest: Manifest, tree: dict[str, Any], manager: PythonPackageManager
) -> Iterator[ProjectCommand]:
    """What one types in a fresh checkout, and for a distribution."""
    source, folder = manifest.path, manifest.folder
    install = _INSTALL.get(manager.name, "") if _is_project(tree) else ""
    if not install and "project" in tree and "build-system" in tree:
        install = _pip_install(tree)
    if install and not (manager.name == "uv" and exists_above(manifest, "uv.lock")):
        yield ProjectCommand("install", install, source, folder)
    if "build-system" in tree and get_value_at(tree, "tool", "poetry", "package-mode") is not False:
        build = _BUILD.get(manager.name, "python -m build")
        yield ProjectCommand("build", build, source, folder)


def _is_project(tree: dict[str, Any]) -> bool:
    """Whether a manager has anything to install for this file."""
    tool = as_table(tree.get("tool"))
    return (
        "project" in tree or "poetry" in tool or get_value_at(tool, "uv", "workspace") is not None
    )


def _pip_install(tree: dict[str, Any]) -> str:
    """With the extras and groups that developers need."""
    named = list_extras(tree)
    chosen = next((name for name in _FOR_DEVELOPERS if name in named), "")
    place = f'-e ".[{chosen}]"' if chosen else "-e ."
    grouped = "dev" in as_table(tree.get("dependency-groups"))
    return f"pip install {place}{' --group dev' if grouped else ''}"


def list_requirements(tree: dict[str, Any]) -> Iterator[Requirement]:
    """What a program needs to run; of extras, nothing."""
    for requirement in as_texts(get_value_at(tree, "project", "dependencies")):
        yield parse_requirement(requirement)
    yield from _of_poetry(get_value_at(tree, "tool", "poetry", "dependencies"))


def list_developer_requirements(tree: dict[str, Any]) -> list[Requirement]:
    """What extras and groups of dependencies hold, those of all managers."""
    tool = as_table(tree.get("tool"))
    tables = (
        get_value_at(tree, "project", "optional-dependencies"),
        tree.get("dependency-groups"),
        get_value_at(tool, "pdm", "dev-dependencies"),
        {"": get_value_at(tool, "uv", "dev-dependencies")},
        {"": get_value_at(tool, "rye", "dev-dependencies")},
    )
    plain = [
        parse_requirement(one)
        for each in tables
        for group in as_table(each).values()
        for one in as_texts(group)
    ]
    groups = as_table(get_value_at(tool, "poetry", "group")).values()
    poetry = [
        get_value_at(tool, "poetry", "dev-dependencies"),
        *(get_value_at(one, "dependencies") for one in groups),
    ]
    envs = as_table(get_value_at(tool, "hatch", "envs")).values()
    hatch = [
        parse_requirement(one)
        for env in envs
        for key in _HATCH
        for one in as_texts(get_value_at(env, key))
    ]
    return [*plain, *(one for each in poetry for one in _of_poetry(each)), *hatch]


_HATCH = ("dependencies", "extra-dependencies")


def list_extras(tree: dict[str, Any]) -> list[str]:
    """The names of the project's extras."""
    return list(as_table(get_value_at(tree, "project", "optional-dependencies")))


def _of_poetry(dependencies: object) -> Iterator[Requirement]:
    for name, wanted in as_table(dependencies).items():
        if name != "python":
            version = wanted if isinstance(wanted, str) else get_text_at(wanted, "version")
            yield normalize_package_name(name), "" if version == "*" else version


_LINES = ("cmd", "shell", "command", "script", "sequence", "composite", "chain", "call")


def list_task_commands(
    manifest: Manifest, tree: dict[str, Any], manager: PythonPackageManager
) -> Iterator[ProjectCommand]:
    """The commands for the targets of all task runners that are configured in the file."""
    tool = as_table(tree.get("tool"))
    runners: tuple[tuple[object, Callable[[str], str]], ...] = (
        (get_value_at(tool, "poe", "tasks"), lambda name: f"{manager.run_prefix}poe {name}"),
        (get_value_at(tool, "pdm", "scripts"), lambda name: f"pdm run {name}"),
        (get_value_at(tool, "taskipy", "tasks"), lambda name: f"{manager.run_prefix}task {name}"),
        (get_value_at(tool, "rye", "scripts"), lambda name: f"rye run {name}"),
        (get_value_at(tool, "pixi", "tasks"), lambda name: f"pixi run {name}"),
        (_of_hatch(tool), lambda name: f"hatch run {name}"),
    )
    for tasks, typed in runners:
        named = {
            name: format_task(task) for name, task in as_table(tasks).items() if name[:1] != "_"
        }
        yield from build_target_commands(manifest, named, typed)
    yield from _of_tox(manifest, as_table(tool.get("tox")), manager)


def format_task(task: object) -> str:
    """What a task runs, however it is written."""
    found = as_texts(task) or next(
        (as_texts(get_value_at(task, key)) for key in _LINES if get_value_at(task, key)), []
    )
    return " && ".join(found)


def _of_hatch(tool: dict[str, Any]) -> dict[str, object]:
    """The scripts of all environments, as `hatch run` names them."""
    return {
        name if env == "default" else f"{env}:{name}": script
        for env, settings in as_table(get_value_at(tool, "hatch", "envs")).items()
        for name, script in as_table(get_value_at(settings, "scripts")).items()
    }


def _of_tox(
    manifest: Manifest, tox: dict[str, Any], manager: PythonPackageManager
) -> tuple[ProjectCommand, ...]:
    if get_text_at(tox, "legacy_tox_ini"):
        return list_tox_ini_commands(
            manifest, get_text_at(tox, "legacy_tox_ini"), manager.run_prefix
        )
    envs = {name: _tox_line(env) for name, env in as_table(tox.get("env")).items()}
    base = _tox_line(tox.get("env_run_base"))
    listed = [*as_texts(tox.get("env_list")), *as_texts(tox.get("envlist"))]
    return list_tox_commands(manifest, listed, envs, base, manager.run_prefix)


def _tox_line(env: object) -> str:
    commands = get_value_at(env, "commands")
    rows = commands if isinstance(commands, list) else []
    return " && ".join(" ".join(as_texts(row)) for row in rows)


_BACKENDS = {
    "hatchling": "Hatchling", "setuptools": "setuptools", "flit_core": "Flit", "flit": "Flit",
    "poetry": "Poetry", "pdm": "PDM", "uv_build": "uv", "maturin": "maturin",
    "mesonpy": "meson-python", "scikit_build_core": "scikit-build-core",
}  # fmt: skip
_MOST_PROGRAMS = 12


def _read(manifest: Manifest) -> ManifestFacts:
    tree = parse_toml(manifest.text)
    manager = detect_python_package_manager(manifest, tree)
    own = ManifestFacts(
        tuple(_technologies(tree, manager, manifest.path)),
        (
            *list_task_commands(manifest, tree, manager),
            *list_install_and_build_commands(manifest, tree, manager),
        ),
        tuple(_programs(tree, manifest.path)),
        tuple(_packages(tree, manifest)),
    )
    return combine_facts(own, _tools(manifest, tree, manager))


def _technologies(
    tree: dict[str, Any], manager: PythonPackageManager, source: str
) -> Iterator[Technology]:
    version = get_text_at(tree, "project", "requires-python")
    version = version or get_text_at(tree, "tool", "poetry", "dependencies", "python")
    if version or "project" in tree or get_value_at(tree, "tool", "poetry"):
        yield Technology("Python", "language", version, source)
    yield from requirements.find_required_technologies(list_requirements(tree), source)
    if manager.name:
        yield Technology(manager.name, "manager", "", source)
    backend = get_text_at(tree, "build-system", "build-backend").partition(".")[0]
    if backend in _BACKENDS:
        yield Technology(_BACKENDS[backend], "build", "", source)


def _programs(tree: dict[str, Any], source: str) -> Iterator[EntryPoint]:
    tables = (
        get_value_at(tree, "project", "scripts"),
        get_value_at(tree, "project", "gui-scripts"),
        get_value_at(tree, "tool", "poetry", "scripts"),
    )
    found = [pair for each in tables for pair in as_table(each).items()]
    for name, target in found[:_MOST_PROGRAMS]:
        start = target if isinstance(target, str) else get_text_at(target, "reference")
        start = start or get_text_at(target, "callable")
        yield EntryPoint(name, start.partition("[")[0].strip(), source)


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectPackage]:
    own = as_table(tree.get("project")) or as_table(get_value_at(tree, "tool", "poetry"))
    yield ProjectPackage(
        manifest.folder, get_text_at(own, "name"), get_text_at(own, "description"), manifest.path
    )
    globs = as_texts(get_value_at(tree, "tool", "uv", "workspace", "members"))
    for folder in find_workspace_members(manifest, globs, "pyproject.toml"):
        yield ProjectPackage(folder, "", "", manifest.path)


def _tools(
    manifest: Manifest, tree: dict[str, Any], manager: PythonPackageManager
) -> ManifestFacts:
    """Those with a table of their own, and those that developers are to install."""
    configured = [name for name in as_table(tree.get("tool")) if name != "pytest" or _runs(tree)]
    if get_value_at(tree, "tool", "ruff", "format") is not None:
        configured.append("ruff-format")
    installed = {name for name, _ in list_developer_requirements(tree)}
    place = {"mypy": "mypy" if _has_place(tree) else f"mypy {_place(tree, manifest)}"}
    return combine_facts(
        list_tools(manifest, configured, run_prefix=manager.run_prefix, overrides=place),
        list_tools(
            manifest, ["pytest"] if "pytest" in installed else [], run_prefix=manager.run_prefix
        ),
        list_tools(manifest, sorted(installed), without_commands=True),
    )


def _runs(tree: dict[str, Any]) -> bool:
    """Whether `tool.pytest` configures pytest, and not only one of its plugins."""
    return any(
        key in as_table(get_value_at(tree, "tool", "pytest"))
        for key in ("ini_options", "testpaths")
    )


def _has_place(tree: dict[str, Any]) -> bool:
    mypy = as_table(get_value_at(tree, "tool", "mypy"))
    return any(key in mypy for key in ("files", "packages", "modules"))


def _place(tree: dict[str, Any], manifest: Manifest) -> str:
    """The folder with the project's code, as a tool's argument."""
    name = get_text_at(tree, "project", "name") or get_text_at(tree, "tool", "poetry", "name")
    module = requirements.normalize_package_name(name).replace("-", "_")
    start = f"{manifest.folder}/" if manifest.folder else ""
    for place, folder in (("src", f"src/{module}"), (module, module)):
        if module and f"{start}{folder}/__init__.py" in manifest.paths:
            return place
    return "."


READERS = (ManifestReader(("pyproject.toml",), _read),)
