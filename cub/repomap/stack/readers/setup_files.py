"""setup.cfg and setup.py: the project, what it needs and its programs.

setup.py, read and never run: what it writes down as literals.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

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
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, parse_ini, split_ini_lines
from cub.repomap.stack.manifest_paths import find_beside
from cub.repomap.stack.readers.python_tools import (
    evaluate_literal,
    get_last_name,
    list_configured_tools,
    list_tox_ini_commands,
    parse_python,
)
from cub.repomap.stack.readers.requirements import find_required_technologies, parse_requirement


def parse_setup_keywords(text: str) -> dict[str, Any]:
    """The keywords of the call of `setup` whose values are literals, or names of literals."""
    tree = parse_python(text)
    constants = dict(_constants(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and get_last_name(node.func) == "setup":
            return dict(_literals(node.keywords, constants))
    return {}


def _constants(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, evaluate_literal(node.value)


def _literals(keywords: list[ast.keyword], known: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword in keywords:
        value = keyword.value
        found = known.get(value.id) if isinstance(value, ast.Name) else evaluate_literal(value)
        if keyword.arg and found is not None:
            yield keyword.arg, found


_MOST_PROGRAMS = 12


def _setup_py(manifest: Manifest) -> ManifestFacts:
    found = parse_setup_keywords(manifest.text)
    needs, points = found.get("install_requires"), found.get("entry_points")
    scripts = parse_ini(points) if isinstance(points, str) else as_table(points)
    programs = scripts.get("console_scripts", ())
    return _project(
        manifest,
        ProjectPackage(
            manifest.folder,
            get_text_at(found, "name"),
            get_text_at(found, "description"),
            manifest.path,
        ),
        get_text_at(found, "python_requires"),
        split_ini_lines(needs) if isinstance(needs, str) else as_texts(list(_items(needs))),
        _lines_of(programs),
    )


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _lines_of(programs: object) -> list[str]:
    """`name = module:function`, from a list, a text, or the options of a section."""
    if isinstance(programs, dict):
        return [f"{name} = {target}" for name, target in programs.items()]
    return (
        split_ini_lines(programs) if isinstance(programs, str) else as_texts(list(_items(programs)))
    )


def _setup_cfg(manifest: Manifest) -> ManifestFacts:
    found = parse_ini(manifest.text)
    about, options = found.get("metadata", {}), found.get("options", {})
    own = _project(
        manifest,
        ProjectPackage(
            manifest.folder, about.get("name", ""), about.get("description", ""), manifest.path
        ),
        options.get("python_requires", ""),
        split_ini_lines(options.get("install_requires", "")),
        split_ini_lines(found.get("options.entry_points", {}).get("console_scripts", "")),
    )
    tox = list_tox_ini_commands(manifest, manifest.text, "") if "tox:tox" in found else ()
    return combine_facts(own, ManifestFacts(commands=tox), list_configured_tools(manifest, found))


def _project(
    manifest: Manifest, package: ProjectPackage, python: str, needs: list[str], programs: list[str]
) -> ManifestFacts:
    """The facts of a project; those of one whose name stands elsewhere are only what it needs."""
    source = manifest.path
    commands = _commands(manifest) if package.name else ()
    points = (line.partition("=") for line in programs[:_MOST_PROGRAMS])
    return ManifestFacts(
        (
            Technology("Python", "language", python, source),
            *find_required_technologies(map(parse_requirement, needs), source),
        ),
        tuple(commands),
        tuple(
            EntryPoint(name.strip(), start.partition("[")[0].strip(), source)
            for name, _, start in points
        ),
        (package,),
    )


def _commands(manifest: Manifest) -> Iterator[ProjectCommand]:
    """Unless a pyproject.toml beside it tells how."""
    if not find_beside(manifest, "pyproject.toml"):
        yield ProjectCommand("install", "pip install -e .", manifest.path, manifest.folder)


READERS = (ManifestReader(("setup.py",), _setup_py), ManifestReader(("setup.cfg",), _setup_cfg))
