"""Whole trees: golden/projects/*/before becomes after with init, and goes back with remove."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.actions.helpers import init, remove, settled
from tests.conftest import GOLDEN, tree

PROJECTS = sorted(path for path in (GOLDEN / "projects").iterdir() if path.is_dir())
STATE, CACHE = ".cub/state.json", ".cub/cache/"  # local

_LOCAL = shutil.ignore_patterns("state.json", "cache")


@pytest.mark.parametrize("case", PROJECTS, ids=lambda case: case.name)
def test_init_and_remove(case: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    before, after, root = case / "before", case / "after", tmp_path / "project"
    shutil.copytree(before, root, symlinks=True)
    init(root)
    if request.config.getoption("force_regen"):
        shutil.rmtree(after, ignore_errors=True)
        shutil.copytree(root, after, symlinks=True, ignore=_LOCAL)
    found = tree(root)
    assert found.pop(STATE)
    found = {path: data for path, data in found.items() if not path.startswith(CACHE)}
    assert found == tree(after)
    assert _links(root) == _links(after) == _links(before)
    assert settled(root)
    remove(root)
    left = tree(root)
    assert left.pop(".cub/constitution.md")
    assert left == tree(before)
    assert _links(root) == _links(before)


def _links(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): str(path.readlink())
        for path in sorted(root.rglob("*"))
        if path.is_symlink()
    }
