"""Fixtures of places' tests: a checkout that accepts, an attempt that began there, and walls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import git
from tests.git.checkouts import copy_repository, save
from tests.place.acceptances import BASE, Attempt, begin
from tests.place.walled import Walled, make_walled
from tests.written_files import write_files


@pytest.fixture(scope="session")
def accepting_repository(tmp_path_factory: pytest.TempPathFactory, empty_repository: Path) -> Path:
    root = copy_repository(empty_repository, tmp_path_factory.mktemp("accepting"))
    git(root, "checkout", "-q", "-b", "main")
    write_files(root, BASE)
    save(root)
    git(root, "branch", "other")
    return root


@pytest.fixture
def top(tmp_path: Path, accepting_repository: Path) -> Path:
    return copy_repository(accepting_repository, tmp_path)


@pytest.fixture
def attempt(top: Path, tmp_path: Path) -> Attempt:
    return begin(top, tmp_path / "state")


@pytest.fixture(params=["launcher", "bwrap"])
def bound(request: pytest.FixtureRequest, tmp_path: Path) -> Walled:
    return make_walled(tmp_path.resolve(), request.param)


@pytest.fixture
def launched(tmp_path: Path) -> Walled:
    return make_walled(tmp_path.resolve(), "launcher")
