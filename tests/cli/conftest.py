"""Fixtures of the command line's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.processes import serve_cub
from tests.files.conftest import unprivileged
from tests.fork_server import get_cub_command

__all__ = ["unprivileged"]


@pytest.fixture(scope="session")
def unprivileged_cub(unprivileged: list[str]) -> Iterator[list[str]]:
    """The command of a program that does what `cub` does, and for which file modes hold."""
    if not unprivileged:
        yield get_cub_command()
        return
    with serve_cub(*unprivileged) as command:
        yield command
