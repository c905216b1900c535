from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import run_program
from tests.conftest import environment
from tests.files import mounted_file, small_disk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs mount namespaces")


def lines_of(may_mount: list[str], script: str | None, folder: Path) -> list[str]:
    """What a script prints that may mount."""
    words = [*may_mount, sys.executable, str(script), str(folder)]
    done = run_program(words, cwd=folder.parent, environ=environment(folder.parent))
    assert done.code == 0, done.err
    return done.out.splitlines()


def test_a_full_disk_is_an_error_that_changes_nothing(tmp_path: Path, may_mount: list[str]) -> None:
    runs = [json.loads(line) for line in lines_of(may_mount, small_disk.__file__, tmp_path)]
    failed = [run for run in runs if run["code"] != 0]
    assert len(failed) > 3
    for run in failed:
        assert run["code"] == 1, run
        assert run["same"], run
        assert not run["err"].startswith("error: .: "), run
        assert "no space left on device" in run["err"], run
        assert "hint: free some disk space; nothing was changed" in run["err"], run
    codes = [run["code"] for run in runs]
    assert codes == sorted(codes, reverse=True)
    assert (runs[-1]["code"], runs[-1]["same"]) == (0, False)


def test_a_file_that_is_a_mount_point_is_written_or_nothing_is(
    tmp_path: Path, may_mount: list[str]
) -> None:
    (tmp_path / "project").mkdir()
    (line,) = lines_of(may_mount, mounted_file.__file__, tmp_path / "project")
    run = json.loads(line)
    assert run["left"] == []
    assert (run["code"], run["same"]) in ((0, False), (1, True))


_REPLACE = """
import sys
from pathlib import Path
from cub.files.single_file import replace_single_file
replace_single_file(Path(sys.argv[1]), b"old", b"new", "file")
"""


def test_a_single_file_that_is_a_mount_point_is_overwritten(
    tmp_path: Path, may_mount: list[str]
) -> None:
    (tmp_path / "other").write_bytes(b"old")
    (tmp_path / "file").touch()
    words = 'mount --bind other file && exec "$0" -c "$1" file'
    subprocess.run(
        [*may_mount, "sh", "-c", words, sys.executable, _REPLACE],
        cwd=tmp_path,
        env=environment(tmp_path),
        check=True,
    )
    assert (tmp_path / "other").read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "other"]
