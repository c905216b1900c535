from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files.disk import Disk
from cub.files.single_file import read_single_file, replace_single_file


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_gets_its_folders(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "c.yaml"
    assert read_single_file(file, "~/c.yaml") is None
    replace_single_file(file, None, b"new\r\n", "~/c.yaml")
    assert read_single_file(file, "~/c.yaml") == b"new\r\n"
    assert listing(file.parent) == ["c.yaml"]


@pytest.mark.skipif(os.name == "nt", reason="needs modes and links")
def test_mode_and_link_stay(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real, link = tmp_path / "dotfiles" / "c.yaml", tmp_path / "c.yaml"
    real.write_bytes(b"old")
    real.chmod(0o600)
    link.symlink_to("dotfiles/c.yaml")
    replace_single_file(link, b"old", b"new", "c.yaml")
    assert link.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"new", 0o600)
    assert listing(real.parent) == ["c.yaml"]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(b"theirs")
    for before in (b"old", None):
        with pytest.raises(CubError, match="changed since") as caught:
            replace_single_file(file, before, b"new", "~/c.yaml")
        assert caught.value.where == "~/c.yaml"
    assert (file.read_bytes(), listing(tmp_path)) == (b"theirs", ["c.yaml"])


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(b"old")
    file.chmod(0o400)
    with pytest.raises(CubError, match="read-only"):
        replace_single_file(file, b"old", b"new", "~/c.yaml")
    assert (file.read_bytes(), listing(tmp_path)) == (b"old", ["c.yaml"])


@pytest.mark.parametrize("step", ["create", "write", "fsync", "rename"])
def test_a_disk_that_refuses_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, step: str
) -> None:
    def refuse(operation: str, path: Path) -> None:
        if operation == step:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

    file = tmp_path / "c.yaml"
    file.write_bytes(b"old")
    with pytest.raises(CubError, match="cannot be written: no space left") as caught:
        replace_single_file(file, b"old", b"new", "~/c.yaml", Disk(refuse))
    assert caught.value.where == "~/c.yaml"
    assert (file.read_bytes(), listing(tmp_path)) == (b"old", ["c.yaml"])


@pytest.mark.parametrize("code", [errno.EBUSY, errno.EXDEV])
def test_a_file_that_can_t_be_renamed_over_is_overwritten(tmp_path: Path, code: int) -> None:
    def refuse(operation: str, path: Path) -> None:
        if operation == "rename":
            raise OSError(code, os.strerror(code), str(path))

    file = tmp_path / "c.yaml"
    file.write_bytes(b"old and long")
    inode = file.stat().st_ino
    replace_single_file(file, b"old and long", [b"new"], "~/c.yaml", Disk(refuse))
    assert (file.read_bytes(), listing(tmp_path)) == (b"new", ["c.yaml"])
    assert file.stat().st_ino == inode


def test_an_overwrite_that_fails_is_taken_back(tmp_path: Path) -> None:
    writes: list[Path] = []

    def refuse(operation: str, path: Path) -> None:
        if operation == "rename":
            raise OSError(errno.EBUSY, "Device or resource busy", str(path))
        if operation == "write" and path == file:
            writes.append(path)
            if len(writes) == 2:
                raise OSError(errno.ENOSPC, "No space left on device", str(path))

    file = tmp_path / "c.yaml"
    file.write_bytes(b"old")
    with pytest.raises(CubError, match="no space left"):
        replace_single_file(file, b"old", b"newer", "~/c.yaml", Disk(refuse, chunk=2))
    assert (file.read_bytes(), listing(tmp_path)) == (b"old", ["c.yaml"])


def test_a_folder_in_its_place_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").mkdir()
    with pytest.raises(CubError, match="this is a directory") as caught:
        read_single_file(tmp_path / "c.yaml", "~/c.yaml")
    assert caught.value.where == "~/c.yaml"


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").symlink_to("c.yaml")
    with pytest.raises(CubError) as caught:
        read_single_file(tmp_path / "c.yaml", "~/c.yaml")
    assert caught.value.where == "~/c.yaml"


@pytest.mark.parametrize("place", [0, 1 << 20, -1])
def test_a_large_file_that_changed_by_one_byte_is_left_alone(tmp_path: Path, place: int) -> None:
    file = tmp_path / "tasks.jsonl"
    before = bytearray(b"x" * ((2 << 20) + 7))
    after = bytearray(before)
    after[place] = 0
    for now in (bytes(after), bytes(before + b"x"), bytes(before[:-1])):
        file.write_bytes(now)
        with pytest.raises(CubError, match="changed since"):
            replace_single_file(file, bytes(before), b"new", "tasks.jsonl")
        assert file.read_bytes() == now
    file.write_bytes(before)
    replace_single_file(file, bytes(before), b"new", "tasks.jsonl")
    assert file.read_bytes() == b"new"
