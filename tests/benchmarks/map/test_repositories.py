from __future__ import annotations

import subprocess
from pathlib import Path

from tests.benchmarks.map.prepare import prepared, texts
from tests.benchmarks.map.repositories import LANGUAGE, Repository, halves, present
from tests.conftest import git


def test_every_repository_is_in_one_half() -> None:
    dev, held = halves()
    assert sorted([*dev, *held]) == sorted(LANGUAGE)


def test_checkouts_and_git_directories_are_found_by_name(tmp_path: Path) -> None:
    for place in ("someone+One/repo", "two.git"):
        subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / place)], check=True)
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "a.py").write_text("")
    (tmp_path / "empty").mkdir()
    found = present(tmp_path)
    assert {name: one.history for name, one in found.items()} == {
        "one": True,
        "two": True,
        "three": False,
    }


def test_a_history_is_checked_out_at_its_base(project: Path, tmp_path: Path) -> None:
    for number in range(4):
        (project / "a.py").write_text(f"def a():\n    return {number}\n")
        git(project, "add", "-A")
        git(project, "commit", "-q", "-m", "x")
    there = Repository("x", project / ".git", history=True)
    found = prepared("x", {"x": there}, tmp_path)
    assert found is not None
    assert texts(found.root) == {"a.py": "def a():\n    return 1\n"}
    assert found.touched == [["a"], ["a"]]
