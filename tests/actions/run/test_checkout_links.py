"""What leads from an environment to the checkout: a worktree's checks would judge that instead."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.actions.run.checkout_links import find_checkout_links
from cub.errors import CubError
from tests.actions.run.shop import Shop

_FINDER = "MAPPING: dict[str, str] = {{'bread': '{0}/src/bread'}}\nNAMESPACES = {{}}\n"


class Case:
    """A project with tracked files, and an environment beside it."""

    def __init__(self, shop: Shop, tmp_path: Path) -> None:
        self.root, self.beside = shop.root, tmp_path / "env"
        self.site = self.beside / "lib/python3.12/site-packages"
        self.site.mkdir(parents=True)
        (self.beside / "bin").mkdir()
        (self.beside / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
        self.program("python")
        self.environ = {"PATH": f"{self.beside / 'bin'}:/nowhere", "HOME": str(tmp_path)}

    def program(self, name: str, text: str = "") -> Path:
        file = self.beside / "bin" / name
        file.write_text(text)
        file.chmod(0o755)
        return file

    def package(self, name: str, text: str) -> str:
        (self.site / name).write_text(text.format(self.root))
        return str(self.site / name)

    def link(self, path: str, target: str) -> str:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)
        return str(file)

    def found(self, *checks: str, **environ: str) -> list[tuple[str, str]]:
        """The sources, and the targets relative to the project."""
        links = find_checkout_links(self.root, checks, {**self.environ, **environ})
        return [(one.source, os.path.relpath(os.path.realpath(one.target), self.root))
                for one in links]  # fmt: skip


@pytest.fixture
def case(bakery: Shop, tmp_path: Path) -> Case:
    bakery.write("src/bread/__init__.py", "")
    bakery.write("packages/oven/index.js", "")
    bakery.write(".gitignore", "node_modules\n.venv\n")
    bakery.commit()
    return Case(bakery, tmp_path)


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
    (link,) = find_checkout_links(case.root / "packages/oven", [], case.environ)
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


def test_a_run_in_a_worktree_is_refused_and_names_what_leads_where(bakery: Shop) -> None:
    bakery.client("true")
    bakery.task()
    bakery.write("src/a.py", "")
    bakery.write("src/b.py", "")
    bakery.commit()
    bakery.environ["PYTHONPATH"] += f":{bakery.root}/src:{bakery.root}"
    with pytest.raises(CubError) as refused:
        bakery.run(no_checks=True, worktree=True)
    refusal = refused.value
    assert refusal.message.startswith(f"PYTHONPATH leads to {bakery.root}/src, so checks")
    assert refusal.details == (f"PYTHONPATH leads to {bakery.root}",)
    assert "without `--worktree`" in refusal.hint
    assert not (bakery.cub / "worktrees").exists()
    assert not (bakery.cub / "runs").exists()


def test_a_tasks_own_check_is_looked_at(bakery: Shop) -> None:
    bakery.client("true")
    bakery.task(checks=[f"cd {bakery.root} && test -f kept.txt"])
    with pytest.raises(CubError, match="the check `cd "):
        bakery.run(worktree=True)


def test_without_a_worktree_an_editable_install_is_as_it_should_be(bakery: Shop) -> None:
    bakery.client("cat > /dev/null; echo x > made.txt")
    bakery.task()
    bakery.commit()
    bakery.environ["PYTHONPATH"] += f":{bakery.root}"
    assert bakery.run(no_checks=True).outcomes == ["ok"]
