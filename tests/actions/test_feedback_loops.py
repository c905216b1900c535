"""The feedback loops that a prompt names are commands of the project's map."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cub.actions.check_commands import find_check_commands
from cub.project.project import Project
from tests.actions.helpers import write
from tests.repomap.maps import whole_map

MAKEFILE = "test:\n\tpytest\nlint:\n\truff check\n"
WORKSPACE = {
    "package.json": '{"name": "shop", "private": true, "workspaces": ["packages/*"]}',
    "packages/web/package.json": '{"name": "web", "scripts": {"test": "vitest run"}}',
    "packages/web/index.js": "export const a = 1;\n",
    "packages/api/package.json": (
        '{"name": "api", "scripts": {"test": "jest", "lint": "eslint .", "typecheck": "tsc"}}'
    ),
    "packages/api/index.js": "export const b = 1;\n",
}
PYTHON = {
    "pyproject.toml": (
        '[project]\nname = "oven"\n[tool.mypy]\nstrict = true\n'
        "[tool.pytest.ini_options]\n[tool.ruff]\n"
    ),
    "src/oven/__init__.py": "HEAT = 1\n",
}
POLYGLOT = {
    **PYTHON,
    "package.json": '{"name": "page", "scripts": {"test": "vitest run", "lint": "eslint ."}}',
    "go.mod": "module example.com/oven\n\ngo 1.22\n",
    "main.go": "package main\n\nfunc main() {}\n",
}

MONOREPO = {
    "package.json": '{"private": true, "scripts": {"prepare": "husky"}}',
    "packages/api/pyproject.toml": PYTHON["pyproject.toml"],
    "packages/api/oven/__init__.py": "HEAT = 1\n",
}


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (WORKSPACE, "cd packages/web && npm test"),
        (MONOREPO, "cd packages/api && pytest"),
        (MONOREPO, "cd packages/api && mypy oven"),
        (MONOREPO, "cd packages/api && ruff check"),
        (PYTHON, "mypy src"),
        (POLYGLOT, "npm test"),
        (POLYGLOT, "pytest"),
        ({**PYTHON, "Makefile": MAKEFILE}, "make test"),
    ],
    ids=[
        "workspace",
        "pytest below",
        "mypy below",
        "ruff below",
        "python",
        "polyglot npm",
        "polyglot pytest",
        "makefile",
    ],
)
def test_they_are_those_of_the_map(tmp_path: Path, files: dict[str, str], named: str) -> None:
    loops = _loops(tmp_path, files)
    assert named in loops
    assert loops == _in_map(tmp_path)


def test_parts_and_variants_of_one_target_are_left_to_the_map(tmp_path: Path) -> None:
    scripts = '{"scripts": {"test:e2e": "cypress", "test": "jest", "test:unit": "jest unit"}}'
    assert _loops(tmp_path, {"package.json": scripts}) == ["npm test"]
    assert "npm run test:e2e" in _in_map(tmp_path)


def test_tools_of_one_manifest_are_all_named(tmp_path: Path) -> None:
    both = {**PYTHON, "pyproject.toml": "[project]\nname = 'oven'\n[tool.mypy]\n[tool.pyright]\n"}
    assert _loops(tmp_path, both) == ["mypy src", "pyright"]


def test_of_many_folders_few_are_named(tmp_path: Path) -> None:
    many = {
        f"packages/p{number:02}/package.json": WORKSPACE["packages/api/package.json"]
        for number in range(40)
    }
    loops = _loops(tmp_path, {"package.json": WORKSPACE["package.json"], **many})
    assert len(loops) == 9
    assert loops[0] == "cd packages/p00 && npm run typecheck"


def test_what_the_map_leaves_out_is_left_out(tmp_path: Path) -> None:
    config = "map: {exclude: [packages/web]}\n"
    loops = _loops(tmp_path, {**WORKSPACE, ".cub/config.yaml": config})
    assert loops == _in_map(tmp_path)
    assert not [line for line in loops if "packages/web" in line]


def test_a_folder_that_nobody_could_type_has_no_command(tmp_path: Path) -> None:
    manifest = WORKSPACE["packages/api/package.json"]
    root = WORKSPACE["package.json"]
    assert _loops(tmp_path, {"package.json": root, "packages/a\tb/package.json": manifest}) == []


def _loops(root: Path, files: dict[str, str]) -> list[str]:
    for path, text in files.items():
        write(root, path, text)
    return [command.shell_line for command in find_check_commands(Project.load(root))]


def _in_map(root: Path) -> list[str]:
    """The commands for these purposes in the map's text, in the order of a prompt."""
    (root / ".cub").mkdir(exist_ok=True)
    text = whole_map(root).partition("## Commands")[2].partition("## ")[0]
    rows = re.findall(r"^(typecheck|test|lint): (.*) \(.*\)$", text, re.MULTILINE)
    return [line for purpose in ("typecheck", "test", "lint") for p, line in rows if p == purpose]
