"""Prettier and markdownlint, the real ones: a section stays current whatever they change."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Cub, git

TOOLS = os.environ.get("CUB_NODE_TOOLS", "")
FORMATTERS = {
    "prettier": ("prettier", "--write", "--ignore-path", "/dev/null", "."),
    "prettier at 50": (
        *("prettier", "--write", "--prose-wrap", "always", "--print-width", "50"),
        *("--ignore-path", "/dev/null", "."),
    ),
    "markdownlint": ("markdownlint-cli2", "--fix", "**/*.md", ".cub/**/*.md"),
}
THEIRS = b"Bakery\n===\n\n* Be kind.\n* Count  in _dozens_.\n\n1) one\n2) two\n"
ALL_TARGETS = "AGENTS.md,CLAUDE.md,GEMINI.md,.github/copilot-instructions.md,.cursor/rules/cub.mdc"

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not TOOLS, reason="CUB_NODE_TOOLS names no folder with prettier and markdownlint-cli2"
    ),
]


def run(name: str, project: Path) -> None:
    command, *arguments = FORMATTERS[name]
    subprocess.run(
        [Path(TOOLS, command), *arguments],
        cwd=project,
        capture_output=True,
        check=name.startswith("prettier"),  # markdownlint also fails for what it can't mend
    )


@pytest.mark.parametrize(
    "names",
    [("prettier",), ("markdownlint",), ("prettier", "markdownlint"), ("prettier at 50",)],
)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_a_formatter_s_pass_is_neither_an_edit_nor_stale(
    project: Path, cub: Cub, names: tuple[str, ...], newline: bytes
) -> None:
    agents = project / "AGENTS.md"
    agents.write_bytes(THEIRS.replace(b"\n", newline))
    (project / "packages" / "api").mkdir(parents=True)
    assert cub("init", "--targets", ALL_TARGETS, "packages/api").code == 0
    git(project, "add", "-A")
    before = agents.read_bytes()
    for name in names:
        run(name, project)
    assert agents.read_bytes() != before
    checked = cub("update", "--check")
    assert (checked.code, checked.out) == (0, ""), checked.err
    assert "stale" not in cub("status").out
    assert "edited" not in cub("status").out
    assert cub("update").out == ""
