"""Reading files of a project that anybody may have made."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.edit.plan import FileEdit, Plan
from cub.errors import CubError
from cub.files.read_files import encode_path, find_regular_file, list_names, read_file, read_prefix
from cub.git.tracked_files import GitDiskTree
from tests.files.worlds import change, whole

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project, beside which there is a folder with a file."""
    (tmp_path / "project").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "theirs.md").write_bytes(b"secret")
    return (tmp_path / "project").resolve()


@pytest.mark.parametrize(
    "data", [b"", b"a\r\nb\rc\n", b"\xff\xfe\0", b"\xef\xbb\xbf", b"\x1a", b"x" * 5_000_000]
)
def test_bytes_are_read_as_they_are(root: Path, data: bytes) -> None:
    (root / "a.md").write_bytes(data)
    assert read_file(root, "a.md") == data


IMPOSSIBLE = [
    "a\0b",
    "\0/a.md",
    "x" * 300,
    f"{'x' * 300}/a.md",
    "a/" * 3000,
    "C:\\me\\a.md",
    "~me/a",
]


@pytest.mark.parametrize("path", ["a.md", "no/such/folder/a.md", "file/a.md", *IMPOSSIBLE])
def test_no_file_is_none_and_no_error(root: Path, path: str) -> None:
    (root / "file").write_bytes(b"")
    assert read_file(root, path) is None
    assert find_regular_file(root, path) is None
    assert list_names(root / path) == frozenset()
    tree = GitDiskTree(root)
    assert (tree.read(path), tree.find_missing(path), tree.get_identity(path)) == (None,) * 3
    assert not tree.has_folder(path)


@posix
def test_links_inside_the_project_are_followed(root: Path) -> None:
    (root / "real").mkdir()
    (root / "real" / "a.md").write_bytes(b"here")
    (root / "link.md").symlink_to("real/a.md")
    (root / "again.md").symlink_to(root / "link.md")
    (root / "alias").symlink_to("real")
    for path in ("link.md", "again.md", "alias/a.md"):
        assert read_file(root, path) == b"here"
        assert find_regular_file(root, path) == root / "real" / "a.md"


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder": (Path.mkdir, "this is a directory"),
    "FIFO": (os.mkfifo, "this is a FIFO"),
    "device": (lambda p: p.symlink_to("/dev/null"), "this leads out of the project"),
    "outside": (lambda p: p.symlink_to("../outside/theirs.md"), "leads out of the project"),
    "dangling": (
        lambda p: p.symlink_to("nowhere.md"),
        "points to nowhere.md, which does not exist",
    ),
    "dangling outside": (lambda p: p.symlink_to("../nowhere.md"), "does not exist"),
    "loop": (lambda p: p.symlink_to(p.name), "leads back to itself"),
    "link to a folder": (lambda p: p.symlink_to("."), "this is a directory"),
}


@posix
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_file_of_the_project_is_refused(root: Path, kind: str) -> None:
    make, message = REFUSED[kind]
    make(root / "AGENTS.md")
    with pytest.raises(CubError, match=message) as error:
        read_file(root, "AGENTS.md")
    assert error.value.where == "AGENTS.md"
    assert error.value.hint


@posix
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_file_of_the_project_is_not_written_either(root: Path, kind: str) -> None:
    REFUSED[kind][0](root / "AGENTS.md")
    before = whole(root.parent)
    with pytest.raises(CubError):
        change(root, Plan((FileEdit("b.md", None, b"new"), FileEdit("AGENTS.md", None, b"new"))))
    assert whole(root.parent) == before


@posix
@pytest.mark.parametrize("path", ["pkg/theirs.md", "pkg/new.md", "pkg/deeper/new.md"])
def test_a_folder_that_leads_out_of_the_project_is_refused(root: Path, path: str) -> None:
    (root / "pkg").symlink_to("../outside")
    with pytest.raises(CubError, match="leads out of the project") as error:
        read_file(root, path)
    assert error.value.where == path
    assert str(root.parent / "outside") in error.value.details[0]


@posix
def test_a_name_with_the_project_s_name_in_front_is_outside_too(root: Path) -> None:
    beside = root.with_name("project-2")
    beside.mkdir()
    (beside / "a.md").write_bytes(b"theirs")
    (root / "a.md").symlink_to(beside / "a.md")
    with pytest.raises(CubError, match="leads out of the project"):
        read_file(root, "a.md")


@posix
@pytest.mark.parametrize("target", [".git/config", ".git/hooks/new", "sub/.git/config", ".GIT/x"])
def test_a_link_into_git_s_own_folder_is_refused(root: Path, target: str) -> None:
    (root / target).parent.mkdir(parents=True)
    if not target.endswith("new"):
        (root / target).write_bytes(b"[core]\n")
    (root / "AGENTS.md").symlink_to(target)
    reason = "which does not exist" if target.endswith("new") else "into git's own directory"
    with pytest.raises(CubError, match=reason):
        read_file(root, "AGENTS.md")


@posix
def test_a_file_that_may_not_be_read_is_a_known_error(root: Path, unprivileged: list[str]) -> None:
    (root / "a.md").write_bytes(b"x")
    (root / "a.md").chmod(0)
    code = (
        "from pathlib import Path; from cub.files.read_files import read_file; "
        f"read_file(Path({str(root)!r}), 'a.md')"
    )
    done = subprocess.run(
        [*unprivileged, sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "CubError: a.md: cannot be read: permission denied" in done.stderr


@posix
def test_names_are_listed_as_the_disk_spells_them(root: Path) -> None:
    names = ["agents.md", "AGENTS.md.bak", "naïve.md"]
    for name in names:
        (root / name).touch()
    assert list_names(root) == frozenset(names)


def test_no_folder_has_no_names(root: Path) -> None:
    (root / "file").touch()
    assert list_names(root / "nowhere") == list_names(root / "file") == frozenset()


def test_no_more_than_the_start_is_read(tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_bytes(b"0123456789")
    assert read_prefix(str(tmp_path), "a b.py", 4) == b"0123"
    assert read_prefix(str(tmp_path), "a b.py", 400) == b"0123456789"


@posix
@pytest.mark.parametrize("name", ["ü", "x\udcff", "a\nb", "日本"])
def test_a_name_is_bytes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"1")
    assert read_prefix(str(tmp_path), name, 1) == b"1"
    assert encode_path("/p", name) == b"/p/" + name.encode("utf-8", "surrogateescape")


@posix
def test_what_is_no_file_is_an_error_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "device").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "fifo")
    for name in ("folder", "link", "loop", "device", "fifo", "nothing", "file/x"):
        with pytest.raises(OSError, match=r"\S"):
            read_prefix(str(tmp_path), name, 10)


@posix
def test_no_file_stays_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - numbers, no paths
    for _ in range(5):
        with pytest.raises(OSError, match="no regular file"):
            read_prefix(str(tmp_path), "fifo", 10)
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208
