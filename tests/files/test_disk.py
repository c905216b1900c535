from __future__ import annotations

from pathlib import Path

import pytest

from cub.files.disk import Disk


def test_a_new_file_never_takes_the_place_of_one_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"theirs, and longer\n")
    with pytest.raises(FileExistsError):
        Disk().create(path, b"new\n")
    assert path.read_bytes() == b"theirs, and longer\n"
