"""What leads from an environment to the checkout: checks in another tree would judge that."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.place.linked_dependencies import (
    CheckoutLink,
    find_links_to_checkout,
    make_tree_variables,
    require_own_dependencies,
)
from tests.conftest import git
from tests.written_files import write_files, write_program

_FINDER = "MAPPING: dict[str, str] = {{'bread': '{0}/src/bread'}}\nNAMESPACES = {{}}\n"


class Case:
    """A project with tracked files, and an environment beside it."""

    def __init__(self, root: Path, tmp_path: Path) -> None:
        self.root, self.beside = root, tmp_path / "env"
        self.site = self.beside / "lib/python3.12/site-packages"
        self.site.mkdir(parents=True)
        (self.beside / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
        self.program("python")
        self.environ = {"PATH": f"{self.beside / 'bin'}:/nowhere", "HOME": str(tmp_path)}

    def program(self, name: str, text: str = "") -> Path:
        return write_program(self.beside / "bin" / name, text)

    def package(self, name: str, text: str) -> str:
        (self.site / name).write_text(text.format(self.root))
        return str(self.site / name)

    def link(self, path: str, target: str) -> str:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)
        return str(file)

    def links(self, *checks: str, **environ: str) -> list[CheckoutLink]:
        return find_links_to_checkout(self.root, checks, {**self.environ, **environ})

    def found(self, *checks: str, **environ: str) -> list[tuple[str, str]]:
        """The sources, and the targets relative to the project."""
        return [(one.source, os.path.relpath(os.path.realpath(one.target), self.root))
                for one in self.links(*checks, **environ)]  # fmt: skip

    def variables(self, *checks: str, **environ: str) -> dict[str, str]:
        """The variables for a tree in /tree."""
        links = self.links(*checks, **environ)
        return make_tree_variables(self.root, Path("/tree"), links, {**self.environ, **environ})


@pytest.fixture
def case(project: Path, tmp_path: Path) -> Case:
    tracked = ("src/bread/__init__.py", "src/ns/salt.py", "packages/oven/index.js")
    write_files(project, dict.fromkeys(tracked, ""))
    (project / ".gitignore").write_text("node_modules\n.venv\nbuild\n")
    git(project, "add", ".")
    return Case(project, tmp_path)


def test_an_environment_of_its_own_leads_nowhere(case: Case) -> None:
    case.package("a.pth", "# {0}/src\n\n/nowhere\nother\nimport no_finder; x()\n\0{0}/src\n")
    case.package("bread.txt", "{0}/src\n")
    case.package("long.pth", "import os, sys; sys.path\n")
    case.link("node_modules/.pnpm/salt@1/node_modules/salt", f"{case.root}/node_modules/.pnpm")
    case.link("node_modules/salt", ".pnpm/salt@1/node_modules/salt")
    case.link("node_modules/gone", "../gone")
    (case.root / ".venv/bin").mkdir(parents=True)
    inside = str(case.root / ".venv/bin")
    assert case.found("pytest -q", f"{inside}/pytest src", PATH=f"{inside}:bin") == []


PYTHON: list[tuple[str, str, str]] = [
    ("__editable__.bread-1.0.pth", "{0}/src\n", "src"),
    ("easy-install.pth", "/nowhere\n{0}\n", "."),
    ("_bread.pth", "# a path\r\n{0}/src\r\n", "src"),
]


@pytest.mark.parametrize(("name", "text", "target"), PYTHON)
def test_a_pth_file_leads_there(case: Case, name: str, text: str, target: str) -> None:
    source = case.package(name, text)
    assert case.found() == [(source, target)]


@pytest.mark.parametrize(
    ("pth", "finder"),
    [
        ("import __editable___bread_1_0_finder; __editable___bread_1_0_finder.install()",
         "__editable___bread_1_0_finder"),
        ("import _editable_impl_bread\n", "_editable_impl_bread"),
    ],
)  # fmt: skip
def test_the_finder_of_an_editable_install_leads_there(case: Case, pth: str, finder: str) -> None:
    case.package("__editable__.bread-1.0.pth", pth)
    source = case.package(f"{finder}.py", _FINDER)
    assert case.found() == [(source, "src/bread")]


def test_a_link_in_site_packages_leads_there(case: Case) -> None:
    (case.site / "bread").symlink_to(case.root / "src/bread")
    assert case.found() == [(str(case.site / "bread"), "src/bread")]


def test_a_path_through_a_link_leads_there(case: Case, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(case.root)
    source = case.package("bread.pth", f"{tmp_path}/alias/src")
    assert case.found() == [(source, "src")]


# How a check comes to the Python of an environment, which is not in PATH as `python`.
WAYS: list[Callable[[Case], tuple[str, dict[str, str]]]] = [
    lambda case: ("true", {"VIRTUAL_ENV": str(case.beside)}),
    lambda case: ("true", {"CONDA_PREFIX": str(case.beside)}),
    lambda case: (f"{case.beside}/bin/python -m pytest", {}),
    lambda case: (f"cd src && '{case.beside}/bin/python' -m pytest", {}),
    lambda case: ("bake --all", {"PATH": str(_script(case, "bake").parent)}),
    lambda case: ("pytest", {"PATH": str(_linked(case, "pytest"))}),
    lambda case: ("true", {"PATH": str(_linked(case, "python"))}),
]


def _script(case: Case, name: str) -> Path:
    folder = case.beside.parent / "scripts"
    folder.mkdir()
    (folder / name).write_text(f"#!{case.beside}/bin/python\n")
    return folder / name


def _linked(case: Case, name: str) -> Path:
    folder = case.beside.parent / "linked"
    folder.mkdir()
    (folder / name).symlink_to(case.program(name))
    return folder


@pytest.mark.parametrize("way", WAYS)
def test_the_environment_of_a_check_is_found(
    case: Case, way: Callable[[Case], tuple[str, dict[str, str]]]
) -> None:
    source = case.package("bread.pth", "{0}/src")
    check, environ = way(case)
    assert case.found(check, **{"PATH": "/nowhere", **environ}) == [(source, "src")]
    assert case.found("true", PATH="/nowhere") == []


def test_all_versions_behind_a_shim_are_looked_at(case: Case) -> None:
    source = case.package("bread.pth", "{0}/src")
    shims = case.beside.parent / "pyenv/shims"
    shims.mkdir(parents=True)
    (shims / "python").write_text("#!/usr/bin/env bash\n")
    (shims.parent / "versions").mkdir()
    (shims.parent / "versions/3.12.1").symlink_to(case.beside)
    assert case.found(PATH=str(shims)) == [(source, "src")]


def test_the_packages_below_an_environment_count_if_it_uses_them(case: Case) -> None:
    user = case.beside.parent / ".local/lib/python3.12/site-packages"
    user.mkdir(parents=True)
    (user / "bread.pth").write_text(f"{case.root}/src")
    (case.beside / "bin/python").unlink()
    (case.beside / "bin/python").symlink_to(sys.executable)
    assert case.found() == []
    (case.beside / "pyvenv.cfg").write_text("Include-System-Site-Packages=True\n")
    assert (str(user / "bread.pth"), "src") in case.found()


@pytest.mark.parametrize(
    ("path", "target", "leads"),
    [
        ("node_modules/oven", "../packages/oven", "packages/oven"),
        ("node_modules/@bakery/oven", "../../packages/oven", "packages/oven"),
        ("node_modules/bakery", "..", "."),
    ],
)
def test_a_workspace_link_leads_there(case: Case, path: str, target: str, leads: str) -> None:
    source = case.link(path, target)
    assert case.found() == [(source, leads)]


def test_a_project_below_the_top_finds_links_above_it(case: Case) -> None:
    source = case.link("node_modules/oven", "../packages/oven")
    (link,) = find_links_to_checkout(case.root / "packages/oven", [], case.environ)
    assert link.source == source


@pytest.mark.parametrize("name", ["PATH", "PYTHONPATH", "NODE_PATH"])
def test_a_variable_leads_there(case: Case, name: str) -> None:
    folders = f"{case.environ['PATH']}:{case.root}/src::src"
    assert case.found(**{name: folders}) == [(name, "src")]


@pytest.mark.parametrize("check", ["cd {0} && make", "PYTHONPATH={0}/src pytest", "sh -c 'ls {0}'"])
def test_a_check_that_names_the_checkout_leads_there(case: Case, check: str) -> None:
    check = check.format(case.root)
    ((source, _),) = case.found(check)
    assert source == f"the check `{check}`"


@pytest.mark.parametrize(
    ("name", "text", "path"),
    [
        ("bread.pth", "{0}/src\n", "/tree/src"),
        ("bread.pth", "{0}\n", "/tree"),
        ("_f.py", "MAPPING = {{'bread': '{0}/src/bread'}}\n", "/tree/src"),
        ("_f.py", "MAPPING = {{'ns.salt': '{0}/src/ns/salt.py'}}\n", "/tree/src"),
        ("_f.py", "NAMESPACES = {{'ns': ['{0}/src/ns']}}\n", "/tree/src"),
        ("_f.py", "F.map_module('bread', '{0}/src/bread/__init__.py')", "/tree/src"),
    ],
)
def test_the_trees_own_sources_come_first(case: Case, name: str, text: str, path: str) -> None:
    case.package("_f.pth", "import _f")
    case.package(name, text)
    assert case.variables() == {"PYTHONPATH": path}
    assert case.variables(PYTHONPATH=f"/mine:{case.root}/tests") == {
        "PYTHONPATH": f"{path}:/mine:{case.root}/tests"
    }
    require_own_dependencies(case.links())


def test_a_link_to_a_package_is_led_to_the_tree(case: Case) -> None:
    (case.site / "bread").symlink_to(case.root / "src/bread")
    (case.site / "other").symlink_to(case.root / "src/bread")
    assert [one.variable for one in case.links()] == ["PYTHONPATH", ""]
    assert case.variables() == {"PYTHONPATH": "/tree/src"}


def test_folders_in_variables_become_those_of_the_tree(case: Case) -> None:
    path = f"{case.root}/src/bread:{case.environ['PATH']}"
    assert case.variables(PATH=path, NODE_PATH=f"{case.root}/packages") == {
        "PATH": f"/tree/src/bread:{case.environ['PATH']}",
        "NODE_PATH": "/tree/packages",
    }


UNHEALED: list[tuple[str, str]] = [
    ("MAPPING = {{'bread': '{0}/src/ns'}}", "true"),  # under another name than its folder's
    ("sys.meta_path.insert(0, Finder('{0}/build/cp312'))", "true"),
    ("MAPPING = {{'bread': '{0}/src/bread'}}", "python3 -I -m pytest"),
    ("MAPPING = {{'bread': '{0}/src/bread'}}", "python -B -sE -m pytest"),
]


@pytest.mark.parametrize(("finder", "check"), UNHEALED)
def test_what_no_variable_can_lead_to_the_tree_is_refused(
    case: Case, finder: str, check: str
) -> None:
    case.package("_f.pth", "import _f")
    source = case.package("_f.py", finder)
    assert case.variables(check) == {}
    with pytest.raises(CubError, match="so checks would test your files") as refused:
        require_own_dependencies(case.links(check))
    assert refused.value.message.startswith(f"{source} leads to {case.root}/")


@pytest.mark.parametrize(
    "text",
    [
        "import sys; sys.__plen = len(sys.path)\n{0}/src\nimport sys; sys.__egginsert=0",
        "import sys; sys.meta_path.insert(0, F('{0}/src'))",
    ],
)
def test_a_pth_file_that_comes_before_all_variables_is_refused(case: Case, text: str) -> None:
    source = case.package("easy-install.pth", text)
    ((found, target),) = case.found()
    assert (found, target, case.variables()) == (source, "src", {})


def test_environments_that_are_shared_are_looked_at(case: Case) -> None:
    site = case.root / ".venv/lib/python3.12/site-packages"
    site.mkdir(parents=True)
    (site / "bread.pth").write_text(f"{case.root}/src\n")
    links = find_links_to_checkout(case.root, [], case.environ, [".venv"])
    assert [one.source for one in links] == [str(site / "bread.pth")]
    assert case.links() == []


def test_links_of_shared_modules_are_led_to_the_tree_elsewhere(case: Case) -> None:
    case.link("node_modules/oven", "../packages/oven")
    assert find_links_to_checkout(case.root, [], case.environ, ["node_modules"]) == []


def test_an_error_names_the_first_links(case: Case) -> None:
    links = [CheckoutLink(f"l{number}", case.root) for number in range(8)]
    with pytest.raises(CubError) as refused:
        require_own_dependencies(links)
    assert refused.value.message.startswith(f"l0 leads to {case.root}, so")
    assert len(refused.value.details) == 6
    assert refused.value.details[-1] == "and 2 more"
