"""A living process that holds a project's lock."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cub.files.lock import lock_project
from tests.conftest import environment
from tests.forked import ForkedFunction


@contextmanager
def holder(root: Path) -> Iterator[ForkedFunction]:
    """A process that has the lock of `root`, until its stdin is closed or it is killed."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    with ForkedFunction(lambda: _hold(root), environment(root.parent)) as process:
        try:
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def _hold(root: Path) -> None:
    with lock_project(root):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        sys.stdin.read()
