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


@pytest.mark.parametrize(
    ("page", "failing"),
    [
        ("tutorial.md", ["cub update"]),
        ("tutorial-run.md", ["cub run"]),
        ("tutorial-code.md", ["max-turns 1"]),
    ],
)
def test_every_command_does_what_the_tutorial_says(
    tmp_path: Path, home: Path, page: str, failing: list[str]
) -> None:
    (home / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    folder = tmp_path / "work"
    folder.mkdir()
    failed = follow(DOCS / page, folder, home, saving=page != "tutorial.md")
    assert [command.rpartition(" --")[2] for command in failed] == failing
