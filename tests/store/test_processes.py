from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cub.store.file_backend import FileBackend
from cub.store.place import TASKS
from tests.conftest import environment
from tests.store import writer
from tests.store.records import task
from tests.store.stores import loaded, names, put

WRITERS, TIMES, KILLS = 8, 25, 4


def start(root: Path, name: str, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, writer.__file__, str(root), name, str(TIMES), *more]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=environment(root), stdout=pipe, stderr=pipe, text=True, encoding="utf-8"
    )


def test_many_writers_lose_nothing_and_a_reader_sees_whole_files(scratch: Path) -> None:
    root = scratch.resolve()
    put(root, [task("shared", count=0)])
    writers = [start(root, f"w{number}") for number in range(WRITERS)]
    seen = []
    while any(one.poll() is None for one in writers):
        tasks = FileBackend(root).read()
        assert (tasks.rejected, tasks.doubled, tasks.taken) == ([], [], [])
        seen.append(tasks.record("shared")["count"])
    assert [one.communicate()[1] for one in writers] == [""] * WRITERS
    assert [one.returncode for one in writers] == [0] * WRITERS
    assert seen == sorted(seen)
    found = loaded(root)
    assert found["shared"]["count"] == WRITERS * TIMES
    assert [found[f"w{number}"]["count"] for number in range(WRITERS)] == [TIMES] * WRITERS
    assert len(found) == 1 + WRITERS * (TIMES + 1)
    assert names(root) == {TASKS}


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_writer_loses_nothing_that_was_written(scratch: Path) -> None:
    root, before = scratch.resolve(), 0
    for number in range(KILLS):
        process = start(root, f"w{number}", "endless")
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(2 + number)]
        process.kill()
        told += process.stdout.readlines()
        process.communicate()
        found = loaded(root)
        counted = found[f"w{number}"]["count"]
        assert int(told[-1]) <= counted <= int(told[-1]) + 1
        assert found["shared"]["count"] == before + counted
        assert len([key for key in found if key.startswith(f"w{number}.")]) == counted
        before += counted
    put(root, [task("last")])
    assert names(root) == {TASKS}
