from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.map.quality import BUDGET, rows_of
from tests.benchmarks.map.repositories import Repository
from tests.conftest import git

NAMES = [f"Shape{letter}" for letter in "ABCDEFGHIJKL"]


@pytest.mark.thorough
def test_a_small_repository_is_named_whole_by_every_map(project: Path, tmp_path: Path) -> None:
    text = "".join(f"class {name}:\n    size = 0\n\n" for name in NAMES)
    (project / "README.md").write_text(" ".join(f"`{name}`" for name in NAMES))
    for number in range(4):
        (project / "shapes.py").write_text(text.replace("size = 0", f"size = {number}", 1))
        git(project, "add", "-A")
        git(project, "commit", "-q", "-m", "x")
    there = {"shapes": Repository("shapes", project / ".git", history=True)}
    (found,) = rows_of(["shapes"], there, tmp_path)
    assert not found.dev
    for who in ("map", "random", "largest files", "in-degree", "most imported"):
        assert found.made[who, BUDGET].score.top == (1.0, 1.0)
        assert found.made[who, BUDGET].score.hit == 1.0
        assert found.made[who, BUDGET].tokens <= BUDGET
