"""A disk that refuses, or a process that dies, at each step of a change."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.store.backend import JsonlBackend
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from tests.files.disks import WHOLE, die, in_child, interrupt, refuse, steps, stopping
from tests.store.records import task
from tests.store.stores import BROKEN, OLD, build, edit, loaded, names, put, rejected, stored

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
chunks = pytest.mark.parametrize("chunk", [WHOLE, 40], ids=["whole writes", "torn writes"])


def calm(folder: Path, chunk: int) -> tuple[bytes, list[str]]:
    """The file after a change at which nothing happens, and the steps of it."""
    root = build(folder / "calm")
    taken = steps(lambda disk: edit(root, disk), chunk)
    return stored(root), [f"{name} {path.name[:13]}" for name, path in taken]


def works_again(root: Path) -> None:
    """The next change does its work and leaves nothing of the last one."""
    put(root, [task("later")])
    assert {"a-1", "b-2", "c-3", "later"} <= loaded(root).keys()
    assert names(root) == {TASKS_FILE, REJECTED_FILE}


@chunks
@pytest.mark.parametrize(("stop", "kind"), [(refuse, CubError), (interrupt, KeyboardInterrupt)])
def test_an_error_at_any_step_leaves_the_old_file(
    scratch: Path, chunk: int, stop: Callable[[Path], None], kind: type[BaseException]
) -> None:
    new, names_of_steps = calm(scratch, chunk)
    for number, step in enumerate(names_of_steps, 1):
        root = build(scratch / str(number))
        # Behind the renaming, nothing but the folder is left to be synced: the file is written.
        written = number == len(names_of_steps)
        with nullcontext() if written and kind is CubError else pytest.raises(kind):
            edit(root, stopping({number: stop}, chunk))
        assert stored(root) == (new if written else OLD), step
        if kind is CubError:
            assert names(root) <= {TASKS_FILE, REJECTED_FILE}, step
            assert rejected(root) in ([], BROKEN), step
        works_again(root)
        assert [line for line in rejected(root) if line in BROKEN] == BROKEN, step


def test_a_disk_that_refuses_the_first_tasks_leaves_no_file(scratch: Path) -> None:
    def first(root: Path, number: int) -> None:
        put(root, [task()], stopping({number: refuse}, chunk=40))

    for number in range(1, 5):
        root = (scratch / str(number)).resolve()
        root.mkdir()
        with pytest.raises(CubError, match="no space left"):
            first(root, number)
        assert names(root) == set(), number


def test_a_disk_that_is_full_for_good_leaves_the_old_file(scratch: Path) -> None:
    _, names_of_steps = calm(scratch, 40)
    for number in range(1, len(names_of_steps)):
        root = build(scratch / str(number))
        with pytest.raises(CubError):
            edit(root, stopping(dict.fromkeys(range(number, 1000), refuse), 40))
        assert stored(root) == OLD
        works_again(root)


@needs_fork
@chunks
def test_a_death_at_any_step_leaves_the_old_file_or_the_new(scratch: Path, chunk: int) -> None:
    new, names_of_steps = calm(scratch, chunk)
    ends = []
    for number, step in enumerate(names_of_steps, 1):
        root = build(scratch / str(number))
        assert in_child(lambda: edit(root, stopping({number: die}, chunk))) == 9  # noqa: B023
        assert stored(root) in (OLD, new), step
        ends.append(stored(root) == new)
        JsonlBackend(root).read_tasks()
        works_again(root)
        assert set(BROKEN) <= set(rejected(root)), step
    assert ends == sorted(ends)
    assert (ends[0], ends[-1]) == (False, True)
