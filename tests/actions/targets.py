"""The five targets of the root, and looking at what became of them."""

from __future__ import annotations

from pathlib import Path

from cub.edit.plan import Plan
from cub.project.targets import TARGETS
from tests.actions.helpers import write
from tests.conftest import tree

AGENTS, CLAUDE, GEMINI, COPILOT, CURSOR = ALL = tuple(row.path for row in TARGETS)
SHARED = "Work in tasks:"


def written(root: Path, files: dict[str, bytes]) -> None:
    """Put `files` there, byte for byte."""
    for path, data in files.items():
        write(root, path, "").write_bytes(data)


def warned(plan: Plan) -> list[tuple[str, str]]:
    """The path and the words of each warning."""
    return [(warning.path, warning.message) for warning in plan.warnings]


def left(root: Path) -> dict[str, bytes]:
    """What `remove` leaves, without what it leaves in any case."""
    files = tree(root)
    files.pop(".cub/constitution.md")
    files.pop(".cub/config.yaml", None)
    return files
