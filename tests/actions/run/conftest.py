"""A repository for runs, and copies of repositories that are prepared once a session."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.actions.run.shop import Shop, shop, surroundings

Prepare = Callable[[Shop], object]
CopyShop = Callable[[Prepare], Shop]


@pytest.fixture(scope="session")
def prepare_once(
    tmp_path_factory: pytest.TempPathFactory, empty_repository: Path
) -> Callable[[Prepare], Path]:
    """Make a repository, and prepare it; each function prepares one repository a session."""

    @cache
    def make(prepare: Prepare) -> Path:
        folder = tmp_path_factory.mktemp("prepared").resolve()
        root = folder / "project"
        shutil.copytree(empty_repository, root)
        (folder / "home").mkdir()
        prepare(shop(root, folder / "home"))
        return root

    return make


@pytest.fixture
def copy_shop(prepare_once: Callable[[Prepare], Path], project: Path, home: Path) -> CopyShop:
    """Copy the repository that a function has prepared into `project`.

    What it prepares may not lie outside of the repository, nor name its folder.
    """

    def copy(prepare: Prepare) -> Shop:
        shutil.copytree(prepare_once(prepare), project, symlinks=True, dirs_exist_ok=True)
        return Shop(project, surroundings(home))

    return copy


@pytest.fixture
def bakery(copy_shop: CopyShop) -> Shop:
    """A repository with one commit."""
    return copy_shop(_leave_as_it_is)


def _leave_as_it_is(_: Shop) -> None:
    pass
