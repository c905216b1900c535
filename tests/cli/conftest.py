"""Fixtures of the command line's tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.command_line import Result, run_program
from tests.conftest import Cub, environment
from tests.files.conftest import unprivileged
from tests.fork_server import ForkServer, get_cub_command

__all__ = ["unprivileged"]


@pytest.fixture(scope="session")
def unprivileged_command(unprivileged: list[str]) -> Iterator[list[str]]:
    """The command of a program that does what `cub` does, and for which file modes hold."""
    if not unprivileged:
        yield get_cub_command()
        return
    with closing(ForkServer(*unprivileged)) as server:
        yield server.command


@pytest.fixture
def unprivileged_cub(project: Path, home: Path, unprivileged_command: list[str]) -> Cub:
    """Run cub as somebody for whom file modes hold, in `project` unless `cwd` says otherwise."""

    def run(*arguments: str, cwd: Path = project) -> Result:
        words = [*unprivileged_command, *arguments]
        return run_program(words, cwd=cwd, environ=environment(home))

    return run
