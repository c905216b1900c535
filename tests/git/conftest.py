"""Fixtures of git's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository without commits."""
    git(tmp_path, "init", "-q")
    return tmp_path
