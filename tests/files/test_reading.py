from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cub.edit.plan import Edit, Plan
from cub.errors import CubError
from cub.files import names_in, read
from cub.files.reading import locate
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
    assert read(root, "a.md") == data


@pytest.mark.parametrize("path", ["a.md", "no/such/folder/a.md", "file/a.md"])
def test_no_file_is_none_and_no_error(root: Path, path: str) -> None:
    (root / "file").write_bytes(b"")
    assert read(root, path) is None
    assert locate(root, path) is None


@posix
def test_links_inside_the_project_are_followed(root: Path) -> None:
    (root / "real").mkdir()
    (root / "real" / "a.md").write_bytes(b"here")
    (root / "link.md").symlink_to("real/a.md")
    (root / "again.md").symlink_to(root / "link.md")
    (root / "alias").symlink_to("real")
    for path in ("link.md", "again.md", "alias/a.md"):
        assert read(root, path) == b"here"
        assert locate(root, path) == root / "real" / "a.md"


def _fifo(path: Path) -> None:
    os.mkfifo(path)


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder": (Path.mkdir, "this is a folder"),
    "FIFO": (_fifo, "this is a FIFO"),
    "device": (lambda p: p.symlink_to("/dev/null"), "this leads out of the project"),
    "outside": (lambda p: p.symlink_to("../outside/theirs.md"), "leads out of the project"),
    "dangling": (
        lambda p: p.symlink_to("nowhere.md"),
        "points to nowhere.md, which does not exist",
    ),
    "dangling outside": (lambda p: p.symlink_to("../nowhere.md"), "does not exist"),
    "loop": (lambda p: p.symlink_to(p.name), "leads back to itself"),
    "link to a folder": (lambda p: p.symlink_to("."), "this is a folder"),
}


@posix
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_file_of_the_project_is_refused(root: Path, kind: str) -> None:
    make, message = REFUSED[kind]
    make(root / "AGENTS.md")
    with pytest.raises(CubError, match=message) as error:
        read(root, "AGENTS.md")
    assert error.value.where == "AGENTS.md"
    assert error.value.hint


@posix
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_file_of_the_project_is_not_written_either(root: Path, kind: str) -> None:
    REFUSED[kind][0](root / "AGENTS.md")
    before = whole(root.parent)
    with pytest.raises(CubError):
        change(root, Plan((Edit("b.md", None, b"new"), Edit("AGENTS.md", None, b"new"))))
    assert whole(root.parent) == before


@posix
@pytest.mark.parametrize("path", ["pkg/theirs.md", "pkg/new.md", "pkg/deeper/new.md"])
def test_a_folder_that_leads_out_of_the_project_is_refused(root: Path, path: str) -> None:
    (root / "pkg").symlink_to("../outside")
    with pytest.raises(CubError, match="leads out of the project") as error:
        read(root, path)
    assert error.value.where == path
    assert str(root.parent / "outside") in error.value.details[0]


@posix
def test_a_name_with_the_project_s_name_in_front_is_outside_too(root: Path) -> None:
    beside = root.with_name("project-2")
    beside.mkdir()
    (beside / "a.md").write_bytes(b"theirs")
    (root / "a.md").symlink_to(beside / "a.md")
    with pytest.raises(CubError, match="leads out of the project"):
        read(root, "a.md")


@posix
def test_a_file_that_may_not_be_read_is_a_known_error(root: Path, unprivileged: list[str]) -> None:
    (root / "a.md").write_bytes(b"x")
    (root / "a.md").chmod(0)
    code = (
        f"from pathlib import Path; from cub.files import read; read(Path({str(root)!r}), 'a.md')"
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
    assert names_in(root) == frozenset(names)


def test_no_folder_has_no_names(root: Path) -> None:
    (root / "file").touch()
    assert names_in(root / "nowhere") == names_in(root / "file") == frozenset()
