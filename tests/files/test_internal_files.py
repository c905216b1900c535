"""Caches are put in place whole, stay out of git, and leave nothing behind when that fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.files.internal_files import replace_file, write_now
from tests.conftest import git, tree


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "a.json"
    for chunks in ([b"1", b"2"], [b"3"], []):
        replace_file(path, chunks)
        assert path.read_bytes() == b"".join(chunks)
        assert sorted(tree(tmp_path)) == ["cache/.gitignore", "cache/a.json"]


def test_git_does_not_see_a_new_folder_of_them(project: Path) -> None:
    replace_file(project / "deep" / "cache" / "a.json", [b"{}"])
    assert git(project, "status", "--porcelain") == ""


def test_a_folder_that_is_there_gets_nothing_else(tmp_path: Path) -> None:
    replace_file(tmp_path / "a.json", [b"{}"])
    assert sorted(tree(tmp_path)) == ["a.json"]


def test_nothing_is_left_where_the_bytes_cannot_be_made(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise KeyError("the rest")

    (tmp_path / "a.json").write_bytes(b"old")
    with pytest.raises(KeyError):
        replace_file(tmp_path / "a.json", broken())
    assert tree(tmp_path) == {"a.json": b"old"}


def test_nothing_is_left_where_the_place_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.json" / "b").mkdir(parents=True)
    with pytest.raises(OSError, match=r"a\.json"):
        replace_file(tmp_path / "a.json", [b"{}"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"text")
    (tmp_path / "a.json").symlink_to(theirs)
    replace_file(tmp_path / "a.json", [b"{}"])
    assert (theirs.read_bytes(), (tmp_path / "a.json").is_symlink()) == (b"text", False)


def test_at_once_is_now() -> None:
    done: list[int] = []
    write_now(lambda: done.append(1))
    assert done == [1]
