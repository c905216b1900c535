"""Read what a Python project needs, in files other than pyproject.toml.

These are requirements files, Pipfile, conda's environment.yml, setup.cfg, and setup.py, which is
never run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.facts import Fact, ProjectCommand, ProjectPackage
from cub.repomap.stack.formats import (
    as_table,
    as_texts,
    get_text_at,
    parse_ini,
    parse_toml,
    split_ini_lines,
)
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.readers.python_tools import (
    evaluate_literal,
    get_last_name,
    list_configured_tools,
    list_installed_tools,
    list_tools,
    list_tox_ini_commands,
    parse_python,
)
from cub.repomap.stack.yaml_reader import read_yaml_scalars, select_below

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#@]*)")
_SEPARATORS = re.compile(r"[-_.]+")
_AT_RUN_TIME = re.compile(
    r"(?:requirements?[-_.]?)?(?:base|main|common|core|app|server|prod|production|web|run|runtime)?"
    r"(?:[-_.]?requirements?)?"
)
_ITSELF = re.compile(r"^(?:-e|--editable)[ =]*\.", re.MULTILINE)
_CONDA_PYTHON = re.compile(r"python\s*([<>=!~]*\s*[\d.*,<>=!~ ]*)$")
_MAX_LINES = 5000

Requirement = tuple[str, str]  # a normalized name and its versions


def read_requirements(manifest: Manifest) -> Iterator[Fact]:
    """Read what is needed at run time, unless the file's name or an `-e .` says otherwise."""
    requirements = [parse_requirement(line) for line in iter_requirements(manifest.text)]
    stem = manifest.name.removesuffix(".txt").removesuffix(".in").lower()
    if _AT_RUN_TIME.fullmatch(stem) and not _ITSELF.search(manifest.text):
        yield from manifest.find_known("pypi", requirements)
    if manifest.path.endswith(".txt"):
        yield from _list_install_commands(manifest)
    yield from list_installed_tools(manifest, [name for name, _ in requirements])


def _list_install_commands(manifest: Manifest) -> Iterator[ProjectCommand]:
    """Yield none if a manager with a lock file installs; type it above `requirements/`."""
    folder, _, name = manifest.path.rpartition("/")
    if folder.rpartition("/")[2] == "requirements":
        name, folder = f"requirements/{name}", folder.rpartition("/")[0]
    if not manifest.python_prefix and "constraint" not in name:
        yield ProjectCommand("install", f"pip install -r {name}", manifest.path, folder)


def iter_requirements(text: str) -> Iterator[str]:
    """Yield the requirements of a requirements file, without options, comments and addresses."""
    for line in text.split("\n")[:_MAX_LINES]:
        requirement = line.partition("#")[0].strip()
        if requirement and not requirement.startswith(("-", "/", ".", "git+", "http", "file:")):
            yield requirement


def parse_requirement(requirement: str) -> Requirement:
    """Return the name and the versions of a requirement (PEP 508), ("", "") if it isn't one."""
    match = _REQUIREMENT.match(requirement[:200])
    if match is None:
        return "", ""
    versions = match[2].partition(" --")[0].strip(" ()\t\r\n\\")
    return normalize_package_name(match[1]), versions if versions[:1] in tuple("<>=!~") else ""


def normalize_package_name(name: str) -> str:
    """Return a package's name as indexes compare it."""
    return _SEPARATORS.sub("-", name[:200]).lower()


def iter_versioned_packages(table: object) -> Iterator[Requirement]:
    """Yield the packages of a table of Pipenv or Poetry, whose values may have a `version`."""
    for name, value in as_table(table).items():
        version = value if isinstance(value, str) else get_text_at(value, "version")
        yield normalize_package_name(name), "" if version == "*" else version


def read_pipfile(manifest: Manifest) -> Iterator[Fact]:
    """Read Pipenv's packages."""
    tree = parse_toml(manifest.text)
    version = get_text_at(tree, "requires", "python_version")
    yield manifest.make_technology("Python", "language", version)
    yield from manifest.find_known("pypi", iter_versioned_packages(tree.get("packages")))
    developers = [normalize_package_name(name) for name in as_table(tree.get("dev-packages"))]
    yield from list_installed_tools(manifest, developers, "pipenv run ")


def read_conda_environment(manifest: Manifest) -> Iterator[Fact]:
    """Read environment.yml: the packages of conda, and those of pip below them.

    Beside a project that says itself what it needs, they are for its developers.
    """
    scalars = select_below(read_yaml_scalars(manifest.text), "dependencies")
    lines = [scalar.value for scalar in scalars if scalar.keys]
    python = next((match for line in lines if (match := _CONDA_PYTHON.fullmatch(line))), None)
    requirements = [
        parse_requirement(re.sub(r"(?<![<>=!~])=(?!=)", "==", line, count=1)) for line in lines
    ]
    yield manifest.make_technology("Python", "language", python[1].strip("= ") if python else "")
    if not manifest.find_beside("pyproject.toml", "setup.py"):
        yield from manifest.find_known("pypi", requirements)
    yield manifest.make_command("install", f"conda env create -f {manifest.name}")
    yield from list_tools(manifest, (name for name, _ in requirements), without_commands=True)


_MAX_PROGRAMS = 12


def read_setup_py(manifest: Manifest) -> Iterator[Fact]:
    """Read the keywords of setup.py's call of `setup`."""
    keywords = parse_setup_keywords(manifest.text)
    points = keywords.get("entry_points")
    sections = parse_ini(points) if isinstance(points, str) else as_table(points)
    programs = sections.get("console_scripts", ())
    if isinstance(programs, dict):
        programs = [f"{name} = {target}" for name, target in programs.items()]
    yield from _list_project_facts(
        manifest,
        manifest.make_package(get_text_at(keywords, "name"), get_text_at(keywords, "description")),
        get_text_at(keywords, "python_requires"),
        _list_lines(keywords.get("install_requires")),
        _list_lines(programs),
    )
    extras = as_table(keywords.get("extras_require")).values()
    groups = [keywords.get("tests_require"), *extras]
    yield from _list_tests(manifest, [line for group in groups for line in _list_lines(group)])


def parse_setup_keywords(text: str) -> dict[str, Any]:
    """Return the keywords of the call of `setup` whose values are literals, or their names."""
    tree = parse_python(text)
    constants = {
        node.targets[0].id: evaluate_literal(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and get_last_name(node.func) == "setup":
            return dict(_iter_literals(node.keywords, constants))
    return {}


def _iter_literals(
    keywords: list[ast.keyword], constants: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    for keyword in keywords:
        node = keyword.value
        value = constants.get(node.id) if isinstance(node, ast.Name) else evaluate_literal(node)
        if keyword.arg and value is not None:
            yield keyword.arg, value


def _list_lines(value: object) -> list[str]:
    """Return the lines of a string, or the strings of a list or tuple."""
    if isinstance(value, str):
        return split_ini_lines(value)
    return as_texts(list(value)) if isinstance(value, list | tuple) else []


def read_setup_cfg(manifest: Manifest) -> Iterator[Fact]:
    """Read the project and the tools of setup.cfg."""
    sections = parse_ini(manifest.text)
    metadata, options = sections.get("metadata", {}), sections.get("options", {})
    yield from _list_project_facts(
        manifest,
        manifest.make_package(metadata.get("name", ""), metadata.get("description", "")),
        options.get("python_requires", ""),
        split_ini_lines(options.get("install_requires", "")),
        split_ini_lines(sections.get("options.entry_points", {}).get("console_scripts", "")),
    )
    if "tox:tox" in sections:
        yield from list_tox_ini_commands(manifest, manifest.text, "")
    yield from list_configured_tools(manifest, sections)
    extras = sections.get("options.extras_require", {}).values()
    groups = [options.get("tests_require", ""), *extras]
    yield from _list_tests(manifest, [line for group in groups for line in split_ini_lines(group)])


def _list_tests(manifest: Manifest, requirements: list[str]) -> Iterator[Fact]:
    """Return pytest with its command, if it is among what developers need."""
    names = {parse_requirement(line)[0] for line in requirements}
    return list_tools(manifest, {"pytest"}.intersection(names))


def _list_project_facts(
    manifest: Manifest,
    package: ProjectPackage,
    python_version: str,
    requirements: list[str],
    programs: list[str],
) -> Iterator[Fact]:
    """Yield the facts of a project; it is installed by this file if that names it, alone."""
    yield manifest.make_technology("Python", "language", python_version)
    yield from manifest.find_known("pypi", map(parse_requirement, requirements))
    if package.name and not manifest.find_beside("pyproject.toml"):
        yield manifest.make_command("install", "pip install -e .")
    for name, _, target in (line.partition("=") for line in programs[:_MAX_PROGRAMS]):
        yield manifest.make_entry_point(name.strip(), target.partition("[")[0].strip())
    yield package
