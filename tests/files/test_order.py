from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.files.disks import steps
from tests.files.worlds import build, change

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs links")

JOURNAL = ".cub/journal.jsonl"


@pytest.fixture
def taken(tmp_path: Path) -> list[tuple[str, str]]:
    root = build(tmp_path / "project")
    done = steps(lambda disk: change(root, disk=disk))
    looks = ("try",)  # nothing is done by them
    return [(name, path.relative_to(root).as_posix()) for name, path in done if name not in looks]


def committed(taken: list[tuple[str, str]]) -> int:
    """Where the journal's second line is on disk."""
    return [n for n, step in enumerate(taken) if step == ("fsync", JOURNAL)][1]


def test_the_journal_is_on_disk_before_anything_else_begins(
    taken: list[tuple[str, str]],
) -> None:
    start = [("create", JOURNAL), ("write", JOURNAL), ("fsync", JOURNAL), ("fsync", ".cub")]
    assert taken[:4] == start


def test_every_temporary_file_is_on_disk_before_the_commit(
    taken: list[tuple[str, str]],
) -> None:
    before = taken[: committed(taken)]
    made = [path for name, path in before if name == "create" and path != JOURNAL]
    assert len(made) == 6
    assert all(("fsync", path) in before for path in made)


def test_the_names_of_temporary_files_and_new_folders_are_on_disk_too(
    taken: list[tuple[str, str]],
) -> None:
    before = taken[: committed(taken)]
    last = max(n for n, (name, _) in enumerate(before) if name in ("create", "mkdir"))
    assert {path for name, path in before[last:] if name == "fsync"} >= {
        ".",
        "new",
        "new/deep",
        "real",
    }


def test_no_file_of_the_user_is_touched_before_the_commit(taken: list[tuple[str, str]]) -> None:
    mine = {"made.md", "new/deep/AGENTS.md", "plain.md", "hard.md", "real/target.md", "gone.md"}
    assert not mine & {path for _, path in taken[: committed(taken)]}
    assert mine <= {path for _, path in taken[committed(taken) :]}


def test_files_are_overwritten_in_place_before_any_is_renamed_or_deleted(
    taken: list[tuple[str, str]],
) -> None:
    last = max(n for n, step in enumerate(taken) if step == ("fsync", "hard.md"))
    first = min(n for n, (name, _) in enumerate(taken) if name == "rename")
    assert last < first < taken.index(("set aside", "gone.md"))


def test_renames_are_on_disk_before_the_journal_goes(taken: list[tuple[str, str]]) -> None:
    gone = taken.index(("unlink", JOURNAL))
    synced = {path for name, path in taken[committed(taken) : gone] if name == "fsync"}
    assert {".", "new/deep", "real"} <= synced
    assert taken[gone + 1 :] == [("fsync", ".cub")]
