"""What the guard of an attempt knows of tasks that others change at the same moment.

`.cub` put back as it was, where something of another kind stands in its place.
"""

from __future__ import annotations

import shutil
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from cub.actions.run.cub_folder_backup import (
    CubFolderBackup,
    RestoredModes,
    read_entry_modes,
    restore_entry_modes,
)
from cub.actions.run.run_folders import RunFolder
from cub.actions.tasks.stores import open_stores
from cub.actions.tasks.transitions import claim_task, close_tasks, reopen_tasks
from cub.files import MessageSink, use_message_sink
from cub.files.disk import Disk
from cub.project.project import Project
from cub.store.backend import JsonlBackend
from cub.store.store_paths import LEDGER_FILE, TASKS_FILE
from tests.actions.run.shop import Shop


def test_a_task_that_is_being_closed_as_an_attempt_begins_stays_closed(bakery: Shop) -> None:
    """The change was recorded, but not yet in the tasks: it passed for an agent's, by hand."""
    bakery.task("s-1")
    bakery.task("s-2")
    folder = RunFolder(bakery.root, "r-1")
    folder.write_run_facts({"ended": False})
    guards, goes_on = list[CubFolderBackup](), threading.Event()

    def begin() -> None:
        # Either it has looked already, or it waits for the lock and says so.
        heard = MessageSink(lambda _: None, lambda _: goes_on.set())
        try:
            with use_message_sink(heard):
                guards.append(CubFolderBackup.take(bakery.root, folder.state))
        finally:
            goes_on.set()

    beginning = threading.Thread(target=begin)

    def before(step: str, path: Path) -> None:
        if step == "rename" and path.name == Path(TASKS_FILE).name:
            beginning.start()
            goes_on.wait()

    stores = open_stores(Project.load(bakery.root), "ida")
    close_tasks(replace(stores, backend=JsonlBackend(stores.root, Disk(before))), ["s-2"], "done")
    beginning.join()
    with stores.backend.transaction() as change:
        assert guards[0].restore_tasks(change, "s-1", stores.timestamp) == []
    assert bakery.status("s-2") == "closed"


def guard_bakery(bakery: Shop) -> CubFolderBackup:
    """The guard of an attempt at s-1, beside which there is s-2; commands record for its run."""
    bakery.task("s-1")
    bakery.task("s-2")
    folder = RunFolder(bakery.root, "r-1")
    folder.write_run_facts({"ended": False})
    return CubFolderBackup.take(bakery.root, folder.state)


def restore_tasks(bakery: Shop, guard: CubFolderBackup) -> list[str]:
    stores = open_stores(Project.load(bakery.root), "ida")
    with stores.backend.transaction() as change:
        return guard.restore_tasks(change, "s-1", stores.timestamp)


def test_a_status_that_was_written_by_hand_is_taken_back(bakery: Shop) -> None:
    guard = guard_bakery(bakery)
    tasks = bakery.root / TASKS_FILE
    tasks.write_text(tasks.read_text().replace('"open"', '"closed"'))
    said = "the task s-2 was set to closed outside of a run: that is undone"
    assert restore_tasks(bakery, guard) == [said]
    assert bakery.status("s-2") == "open"


def test_a_task_that_was_taken_away_is_back(bakery: Shop) -> None:
    guard = guard_bakery(bakery)
    before = bakery.tasks().read_record("s-2")
    first, _ = (bakery.root / TASKS_FILE).read_text().splitlines(keepends=True)
    (bakery.root / TASKS_FILE).write_text(first)
    assert restore_tasks(bakery, guard) == ["the task s-2 was removed, and is restored"]
    assert bakery.tasks().read_record("s-2") == before


def test_a_file_of_the_folder_that_is_gone_is_back(bakery: Shop) -> None:
    notes = bakery.write(".cub/notes.txt", "mine\n")
    guard = guard_bakery(bakery)
    assert guard.restore_files() == []
    notes.unlink()
    assert guard.restore_files() == [".cub/notes.txt"]
    assert notes.read_text() == "mine\n"


def test_the_ledger_has_the_lines_that_it_had_and_those_that_came(bakery: Shop) -> None:
    ledger = bakery.write(LEDGER_FILE, '{"ev":"a"}\n{"ev":"b"}\n')
    guard = guard_bakery(bakery)
    ledger.write_text('{"ev":"a"}\n{"ev":"c"}\n')
    assert guard.restore_files() == [LEDGER_FILE]
    assert ledger.read_text() == '{"ev":"a"}\n{"ev":"b"}\n{"ev":"c"}\n'


def test_a_task_is_claimed_until_a_command_gives_it_away(bakery: Shop) -> None:
    guard = guard_bakery(bakery)
    stores = open_stores(Project.load(bakery.root), "ida")
    assert guard.is_still_claimed("s-1", "ida")
    claim_task(stores, "s-1")
    assert guard.is_still_claimed("s-1", "ida")
    assert not guard.is_still_claimed("s-1", "ben")
    reopen_tasks(stores, ["s-1"])
    assert not guard.is_still_claimed("s-1", "ida")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / ".cub"
    folder.mkdir(mode=0o755)
    (folder / "map.md").write_text("map")
    (folder / "map.md").chmod(0o640)
    (folder / "half.tmp").touch()
    return tmp_path


def _rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_as_it_was_is_left_alone(root: Path) -> None:
    before = read_entry_modes(root)
    assert [*before] == [".cub", ".cub/map.md"]
    assert restore_entry_modes(root, before) == RestoredModes([], [])


def test_rights_are_given_back(root: Path) -> None:
    before = read_entry_modes(root)
    (root / ".cub/map.md").chmod(0o666)
    (root / ".cub").chmod(0o777)
    assert restore_entry_modes(root, before) == RestoredModes([], [".cub", ".cub/map.md"])
    assert (_rights(root / ".cub"), _rights(root / ".cub/map.md")) == (0o755, 0o640)


def test_a_link_in_the_place_of_the_folder_goes_and_nothing_that_it_leads_to(root: Path) -> None:
    before, elsewhere = read_entry_modes(root), root / "elsewhere"
    (root / ".cub").rename(elsewhere)
    (root / ".cub").symlink_to(elsewhere)
    assert restore_entry_modes(root, before).replacements == [
        ".cub was replaced with a symbolic link"
    ]
    assert [*(root / ".cub").iterdir()] == []
    assert not (root / ".cub").is_symlink()
    assert (elsewhere / "map.md").read_text() == "map"
    assert sorted(path.name for path in root.iterdir()) == [".cub", "elsewhere"]


def test_a_file_in_the_place_of_the_folder_gets_another_name(root: Path) -> None:
    before = read_entry_modes(root)
    shutil.rmtree(root / ".cub")
    (root / ".cub").write_text("mine")
    assert restore_entry_modes(root, before).replacements == [".cub was replaced with a file"]
    aside = next(root.glob(".cub.replaced-*"))
    assert aside.read_text() == "mine"
    assert (root / ".cub").is_dir()
