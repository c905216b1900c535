from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.processes.orphans import kill_by_environment
from tests.processes.programs import Make

if os.name != "posix":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def mark() -> tuple[str, str]:
    return "CUB_TEST_MARK", uuid.uuid4().hex


@pytest.fixture
def make(tmp_path: Path, mark: tuple[str, str]) -> Make:
    """Commands that run in tmp_path, with the mark in their environment."""
    return Make(tmp_path, {"PATH": os.environ["PATH"], mark[0]: mark[1]})


@pytest.fixture
def nothing_left(mark: tuple[str, str]) -> Iterator[None]:
    """Fails a test that leaves a process with its mark."""
    yield
    assert kill_by_environment(mark) == 0
