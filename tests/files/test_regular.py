"""Reading files of a project that anybody may have made."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cub.files.regular import place, read_start

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs and links")


def test_no_more_than_the_start_is_read(tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_bytes(b"0123456789")
    assert read_start(str(tmp_path), "a b.py", 4) == b"0123"
    assert read_start(str(tmp_path), "a b.py", 400) == b"0123456789"


@posix
@pytest.mark.parametrize("name", ["ü", "x\udcff", "a\nb", "日本"])
def test_a_name_is_bytes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"1")
    assert read_start(str(tmp_path), name, 1) == b"1"
    assert place("/p", name) == b"/p/" + name.encode("utf-8", "surrogateescape")


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
            read_start(str(tmp_path), name, 10)


@posix
def test_no_file_stays_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - numbers, no paths
    for _ in range(5):
        with pytest.raises(OSError, match="no regular file"):
            read_start(str(tmp_path), "fifo", 10)
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208
