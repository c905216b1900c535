"""What a killed cub was writing is removed by the next command, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cub.files.internal_files import replace_file
from cub.files.lock import lock_project
from cub.files.single_file import replace_single_file
from cub.files.temporary_files import make_temp_path, open_temp_file, remove_stale_temps
from tests.conftest import Cub

DEAD = ".a.json.cub-99999999-0011aabb.tmp"
ALIVE = f".a.json.cub-{os.getpid()}-0011aabb.tmp"
OTHERS = [
    "a.tmp",
    ".a.json.tmp",
    ".a.cub-1.tmp",
    ".a.json.cub-x-0011aabb.tmp",
    ".a.md.cub-0011aabb.tmp",
]


def fill(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"half of i")


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name.endswith(".tmp")}


def test_only_files_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    huge = DEAD.replace("99999999", "9" * 30)
    fill(tmp_path, DEAD, huge, ALIVE, *OTHERS, ".map.json.abcd_123.tmp")
    (tmp_path / DEAD.replace("00", "ff")).mkdir()
    remove_stale_temps(tmp_path)
    kept = {ALIVE, DEAD.replace("00", "ff"), *OTHERS, ".map.json.abcd_123.tmp"}
    assert left(tmp_path) == kept
    os.utime(tmp_path / ALIVE, (1, 1))  # its number was given to another process
    remove_stale_temps(tmp_path)
    assert left(tmp_path) == kept - {ALIVE}
    remove_stale_temps(tmp_path / "nowhere")


def test_names_are_known_again_and_as_short_as_a_disk_asks(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 255)
    handle, temp = open_temp_file(target)
    os.close(handle)
    assert temp.parent == tmp_path
    assert os.name == "nt" or temp.stat().st_mode & 0o777 == 0o600
    assert make_temp_path(target) != temp
    temp.rename(temp.with_name(temp.name.replace(f"-{os.getpid()}-", "-99999999-")))
    remove_stale_temps(tmp_path)
    assert left(tmp_path) == set()


def test_the_lock_removes_what_killed_commands_left(tmp_path: Path) -> None:
    of_journal = ".config.yaml.cub-0011aabb.tmp"
    fill(tmp_path / ".cub", DEAD, ALIVE, of_journal)
    fill(tmp_path / ".cub" / "cache", DEAD)
    with lock_project(tmp_path.resolve()):
        assert left(tmp_path / ".cub") == {ALIVE, of_journal}
        assert left(tmp_path / ".cub" / "cache") == set()


@pytest.mark.parametrize("words", ["status", "task list", "task add x", "update --check"])
def test_the_next_command_removes_what_a_killed_one_left(
    project: Path, cub: Cub, words: str
) -> None:
    fill(project / ".cub", DEAD)
    fill(project / ".cub" / "cache", DEAD)
    cub(*words.split())
    assert left(project / ".cub") == left(project / ".cub" / "cache") == set()


def test_a_write_removes_what_an_earlier_one_left_beside_it(tmp_path: Path) -> None:
    fill(tmp_path, DEAD)
    replace_single_file(tmp_path / "a.json", None, b"new", "a.json")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    fill(tmp_path, DEAD)
    replace_file(tmp_path / "a.json", [b"newer"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
