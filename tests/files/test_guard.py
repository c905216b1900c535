from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError
from cub.files.disk import Disk
from tests.files.worlds import change, whole

OLD, NEW = b"old\n", b"new\n"
PLAN = Plan((FileEdit("a.md", OLD, NEW), FileEdit("b.md", None, NEW), FileEdit("c.md", OLD, None)))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a.md", "c.md"):
        (folder / name).write_bytes(OLD)
    return folder.resolve()


def edits(root: Path) -> dict[str, Callable[[], object]]:
    """What a person may do between planning and writing; the key is the file that it hits."""
    return {
        "a.md": lambda: (root / "a.md").write_bytes(b"theirs\n"),
        "a.md gone": (root / "a.md").unlink,
        "b.md": lambda: (root / "b.md").write_bytes(b"theirs\n"),
        "b.md empty": (root / "b.md").touch,
        "c.md": lambda: (root / "c.md").write_bytes(b"theirs\n"),
        "c.md gone": (root / "c.md").unlink,
    }


CASES = ["a.md", "a.md gone", "b.md", "b.md empty", "c.md", "c.md gone"]


@pytest.mark.parametrize("case", CASES)
def test_a_change_since_planning_stops_the_whole_plan(root: Path, case: str) -> None:
    edits(root)[case]()
    before = whole(root)
    with pytest.raises(CubError, match="changed since cub read it; nothing was written") as error:
        change(root, PLAN)
    assert error.value.where == case.split(maxsplit=1)[0]
    assert error.value.exit_code == 1
    assert whole(root) == before


@pytest.mark.parametrize("case", CASES)
def test_a_change_while_everything_is_prepared_stops_the_whole_plan(root: Path, case: str) -> None:
    left: list[Callable[[], object]] = [edits(root)[case]]

    def edit(step: str, path: Path) -> None:
        if step == "create" and path.name.startswith(".b.md.") and left:
            left.pop()()

    with pytest.raises(CubError, match="changed since cub read it"):
        change(root, PLAN, Disk(before=edit))
    assert not left
    assert not [name for name in whole(root) if name not in ("a.md", "b.md", "c.md")]
    assert all(entry.content != NEW for entry in whole(root).values())


@pytest.mark.skipif(sys.platform == "win32", reason="needs hard links")
@pytest.mark.parametrize(
    ("name", "linked"),
    [("a.md", False), ("a.md", True), ("c.md", False)],
    ids=["renamed", "overwritten", "deleted"],
)
def test_a_change_after_the_commit_stays_and_is_named(root: Path, name: str, linked: bool) -> None:
    if linked:
        os.link(root / name, root / "twin.md")
    writes = iter(["journal begun", "committed"])

    def edit(step: str, path: Path) -> None:
        if step == "fsync" and path.name == "journal.jsonl" and next(writes) == "committed":
            (root / name).write_bytes(b"theirs\n")

    with pytest.raises(CubError, match="changed while cub was writing: left as it is") as error:
        change(root, PLAN, Disk(before=edit))
    assert error.value.where == name
    assert (root / name).read_bytes() == b"theirs\n"
    assert (root / "b.md").read_bytes() == NEW
    assert not list(root.rglob("*.tmp"))
