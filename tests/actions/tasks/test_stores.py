"""Both stores under one command: what one of them refuses, and who writes at the same time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from cub.actions.tasks.stores import Stores
from cub.actions.tasks.transitions import claim_task, close_tasks, reopen_tasks
from cub.errors import CubError
from cub.files.disk import Disk
from cub.store.backend import JsonlBackend
from cub.store.ledger import Ledger
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.actions.tasks.bakery import added, events, opened, record, statuses, stored
from tests.actions.tasks.workers import many_edits, one_claim, reads, work_when_told
from tests.conftest import environment
from tests.files.disks import refuse
from tests.forked import ForkedFunction

PROCESSES = 8


def full(stores: Stores, *, tasks: bool = False, ledger: bool = False) -> Stores:
    """The same stores on a disk without room for one of them."""
    disk = Disk(before=lambda _, path: refuse(path))
    if tasks:
        stores = replace(stores, backend=JsonlBackend(stores.root, disk))
    return replace(stores, ledger=Ledger(stores.root, disk=disk)) if ledger else stores


@pytest.mark.parametrize("name", [TASKS_FILE, LEDGER_FILE])
def test_a_read_only_file_stops_a_change_before_either_is_written(project: Path, name: str) -> None:
    key = added(project)
    claim_task(opened(project), key)
    (project / name).chmod(0o444)
    before = stored(project)
    with pytest.raises(CubError, match="this file is read-only; nothing was written") as error:
        close_tasks(opened(project), [key], None)
    assert (error.value.where, stored(project)) == (name, before)


def test_a_full_disk_stops_a_change_before_either_is_written(project: Path) -> None:
    key = added(project)
    claim_task(opened(project), key)
    before = stored(project)
    with pytest.raises(CubError, match="no space left on device") as error:
        close_tasks(full(opened(project), tasks=True), [key], None)
    assert (error.value.where, stored(project)) == (TASKS_FILE, before)


def test_a_ledger_that_has_no_room_is_told_and_costs_no_task(project: Path) -> None:
    key = added(project)
    outcome = close_tasks(full(opened(project), ledger=True), [key], None)
    (warning,) = outcome.warnings
    assert (warning.path, statuses(project, key)) == (LEDGER_FILE, ["closed"])
    assert warning.message == (
        "the tasks were changed, but the ledger could not be written: cannot be written: "
        "no space left on device"
    )
    assert events(project) == []
    reopen_tasks(opened(project), [key])
    assert [event["status"] for event in events(project)] == ["open"]


def run(root: Path, work: Callable[[str], str]) -> list[ForkedFunction]:
    """Processes that all begin when they are told to, with a reader among them."""
    works = [partial(work, str(number)) for number in range(PROCESSES)]
    started = [
        ForkedFunction(partial(work_when_told, one), environment(root))
        for one in [*works, partial(reads, root)]
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    return started


def ended(started: list[ForkedFunction]) -> list[str]:
    """What each writer said last; the reader is told to stop when they have ended."""
    *writers, reader = started
    said = [writer.communicate() for writer in writers]
    seen = reader.communicate("stop\n")
    assert [err for _, err in (*said, seen)] == [""] * len(started)
    assert [process.returncode for process in started] == [0] * len(started)
    assert int(seen[0]) > 0
    return [out.strip() for out, _ in said]


def test_of_eight_who_claim_one_task_one_gets_it(project: Path) -> None:
    key = added(project)
    said = ended(run(project, partial(one_claim, project, key)))
    (winner,) = (word.removeprefix("got it ") for word in said if word.startswith("got it "))
    refused = f"{key} is claimed by {winner} until "
    assert sum(word.startswith(refused) for word in said) == PROCESSES - 1
    assert record(project, key)["assignee"] == winner
    assert [event["by"] for event in events(project)] == [winner]


@pytest.mark.parametrize("updates", [5, pytest.param(24, marks=pytest.mark.thorough)])
def test_many_writers_lose_nothing_and_a_reader_sees_whole_tasks(
    project: Path, updates: int
) -> None:
    shared = added(project, "Shared")
    edits = partial(many_edits, project, shared, times=updates)
    assert ended(run(project, edits)) == ["done"] * PROCESSES
    found = record(project, shared)
    assert found["rev"] == 1 + PROCESSES * updates
    assert len(found["notes"].splitlines()) == PROCESSES * updates
    assert {line.split()[1] for line in found["notes"].splitlines()} == {
        f"worker-{number}:" for number in range(PROCESSES)
    }
    lines = (project / TASKS_FILE).read_bytes().splitlines()
    assert len({json.loads(line)["id"] for line in lines}) == len(lines) == 1 + PROCESSES
    assert all(record(project, json.loads(line)["id"])["rev"] > updates for line in lines)
    assert len(events(project)) == PROCESSES * updates
