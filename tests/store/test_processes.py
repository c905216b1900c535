from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from cub.store.backend import JsonlBackend
from cub.store.store_paths import TASKS_FILE
from tests.conftest import environment
from tests.forked import ForkedFunction
from tests.store.records import task
from tests.store.stores import loaded, names, put
from tests.store.writer import count_endlessly, count_often

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
WRITERS, KILLS = 8, 4


def start(root: Path, work: Callable[[Path], object]) -> ForkedFunction:
    return ForkedFunction(lambda: work(root), environment(root))


@pytest.mark.parametrize("times", [8, pytest.param(25, marks=pytest.mark.thorough)])
def test_many_writers_lose_nothing_and_a_reader_sees_whole_files(scratch: Path, times: int) -> None:
    root = scratch.resolve()
    put(root, [task("shared", count=0)])
    names_ = [f"w{number}" for number in range(WRITERS)]
    writers = [start(root, partial(count_often, name=name, times=times)) for name in names_]
    seen = []
    while any(one.poll() is None for one in writers):
        tasks = JsonlBackend(root).read_tasks()
        assert (tasks.rejected_lines, tasks.duplicate_ids, tasks.renamed_tasks) == ([], [], [])
        seen.append(tasks.read_record("shared")["count"])
    assert [one.communicate()[1] for one in writers] == [""] * WRITERS
    assert [one.returncode for one in writers] == [0] * WRITERS
    assert seen == sorted(seen)
    found = loaded(root)
    assert found["shared"]["count"] == WRITERS * times
    assert [found[f"w{number}"]["count"] for number in range(WRITERS)] == [times] * WRITERS
    assert len(found) == 1 + WRITERS * (times + 1)
    assert names(root) == {TASKS_FILE}


def test_a_killed_writer_loses_nothing_that_was_written(scratch: Path) -> None:
    root, before = scratch.resolve(), 0
    for number in range(KILLS):
        process = start(root, partial(count_endlessly, name=f"w{number}"))
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
    assert names(root) == {TASKS_FILE}
