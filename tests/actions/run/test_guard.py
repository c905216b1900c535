"""What the guard of an attempt knows of tasks that others change at the same moment."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from cub.actions.run.folders import RunFolder
from cub.actions.run.guard import Guard
from cub.actions.tasks.status import close
from cub.actions.tasks.stores import open_stores
from cub.files import Listener, listening
from cub.files.disk import Disk
from cub.project.project import Project
from cub.store.file_backend import FileBackend
from cub.store.place import TASKS
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
