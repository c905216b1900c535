"""The project that tests of reviews change: as cub leaves one that has text of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.actions.helpers import init
from tests.actions.reviews import commit
from tests.conftest import git


@pytest.fixture(scope="package")
def template(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    """A project as cub leaves it, committed; to be copied."""
    root = Path(shutil.copytree(empty_repository, tmp_path_factory.mktemp("base") / "project"))
    init(root.resolve())
    agents = root / "AGENTS.md"
    agents.write_bytes(b"# Bakery\n\nText.\n\n" + agents.read_bytes())
    commit(root)
    return root


@pytest.fixture
def base(project: Path, template: Path) -> str:
    """The commit of that project, which is now here."""
    shutil.copytree(template, project, dirs_exist_ok=True)
    return git(project, "rev-parse", "HEAD").strip()
