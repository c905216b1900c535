"""Fixtures of git's tests: a repository that holds a bit of all, made once and copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import git
from tests.git.checkouts import copy_repository, furnished


@pytest.fixture(scope="session")
def furnished_repository(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    """About what an attempt may come upon, on the branch main; to be copied."""
    root = copy_repository(empty_repository, tmp_path_factory.mktemp("furnished"))
    root.chmod(0o755)  # pytest's own folders are closed to others
    git(root, "checkout", "-q", "-b", "main")
    furnished(root)
    return root


@pytest.fixture
def furnished_project(tmp_path: Path, furnished_repository: Path) -> Path:
    """A copy of that repository, in the place of an empty project."""
    return copy_repository(furnished_repository, tmp_path)
