"""Fixtures of the repairs' tests: a project with cub in it, made once and copied."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.actions.repairs import bakery_in


@pytest.fixture(scope="session")
def bakery_template(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    """A project with text of its own in both files, and cub in it; to be copied."""
    root = tmp_path_factory.mktemp("bakery") / "project"
    return bakery_in(Path(shutil.copytree(empty_repository, root)).resolve())


@pytest.fixture
def bakery(project: Path, bakery_template: Path) -> Path:
    """A copy of that project."""
    return Path(shutil.copytree(bakery_template, project, dirs_exist_ok=True))
