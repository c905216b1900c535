"""Read setup.cfg and setup.py: the project, what it needs and its programs.

setup.py is never run: its literals are read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.facts import Fact, ProjectPackage
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, parse_ini, split_ini_lines
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.readers.python_tools import (
    detect_run_prefix,
    evaluate_literal,
    get_last_name,
    list_configured_tools,
    list_tox_ini_commands,
    parse_python,
)
from cub.repomap.stack.readers.requirements import list_pytest, parse_requirement

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
    constants = dict(_iter_constants(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and get_last_name(node.func) == "setup":
            return dict(_iter_literals(node.keywords, constants))
    return {}


def _iter_constants(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, evaluate_literal(node.value)


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
    return list_pytest(manifest, names, detect_run_prefix(manifest))


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
