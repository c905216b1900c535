"""The reference of contexts, typed in from its first command to its last."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, follow, typed

RULES = r"printf '# Bakery\n\nBread is counted in dozens.\n' > AGENTS.md"
pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None, reason="the page is written for a shell"
)


def test_every_command_does_what_the_page_says(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "bakery"
    folder.mkdir()
    before = ["git init -q -b main", RULES, "mkdir -p .agents/rules .agents/tasks"]
    assert [done.code for done in typed(before, folder, home)] == [0, 0, 0]
    assert follow(DOCS / "reference" / "context.md", folder, home, saving=True) == []
