"""Fixtures of the command line's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.cli.app import run
from tests.conftest import Cub, Result, environment
from tests.files.conftest import unprivileged

__all__ = ["cub_here", "unprivileged"]


@pytest.fixture
def cub_here(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cub:
    """Run cub in this very process, in `project`: a hundred times as fast as one of its own.

    Nobody sits at its stdin.
    """
    for name in os.environ:
        if name.startswith(("CUB_", "XDG_CONFIG")):
            monkeypatch.delenv(name)
    for name, value in environment(home).items():
        monkeypatch.setenv(name, value)

    def call(*arguments: str, cwd: Path = project, **env: str) -> Result:
        capsys.readouterr()
        with pytest.MonkeyPatch.context() as now:
            for name, value in env.items():
                now.setenv(name, value)
            code = run(["-C", str(cwd), *arguments])
        shown = capsys.readouterr()
        return Result(code, shown.out, shown.err)

    return call
