from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.store.backend import JsonlBackend, serialize_tasks
from cub.store.jsonl import Record, encode_record
from cub.store.record_merge import update_record
from cub.store.store_paths import REJECTED_FILE, TASKS_FILE
from cub.store.task_index import TaskIndex
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
    assert first == encode_record(update_record(task("a-1"), {"title": "new"}, day(2)))
    assert second == encode_record(task("aa"))
    assert others == [ODD, encode_record(task("c-3"))]
    assert stored(root).endswith(b"\n")


def test_a_change_that_changes_nothing_writes_nothing(scratch: Path) -> None:
    root = build(scratch / "p")
    before = tree(root)
    put(root, [])
    put(root, [loaded(root)["b-2"]])
    assert stored(root) == OLD
    assert {**tree(root), REJECTED_FILE: b""} == {**before, REJECTED_FILE: b""}


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
    with JsonlBackend(build(scratch / "p")).transaction() as change:
        change.put_record(task("new", parent="c-3"))
        assert change.tasks.read_record("new") == task("new", parent="c-3")
        assert [row.id for row in change.tasks.list_children("c-3")] == ["new"]


def test_the_first_tasks_are_prepared_for(tmp_path: Path) -> None:
    root, calls = tmp_path.resolve(), []
    backend = JsonlBackend(root, before_first_write=lambda _: calls.append(names(root)))
    assert len(backend.read_tasks()) == 0
    with backend.transaction():
        pass
    assert (names(root), calls) == (set(), [])
    for number in range(2):
        with backend.transaction() as change:
            change.put_record(task(f"t-{number}"))
    assert calls == [{".cub/lock"}]
    assert names(root) == {TASKS_FILE}


def test_a_change_keeps_rejected_lines_once(scratch: Path) -> None:
    root = build(scratch / "p", OLD + b"\n" + BROKEN[0] + b"\n")
    edit(root)
    assert rejected(root) == BROKEN
    assert JsonlBackend(root).read_tasks().rejected_lines == []
    (root / TASKS_FILE).write_bytes(stored(root) + BROKEN[1] + b"\nanother")
    set_in(root, "aa", {"x": 1})
    assert rejected(root) == [*BROKEN, b"another"]


def test_a_reader_leaves_rejected_lines_where_they_are(scratch: Path) -> None:
    root = build(scratch / "p")
    before = stand(root)
    assert len(JsonlBackend(root).read_tasks().rejected_lines) == 3
    assert stand(root) == before


def test_a_change_that_changes_nothing_moves_no_line(scratch: Path) -> None:
    root = build(scratch / "p")
    put(root, [])
    assert (rejected(root), stored(root)) == ([], OLD)


def test_doubled_lines_become_one_when_something_is_written(scratch: Path) -> None:
    base = task("a-1")
    two = [update_record(base, {"title": "x"}, day(2)), update_record(base, {"notes": "y"}, day(3))]
    root = build(scratch / "p", b"\n".join(map(encode_record, [*two, task("b-2")])))
    put(root, [])
    assert len(stored(root).splitlines()) == 3
    set_in(root, "b-2", {"x": 1})
    assert len(stored(root).splitlines()) == 2
    assert (loaded(root)["a-1"]["title"], loaded(root)["a-1"]["notes"]) == ("x", "y")


def test_a_read_only_file_stays_as_it_is(scratch: Path) -> None:
    root = build(scratch / "p")
    (root / TASKS_FILE).chmod(0o444)
    with pytest.raises(CubError, match="read-only"):
        edit(root)
    assert stored(root) == OLD
    assert names(root) <= {TASKS_FILE, REJECTED_FILE}


def test_a_read_only_file_of_rejected_lines_stops_a_change_but_no_reader(scratch: Path) -> None:
    root = build(scratch / "p")
    (root / REJECTED_FILE).write_bytes(b"x\n")
    (root / REJECTED_FILE).chmod(0o444)
    assert len(JsonlBackend(root).read_tasks()) == 3
    with pytest.raises(CubError, match="read-only") as error:
        edit(root)
    assert error.value.where == REJECTED_FILE
    assert stored(root) == OLD


@pytest.mark.skipif(os.name == "nt", reason="needs links and modes")
def test_links_and_modes_stay(scratch: Path) -> None:
    root = build(scratch / "p")
    real = root / "elsewhere.jsonl"
    (root / TASKS_FILE).rename(real)
    real.chmod(0o640)
    (root / TASKS_FILE).symlink_to("../elsewhere.jsonl")
    (root / ".elsewhere.jsonl.cub-99999999-00112233.tmp").write_bytes(b"left by a killed one")
    edit(root)
    assert (root / TASKS_FILE).is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "aa" in loaded(root)
    assert names(root) == {TASKS_FILE, REJECTED_FILE, "elsewhere.jsonl"}


def test_a_folder_in_the_place_of_the_file_is_an_error(scratch: Path) -> None:
    root = scratch.resolve()
    (root / TASKS_FILE).mkdir(parents=True)
    with pytest.raises(CubError, match="this is a directory"):
        JsonlBackend(root).read_tasks()


def test_the_commands_that_close_a_task_name_it() -> None:
    assert all("t-1" in line for line in JsonlBackend(Path()).list_close_commands("t-1"))


def test_a_store_of_several_megabytes_is_written_whole() -> None:
    lines = [encode_record(task(f"a-{n}", description="x" * 400_000)) + b"\n" for n in range(8)]
    assert b"".join(serialize_tasks(TaskIndex.parse(b"".join(lines)))) == b"".join(lines)
