from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.store.change import changed
from cub.store.file_backend import FileBackend, serialized
from cub.store.jsonl import Record, encode
from cub.store.place import REJECTED, TASKS
from cub.store.tasks import Tasks
from tests.cli.standing import stand
from tests.conftest import tree
from tests.store.records import day, task
from tests.store.stores import (
    BROKEN,
    ODD,
    OLD,
    build,
    edit,
    loaded,
    names,
    put,
    rejected,
    set_in,
    stored,
)


def test_a_change_writes_only_what_changed_sorted_by_id(scratch: Path) -> None:
    root = build(scratch / "p")
    edit(root)
    first, second, *others = stored(root).splitlines()
    assert first == encode(changed(task("a-1"), {"title": "new"}, day(2)))
    assert second == encode(task("aa"))
    assert others == [ODD, encode(task("c-3"))]
    assert stored(root).endswith(b"\n")


def test_a_change_that_changes_nothing_writes_nothing(scratch: Path) -> None:
    root = build(scratch / "p")
    before = tree(root)
    put(root, [])
    put(root, [loaded(root)["b-2"]])
    assert stored(root) == OLD
    assert {**tree(root), REJECTED: b""} == {**before, REJECTED: b""}


def test_an_error_in_the_block_writes_nothing(scratch: Path) -> None:
    root = build(scratch / "p")
    before = tree(root)

    def records() -> Iterator[Record]:
        yield task("new")
        raise KeyError("missing")

    with pytest.raises(KeyError):
        put(root, records())
    assert tree(root) == before


def test_what_was_put_is_seen_in_the_block(scratch: Path) -> None:
    with FileBackend(build(scratch / "p")).change() as change:
        change.put(task("new", parent="c-3"))
        assert change.tasks.record("new") == task("new", parent="c-3")
        assert [row.id for row in change.tasks.children("c-3")] == ["new"]


def test_the_first_tasks_are_prepared_for(tmp_path: Path) -> None:
    root, calls = tmp_path.resolve(), []
    backend = FileBackend(root, prepare=lambda _: calls.append(names(root)))
    assert len(backend.read()) == 0
    with backend.change():
        pass
    assert (names(root), calls) == (set(), [])
    for number in range(2):
        with backend.change() as change:
            change.put(task(f"t-{number}"))
    assert calls == [{".cub/lock"}]
    assert names(root) == {TASKS}


def test_a_change_keeps_rejected_lines_once(scratch: Path) -> None:
    root = build(scratch / "p", OLD + b"\n" + BROKEN[0] + b"\n")
    edit(root)
    assert rejected(root) == BROKEN
    assert FileBackend(root).read().rejected == []
    (root / TASKS).write_bytes(stored(root) + BROKEN[1] + b"\nanother")
    set_in(root, "aa", {"x": 1})
    assert rejected(root) == [*BROKEN, b"another"]


def test_a_reader_leaves_rejected_lines_where_they_are(scratch: Path) -> None:
    root = build(scratch / "p")
    before = stand(root)
    assert len(FileBackend(root).read().rejected) == 3
    assert stand(root) == before


def test_a_change_that_changes_nothing_moves_no_line(scratch: Path) -> None:
    root = build(scratch / "p")
    put(root, [])
    assert (rejected(root), stored(root)) == ([], OLD)


def test_doubled_lines_become_one_when_something_is_written(scratch: Path) -> None:
    base = task("a-1")
    two = [changed(base, {"title": "x"}, day(2)), changed(base, {"notes": "y"}, day(3))]
    root = build(scratch / "p", b"\n".join(map(encode, [*two, task("b-2")])))
    put(root, [])
    assert len(stored(root).splitlines()) == 3
    set_in(root, "b-2", {"x": 1})
    assert len(stored(root).splitlines()) == 2
    assert (loaded(root)["a-1"]["title"], loaded(root)["a-1"]["notes"]) == ("x", "y")


def test_a_read_only_file_stays_as_it_is(scratch: Path) -> None:
    root = build(scratch / "p")
    (root / TASKS).chmod(0o444)
    with pytest.raises(CubError, match="read-only"):
        edit(root)
    assert stored(root) == OLD
    assert names(root) <= {TASKS, REJECTED}


def test_a_read_only_file_of_rejected_lines_stops_a_change_but_no_reader(scratch: Path) -> None:
    root = build(scratch / "p")
    (root / REJECTED).write_bytes(b"x\n")
    (root / REJECTED).chmod(0o444)
    assert len(FileBackend(root).read()) == 3
    with pytest.raises(CubError, match="read-only") as error:
        edit(root)
    assert error.value.where == REJECTED
    assert stored(root) == OLD


@pytest.mark.skipif(os.name == "nt", reason="needs links and modes")
def test_links_and_modes_stay(scratch: Path) -> None:
    root = build(scratch / "p")
    real = root / "elsewhere.jsonl"
    (root / TASKS).rename(real)
    real.chmod(0o640)
    (root / TASKS).symlink_to("../elsewhere.jsonl")
    (root / ".elsewhere.jsonl.cub-0011.tmp").write_bytes(b"left by one that was killed")
    edit(root)
    assert (root / TASKS).is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "aa" in loaded(root)
    assert names(root) == {TASKS, REJECTED, "elsewhere.jsonl"}


def test_a_folder_in_the_place_of_the_file_is_an_error(scratch: Path) -> None:
    root = scratch.resolve()
    (root / TASKS).mkdir(parents=True)
    with pytest.raises(CubError, match="this is a folder"):
        FileBackend(root).read()


def test_the_commands_that_close_a_task_name_it() -> None:
    assert all("t-1" in line for line in FileBackend(Path()).closing("t-1"))


def test_a_store_of_several_megabytes_is_written_whole() -> None:
    lines = [encode(task(f"a-{n}", description="x" * 400_000)) + b"\n" for n in range(8)]
    assert b"".join(serialized(Tasks.parse(b"".join(lines)))) == b"".join(lines)
