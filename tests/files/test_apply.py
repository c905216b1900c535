from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.files.apply import apply_plan
from cub.files.lock import lock_project
from tests.files.worlds import PLAN, build, change, whole

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes and links")

BYTES = [
    b"",
    b"a",
    b"a\r\nb\nc\rd",
    b"\0",
    b"\xef\xbb\xbfx\xff\xfe\x80",
    b"\x1a\x04\x0c\xc2\x85\xe2\x80\xa8",
    bytes(range(256)) * 9000,
]


def write(root: Path, *edits: FileEdit) -> None:
    change(root, Plan(edits))


@pytest.mark.parametrize("data", BYTES)
@pytest.mark.parametrize("before", [None, b"", b"old\r\n"])
def test_every_byte_is_written_as_planned(root: Path, before: bytes | None, data: bytes) -> None:
    if before is not None:
        (root / "a.md").write_bytes(before)
    write(root, FileEdit("a.md", before, data))
    assert (root / "a.md").read_bytes() == data
    assert list(whole(root)) == ["a.md"]


@posix
def test_a_plan_over_every_kind_of_file_is_carried_out_whole(tmp_path: Path) -> None:
    root = build(tmp_path / "project")
    change(root)
    written = {edit.path: edit.after for edit in PLAN.edits}
    found = {path: (root / path).read_bytes() for path in written if (root / path).exists()}
    assert found == {path: data for path, data in written.items() if data is not None}
    names = "hard.md link.md made.md new new/deep new/deep/AGENTS.md plain.md real real/target.md"
    assert set(whole(root)) == {*names.split(), "run.sh", "twin.md"}


@posix
def test_both_names_of_a_hard_link_get_the_new_bytes_in_the_old_inode(tmp_path: Path) -> None:
    root = build(tmp_path / "project")
    inode = (root / "hard.md").stat().st_ino
    change(root)
    assert (root / "hard.md").stat().st_ino == (root / "twin.md").stat().st_ino == inode
    assert (
        (root / "twin.md").read_bytes() == (root / "hard.md").read_bytes() == b"new\r\nbytes\0\xff"
    )


@posix
def test_a_hard_link_may_grow_and_shrink(root: Path) -> None:
    (root / "a.md").write_bytes(b"four")
    os.link(root / "a.md", root / "b.md")
    for before, after in [(b"four", b"x" * 9000), (b"x" * 9000, b""), (b"", b"1")]:
        write(root, FileEdit("a.md", before, after))
        assert (root / "b.md").read_bytes() == after


@posix
def test_a_symbolic_link_is_followed_and_kept(tmp_path: Path) -> None:
    root = build(tmp_path / "project")
    change(root)
    assert (root / "link.md").readlink() == Path("real/target.md")
    assert (root / "real/target.md").read_bytes() == b"new\r\nbytes\0\xff"


@posix
def test_a_file_below_a_linked_folder_is_written_where_it_is(root: Path) -> None:
    (root / "real").mkdir()
    (root / "alias").symlink_to("real")
    write(root, FileEdit("alias/AGENTS.md", None, b"new"))
    assert (root / "real" / "AGENTS.md").read_bytes() == b"new"
    assert (root / "alias").is_symlink()


def test_an_empty_plan_touches_nothing(root: Path) -> None:
    with lock_project(root) as held:
        before = (root / ".cub").stat().st_mtime_ns
        apply_plan(Plan(), held)
        assert (root / ".cub").stat().st_mtime_ns == before


def test_deletions_in_dot_cub_take_their_empty_folders_along(root: Path) -> None:
    for name in (".cub/backups/old/a.md", "pkg/AGENTS.md"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(b"x")
    write(
        root, FileEdit(".cub/backups/old/a.md", b"x", None), FileEdit("pkg/AGENTS.md", b"x", None)
    )
    assert list(whole(root)) == ["pkg"]  # a folder of the user's stays, however empty


def test_a_folder_in_dot_cub_that_is_not_empty_stays(root: Path) -> None:
    (root / ".cub/backups").mkdir(parents=True)
    for name in ("a.md", "b.md"):
        (root / ".cub/backups" / name).write_bytes(b"x")
    write(root, FileEdit(".cub/backups/a.md", b"x", None))
    assert list(whole(root)) == [".cub", ".cub/backups", ".cub/backups/b.md"]
