from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.files.journal import warn_pending_change
from tests.files.worlds import mend

VICTIM = b"precious"
COMMITTED = b'{"committed":true}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project, and beside it a folder of the user's."""
    for name in ("project/.cub", "home"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home" / "victim").write_bytes(VICTIM)
    (tmp_path / "project" / "payload").write_bytes(b"mine")
    return (tmp_path / "project").resolve()


@pytest.mark.parametrize("data", [b"", b"{", b'{"v": 1, "steps": [', b"\xff"])
def test_a_journal_that_was_torn_while_it_was_written_is_removed(root: Path, data: bytes) -> None:
    (root / ".cub/journal.jsonl").write_bytes(data)
    assert warn_pending_change(root)
    mend(root)
    assert [path.name for path in root.rglob("*")] == ["payload"]


@pytest.mark.parametrize("data", [b"\n", b"{\n", b"[]\n", b"null\n", b"\xff\n", b"\t\n"])
@pytest.mark.parametrize("end", [b"", COMMITTED])
def test_a_journal_that_says_nothing_is_set_aside(root: Path, data: bytes, end: bytes) -> None:
    (root / ".cub/journal.jsonl").write_bytes(data + end)
    assert warn_pending_change(root)
    mend(root)
    assert not warn_pending_change(root)
    [left] = (root / ".cub").iterdir()
    assert left.read_bytes() == data + end


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")
@pytest.mark.parametrize("kind", ["folder", "FIFO", "link"])
def test_a_journal_that_is_no_file_is_a_known_error(root: Path, kind: str) -> None:
    path = root / ".cub" / "journal.jsonl"
    if kind == "folder":
        path.mkdir()
    elif kind == "FIFO":
        os.mkfifo(path)
    else:
        path.symlink_to("../../home/victim")
    with pytest.raises(CubError) as error:
        mend(root)
    assert error.value.where == ".cub/journal.jsonl"
    assert (root.parent / "home" / "victim").read_bytes() == VICTIM
