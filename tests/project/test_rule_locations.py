"""Which paths are those of instruction files."""

from __future__ import annotations

import pytest

from cub.project.rule_locations import is_instruction_file
from cub.project.targets import TARGETS


@pytest.mark.parametrize(
    "path",
    [
        *(target.path for target in TARGETS),
        "pkg/AGENTS.md",
        "AGENTS.override.md",
        "CLAUDE.local.md",
        ".cursorrules",
        ".clinerules",
        ".clinerules/a.md",
        ".claude/rules/deep/a.md",
        "web/.cursor/rules/a.mdc",
        ".junie/guidelines.md",
    ],
)
def test_instruction_files_at_the_root_and_in_folders(path: str) -> None:
    assert is_instruction_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "MY-AGENTS.md",
        "AGENTS.md.orig",
        "AGENTS.md/notes.txt",
        ".cursor/rules/logo.png",
        ".claude/settings.json",
        ".junie/deep/a.md",
        "docs/copilot-instructions.md",
    ],
)
def test_other_files(path: str) -> None:
    assert not is_instruction_file(path)
