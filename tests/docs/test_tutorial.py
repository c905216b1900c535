"""The tutorial, typed in from its first command to its last."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, follow


@pytest.mark.skipif(shutil.which("bash") is None, reason="the tutorial is written for a shell")
def test_every_command_does_what_the_tutorial_says(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    assert follow(DOCS / "tutorial.md", folder, home) == ["cub update"]
