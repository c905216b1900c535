"""The tutorials, typed in from the first command to the last."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, follow

# Runs and `cub demo` start many processes.
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        shutil.which("bash") is None, reason="the tutorials are written for a shell"
    ),
]


def test_every_command_does_what_the_tutorial_says(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    assert follow(DOCS / "tutorial.md", folder, home) == ["cub update"]


def test_every_command_of_the_first_run_does_what_the_tutorial_says(
    tmp_path: Path, home: Path
) -> None:
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    folder = tmp_path / "work"
    folder.mkdir()
    assert follow(DOCS / "tutorial-run.md", folder, home, saving=True) == ["cub run"]


def test_every_command_of_the_hour_with_cub_code_does_what_the_tutorial_says(
    tmp_path: Path, home: Path
) -> None:
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    folder = tmp_path / "work"
    folder.mkdir()
    failed = follow(DOCS / "tutorial-code.md", folder, home, saving=True)
    assert [command.rpartition(" --")[2] for command in failed] == ["max-turns 1"]
