"""What the guard of an attempt knows of tasks that others change at the same moment."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from cub.actions.run.folders import RunFolder
from cub.actions.run.guard import Guard
from cub.actions.tasks.status import claim, close, reopen
from cub.actions.tasks.stores import open_stores
from cub.files import Listener, listening
from cub.files.disk import Disk
from cub.project.project import Project
from cub.store.file_backend import FileBackend
from cub.store.place import LEDGER, TASKS
from tests.actions.run.shop import Shop


def test_a_task_that_is_being_closed_as_an_attempt_begins_stays_closed(bakery: Shop) -> None:
    """The change was recorded, but not yet in the tasks: it passed for an agent's, by hand."""
    bakery.task("s-1")
    bakery.task("s-2")
    folder = RunFolder(bakery.root, "r-1")
    folder.write({"ended": False})
    guards, goes_on = list[Guard](), threading.Event()

    def begin() -> None:
        # Either it has looked already, or it waits for the lock and says so.
        heard = Listener(lambda _: None, lambda _: goes_on.set())
        try:
            with listening(heard):
                guards.append(Guard.over(bakery.root, folder.state))
        finally:
            goes_on.set()

    beginning = threading.Thread(target=begin)

    def before(step: str, path: Path) -> None:
        if step == "rename" and path.name == Path(TASKS).name:
            beginning.start()
            goes_on.wait()

    stores = open_stores(Project.load(bakery.root), "ida")
    close(replace(stores, backend=FileBackend(stores.root, Disk(before))), ["s-2"], "done")
    beginning.join()
    with stores.backend.change() as change:
        assert guards[0].restore_tasks(change, "s-1", stores.now) == []
    assert bakery.status("s-2") == "closed"


def guard_bakery(bakery: Shop) -> Guard:
    """The guard of an attempt at s-1, beside which there is s-2; commands record for its run."""
    bakery.task("s-1")
    bakery.task("s-2")
    folder = RunFolder(bakery.root, "r-1")
    folder.write({"ended": False})
    return Guard.over(bakery.root, folder.state)


def restore_tasks(bakery: Shop, guard: Guard) -> list[str]:
    stores = open_stores(Project.load(bakery.root), "ida")
    with stores.backend.change() as change:
        return guard.restore_tasks(change, "s-1", stores.now)


def test_a_status_that_was_written_by_hand_is_taken_back(bakery: Shop) -> None:
    guard = guard_bakery(bakery)
    tasks = bakery.root / TASKS
    tasks.write_text(tasks.read_text().replace('"open"', '"closed"'))
    said = "the task s-2 was made closed by hand: it is not so any more"
    assert restore_tasks(bakery, guard) == [said]
    assert bakery.status("s-2") == "open"


def test_a_task_that_was_taken_away_is_back(bakery: Shop) -> None:
    guard = guard_bakery(bakery)
    before = bakery.tasks().record("s-2")
    first, _ = (bakery.root / TASKS).read_text().splitlines(keepends=True)
    (bakery.root / TASKS).write_text(first)
    assert restore_tasks(bakery, guard) == ["the task s-2 was taken away, and is back"]
    assert bakery.tasks().record("s-2") == before


def test_a_file_of_the_folder_that_is_gone_is_back(bakery: Shop) -> None:
    notes = bakery.write(".cub/notes.txt", "mine\n")
    guard = guard_bakery(bakery)
    assert guard.restore_files() == []
    notes.unlink()
    assert guard.restore_files() == [".cub/notes.txt"]
    assert notes.read_text() == "mine\n"


def test_the_ledger_has_the_lines_that_it_had_and_those_that_came(bakery: Shop) -> None:
    ledger = bakery.write(LEDGER, '{"ev":"a"}\n{"ev":"b"}\n')
    guard = guard_bakery(bakery)
    ledger.write_text('{"ev":"a"}\n{"ev":"c"}\n')
    assert guard.restore_files() == [LEDGER]
    assert ledger.read_text() == '{"ev":"a"}\n{"ev":"b"}\n{"ev":"c"}\n'


def test_a_task_is_claimed_until_a_command_gives_it_away(bakery: Shop) -> None:
    guard = guard_bakery(bakery)
    stores = open_stores(Project.load(bakery.root), "ida")
    assert guard.is_claimed("s-1", "ida")
    claim(stores, "s-1")
    assert guard.is_claimed("s-1", "ida")
    assert not guard.is_claimed("s-1", "ben")
    reopen(stores, ["s-1"])
    assert not guard.is_claimed("s-1", "ida")
