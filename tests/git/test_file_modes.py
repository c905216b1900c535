from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from cub.git.file_modes import FileModes, make_folders_readable
from cub.git.restore_snapshot import restore_snapshot, restore_snapshot_modes
from cub.git.restore_untracked import restore_untracked
from cub.git.snapshot import Snapshot, list_changes
from cub.git.take_snapshot import take_snapshot
from tests.conftest import git
from tests.git.checkouts import checkout, write


@pytest.fixture
def top(furnished_project: Path) -> Path:
    git(furnished_project, "checkout", "-q", "dirty.txt")
    (furnished_project / "a.txt").chmod(0o600)
    (furnished_project / "sub/deep").chmod(0o700)
    return furnished_project


def modes(top: Path) -> dict[str, int]:
    """The permission bits of files and folders but for those in `.git` and of links."""
    found = {".": stat.S_IMODE(top.lstat().st_mode)}
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*names, *folders):
            path = Path(folder) / name
            if not path.is_symlink():
                found[str(path.relative_to(top))] = stat.S_IMODE(path.lstat().st_mode)
    return found


def test_they_are_noted_as_what_is_usual_and_what_is_not(top: Path) -> None:
    for path in top.glob("*.txt"):
        path.chmod(0o664)
    (top / "a.txt").chmod(0o600)
    found = take_snapshot(checkout(top)).file_modes
    assert found is not None
    assert (found.program_mode, found.folder_mode) == (0o755, 0o755)
    assert found.exceptions["a.txt"] == 0o600
    assert found.exceptions["sub/deep"] == 0o700
    assert len(found.exceptions) < 8


def test_they_outlive_the_process(top: Path) -> None:
    before = take_snapshot(checkout(top))
    assert Snapshot.from_json(json.loads(json.dumps(before.to_json()))) == before
    assert Snapshot("", "", "", file_modes=FileModes()).file_modes == FileModes(
        None, None, None, {}
    )


@pytest.mark.parametrize("paths", [["a.txt"], ["run.sh"], ["sub"], ["."], ["mine.txt", "own"]])
@pytest.mark.parametrize("mode", [0, 0o777, 0o4755])
def test_they_are_put_back(top: Path, paths: list[str], mode: int) -> None:
    ours = checkout(top)
    before, then = take_snapshot(ours), modes(top)
    for path in paths:
        (top / path).chmod(mode)
    restore_snapshot_modes(ours, before, exactly=False)
    restore_untracked(ours, before, top.parent / "p")
    uses = {path for path, was in then.items() if (modes(top)[path] ^ was) & 0o111}
    assert uses <= {"a.txt"}
    if mode == 0:
        assert not uses
    now = take_snapshot(ours, before)
    restore_snapshot(ours, before, now)
    assert modes(top) == then


def test_whether_a_file_is_a_program_is_a_change_like_any_other(top: Path) -> None:
    ours = checkout(top)
    before = take_snapshot(ours)
    (top / "a.txt").chmod(0o777)
    (top / "run.sh").chmod(0o666)
    assert sorted(restore_snapshot_modes(ours, before, exactly=False)) == ["a.txt", "run.sh"]
    assert (modes(top)["a.txt"], modes(top)["run.sh"]) == (0o700, 0o644)
    names = [change.path for change in list_changes(ours, before, take_snapshot(ours, before))]
    assert names == ["a.txt", "run.sh"]
    assert restore_snapshot_modes(ours, before, exactly=False) == []


def test_files_that_were_made_anew_get_them_too(top: Path) -> None:
    ours = checkout(top)
    before, then = take_snapshot(ours), modes(top)
    shutil.rmtree(top / "sub")
    (top / "a.txt").unlink()
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert modes(top) == then


def test_no_link_is_followed(top: Path) -> None:
    outside = top.parent / "outside"
    write(outside, {"b.txt": "x", "deep/c.txt": "x"})
    (outside / "b.txt").chmod(0o606)
    (outside / "deep").chmod(0o711)
    ours = checkout(top)
    before, there = take_snapshot(ours), modes(outside)
    shutil.rmtree(top / "sub")
    (top / "sub").symlink_to(outside)
    (top / "a.txt").unlink()
    (top / "a.txt").symlink_to(outside / "b.txt")
    assert restore_snapshot_modes(ours, before, exactly=False) == []
    assert modes(outside) == there
    restore_snapshot(ours, before, take_snapshot(ours, before))
    assert modes(outside) == there


def test_folders_that_can_not_be_looked_into_are_opened(top: Path) -> None:
    ours = checkout(top, "apart/")
    write(top, {"new/deep/f": "x", "apart/f": "x"})
    (top / "linked").symlink_to(top / "sub")
    for path in ("new/deep", "new", "apart", "sub"):
        (top / path).chmod(0)
    assert make_folders_readable(ours, ["new", "apart", "linked", "gone"])
    assert {path: modes(top)[path] for path in ("new", "new/deep", "apart", "sub")} == {
        "new": 0o700,
        "new/deep": 0o700,
        "apart": 0,
        "sub": 0,
    }
