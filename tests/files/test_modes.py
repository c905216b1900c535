from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError
from cub.files.disk import Disk
from tests.files.worlds import change

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755, 0o666, 0o700])
@pytest.mark.parametrize("linked", [False, True], ids=["renamed", "overwritten"])
def test_a_file_keeps_its_mode(root: Path, mode: int, linked: bool) -> None:
    (root / "a.md").write_bytes(b"old")
    (root / "a.md").chmod(mode)
    if linked:
        os.link(root / "a.md", root / "b.md")
    change(root, Plan((FileEdit("a.md", b"old", b"new"),)))
    assert stat.S_IMODE((root / "a.md").stat().st_mode) == mode


def test_what_is_private_is_never_in_a_file_that_others_may_read(root: Path) -> None:
    (root / "a.md").write_bytes(b"old")
    (root / "a.md").chmod(0o600)
    modes: set[int] = set()

    def look(step: str, path: Path) -> None:
        if step == "write" and path.suffix == ".tmp":
            modes.add(stat.S_IMODE(path.stat().st_mode))

    change(root, Plan((FileEdit("a.md", b"old", b"new"),)), Disk(before=look))
    assert modes == {0o600}


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o002])
def test_a_new_file_and_a_new_folder_obey_the_umask(root: Path, umask: int) -> None:
    former = os.umask(umask)
    try:
        change(root, Plan((FileEdit("pkg/a.md", None, b"new"),)))
    finally:
        os.umask(former)
    assert stat.S_IMODE((root / "pkg" / "a.md").stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE((root / "pkg").stat().st_mode) == 0o777 & ~umask


@pytest.mark.parametrize(
    ("before", "is_executable", "after"),
    [(0o644, True, 0o755), (0o640, True, 0o750), (0o755, False, 0o644), (0o700, False, 0o600)],
)
@pytest.mark.parametrize("data", [b"old", b"new"], ids=["mode", "both"])
def test_a_plan_may_change_the_mode(
    root: Path, before: int, is_executable: bool, after: int, data: bytes
) -> None:
    (root / "a.sh").write_bytes(b"old")
    (root / "a.sh").chmod(before)
    change(root, Plan((FileEdit("a.sh", b"old", data, is_executable=is_executable),)))
    assert stat.S_IMODE((root / "a.sh").stat().st_mode) == after
    assert (root / "a.sh").read_bytes() == data


def test_a_new_program_may_be_executed_by_who_may_read_it(root: Path) -> None:
    former = os.umask(0o027)
    try:
        change(root, Plan((FileEdit("a.sh", None, b"new", is_executable=True),)))
    finally:
        os.umask(former)
    assert stat.S_IMODE((root / "a.sh").stat().st_mode) == 0o750


def test_the_mode_of_a_file_with_two_names_is_not_changed(root: Path) -> None:
    (root / "a.sh").write_bytes(b"old")
    os.link(root / "a.sh", root / "b.sh")
    with pytest.raises(CubError, match="mode can't be changed"):
        change(root, Plan((FileEdit("a.sh", b"old", b"new", is_executable=True),)))
    assert (root / "b.sh").read_bytes() == b"old"
