from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.map.touched import base_of, later, touched
from tests.conftest import git

BEFORE = """\
import os

class A:
    x = 1

    def b(self):
        return 1

    def c(self):
        return 2

def d():
    return 3
"""


def commit(project: Path, text: str, path: str = "a.py") -> str:
    (project / path).write_text(text)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "x")
    return git(project, "rev-parse", "HEAD").strip()


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return 1", "return 4", {"A", "b"}),
        ("x = 1", "x = 2", {"A"}),
        ("def c(self)", "def c(self, e)", {"A", "c"}),
        ("        return 2\n", "        e = 1\n        return 2\n", {"A", "c"}),
        ("def d()", "def e():\n    return 4\n\ndef d()", set()),
        ("    return 3\n", "    return 3\n    return 4\n", {"d"}),
        ("import os", "import sys", set()),
        ("def d():\n    return 3\n", "", {"d"}),
    ],
)
def test_a_hunk_touches_what_it_lies_in(project: Path, old: str, new: str, names: set[str]) -> None:
    commit(project, BEFORE)
    assert touched(project, commit(project, BEFORE.replace(old, new)), ["a.py"]) == names


def test_later_commits_count_if_they_touch_a_symbol_of_the_source(project: Path) -> None:
    commit(project, BEFORE)
    base = commit(project, "x\n", "README.md")
    commit(project, BEFORE.replace("import os", "import sys"))
    commit(project, "def test(): ...\n", "test_a.py")
    commit(project, BEFORE.replace("return 3", "return 5"))
    assert later(project, base) == [["d"]]


def test_the_base_is_a_first_parent_with_half_of_the_history_before_it(project: Path) -> None:
    commits = [commit(project, BEFORE + f"y = {number}\n") for number in range(6)]
    assert base_of(project) == commits[2]
