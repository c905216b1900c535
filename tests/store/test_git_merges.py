"""Two branches that change the tasks, merged by git itself: all that either did is there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cub.store.backend import JsonlBackend
from cub.store.jsonl import Record, encode_record
from cub.store.record_merge import update_record
from cub.store.store_paths import TASKS_FILE
from cub.store.task_ids import make_child_id
from tests.conftest import git
from tests.store.records import closed, day, deleted, reopened, restored, task
from tests.store.stores import loaded, put, set_in, stored

Work = Callable[[Path], None]
Store = dict[str, Record]

BASE = [
    task("e", issue_type="epic"),
    *(task(f"t-{n}", labels=["a", "b"], depends_on=["e", "x"], notes="n" * 99) for n in range(6)),
]
UNION = "tasks.jsonl merge=union\n"


class Merged(NamedTuple):
    """What two branches became, whichever was merged into the other."""

    tasks: Store
    root: Path


def repository(root: Path, attributes: str) -> Path:
    (root / ".cub").mkdir(parents=True)
    git(root, "init", "-q")
    (root / ".cub/.gitattributes").write_text(attributes)
    put(root.resolve(), BASE)
    commit(root, "base")
    return root.resolve()


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)


def merge(tmp_path: Path, ours: Work, theirs: Work, attributes: str = UNION) -> Merged:
    """Both ways, by a plain `git merge`; what is loaded is the same, and stays so when written."""
    root = repository(tmp_path / "one", attributes)
    for branch, work in (("ours", ours), ("theirs", theirs)):
        git(root, "checkout", "-q", "-b", branch, "main")
        work(root)
        commit(root, branch)
    twin = Path(shutil.copytree(root, tmp_path / "two")).resolve()
    git(twin, "checkout", "-q", "ours")
    for folder, other in ((root, "ours"), (twin, "theirs")):
        if attributes:
            git(folder, "merge", "-q", "--no-edit", other)
        else:
            conflict(folder, other)
    found = loaded(root)
    assert same_bytes(found) == same_bytes(loaded(twin))
    for folder in (root, twin):
        put(folder, [task("zz")])
        put(folder, [update_record(task("zz"), {"x": 1}, day(9))])
    assert stored(root) == stored(twin)
    assert same_bytes({**loaded(root), "zz": {}}) == same_bytes({**found, "zz": {}})
    return Merged(found, root)


def conflict(root: Path, branch: str) -> None:
    """A merge that git can't carry out leaves its markers in the file."""
    with pytest.raises(Exception, match="returned non-zero exit status 1"):
        git(root, "merge", "-q", "--no-edit", branch)
    assert b"<<<<<<< " in stored(root)


def same_bytes(store: Store) -> dict[str, bytes]:
    return {key: encode_record(record) for key, record in store.items()}


def setting(key: str, on: int, **values: Any) -> Work:
    return lambda root: set_in(root, key, values, on)


def closing(key: str, on: int) -> Work:
    return lambda root: act(root, key, lambda record: closed(record, on))


def reopening(key: str, on: int) -> Work:
    return lambda root: act(root, key, lambda record: reopened(record, on))


def act(root: Path, key: str, how: Callable[[Record], Record]) -> None:
    with JsonlBackend(root).transaction() as change:
        change.put_record(how(change.tasks.read_record(key)))


def deleting(key: str, on: int) -> Work:
    return lambda root: act(root, key, lambda record: deleted(record, on))


def both(*works: Work) -> Work:
    def work(root: Path) -> None:
        for one in works:
            one(root)

    return work


def unchanged(tasks: Store, *keys: str) -> bool:
    return all(tasks[one["id"]] == one for one in BASE if one["id"] not in keys)


def test_one_edits_twice_while_the_other_closes(tmp_path: Path) -> None:
    edits = both(setting("t-1", 3, title="x"), setting("t-1", 5, title="y", status="parked"))
    tasks = merge(tmp_path, edits, closing("t-1", 2)).tasks
    assert (tasks["t-1"]["status"], tasks["t-1"]["title"]) == ("closed", "y")
    assert tasks["t-1"]["rev"] == 3
    assert unchanged(tasks, "t-1")


def test_both_edit_different_fields_of_one_task(tmp_path: Path) -> None:
    theirs = setting("t-1", 2, description="d", priority=0)
    tasks = merge(tmp_path, setting("t-1", 3, title="x", new={"k": 1}), theirs).tasks
    found = tasks["t-1"]
    assert [found[key] for key in ("title", "new", "description", "priority")] == [
        *("x", {"k": 1}, "d", 0)
    ]
    assert unchanged(tasks, "t-1")


def delete_by_hand(root: Path) -> None:
    kept = [line for line in stored(root).splitlines() if b'"t-1"' not in line]
    (root / TASKS_FILE).write_bytes(b"\n".join(kept) + b"\n")


def test_a_task_that_one_side_deletes_by_hand_is_gone(tmp_path: Path) -> None:
    tasks = merge(tmp_path, delete_by_hand, setting("t-5", 2, title="x")).tasks
    assert "t-1" not in tasks
    assert tasks["t-5"]["title"] == "x"


def test_a_task_that_one_side_deletes_and_the_other_edits_stays(tmp_path: Path) -> None:
    tasks = merge(tmp_path, delete_by_hand, setting("t-1", 2, title="x")).tasks
    assert tasks["t-1"]["title"] == "x"
    assert unchanged(tasks, "t-1")


def test_both_add_tasks(tmp_path: Path) -> None:
    added = [[task(f"new-{n}") for n in range(3)], [task(f"u-{n}", x=n) for n in range(3)]]
    tasks = merge(
        tmp_path, lambda root: put(root, added[0]), lambda root: put(root, added[1])
    ).tasks
    assert [tasks[one["id"]] for one in added[0] + added[1]] == added[0] + added[1]
    assert unchanged(tasks)


def test_both_add_a_child_with_the_same_number(tmp_path: Path) -> None:
    def adding(title: str, on: int) -> Work:
        def work(root: Path) -> None:
            key = make_child_id("e", loaded(root))
            put(root, [task(key, title=title, parent="e", created_at=day(on), updated_at=day(on))])

        return work

    merged = merge(tmp_path, adding("younger", 4), adding("elder", 3))
    children = {row.id for row in JsonlBackend(merged.root).read_tasks().list_children("e")}
    assert merged.tasks["e.1"]["title"] == "elder"
    [other] = children - {"e.1"}
    assert merged.tasks[other]["title"] == "younger"
    assert make_child_id("e", children) == "e.2"


def test_neighbours_that_both_edit_leave_stale_lines(tmp_path: Path) -> None:
    ours = both(setting("t-1", 2, title="x"), setting("t-2", 2, title="y", labels=["b"]))
    theirs = both(setting("t-2", 3, notes="z"), closing("t-3", 3))
    merged = merge(tmp_path, ours, theirs)
    tasks = merged.tasks
    assert (tasks["t-1"]["title"], tasks["t-2"]["title"]) == ("x", "y")
    assert (tasks["t-2"]["notes"], tasks["t-3"]["status"]) == ("z", "closed")
    assert tasks["t-2"]["labels"] == ["b"]
    assert unchanged(tasks, "t-1", "t-2", "t-3")
    # Git has taken both sides' lines: that is what had to be put together.
    assert git(merged.root, "show", f"HEAD:{TASKS_FILE}").count('"id":"t-2"') == 2


def test_a_merge_without_attributes_leaves_markers_and_both_sides(tmp_path: Path) -> None:
    ours = both(setting("t-1", 2, title="x"), setting("t-2", 2, title="y"))
    tasks = merge(tmp_path, ours, both(setting("t-2", 3, notes="z"), closing("t-3", 3)), "").tasks
    assert [tasks["t-1"]["title"], tasks["t-2"]["title"], tasks["t-2"]["notes"]] == ["x", "y", "z"]
    assert tasks["t-3"]["status"] == "closed"
    assert unchanged(tasks, "t-1", "t-2", "t-3")


def test_a_conflict_that_shows_the_base_does_not_bring_it_back(tmp_path: Path) -> None:
    root = repository(tmp_path / "p", "")
    git(root, "config", "merge.conflictStyle", "diff3")
    for branch, title in (("ours", "x"), ("theirs", "y")):
        git(root, "checkout", "-q", "-b", branch, "main")
        set_in(root, "t-1", {"title": title, "labels": [title]}, 2)
        commit(root, branch)
    conflict(root, "ours")
    assert b"|||||||" in stored(root)
    tasks = JsonlBackend(root).read_tasks()
    assert tasks.duplicate_ids == ["t-1"]
    assert (tasks.read_record("t-1")["title"], tasks.read_record("t-1")["labels"]) == (
        "y",
        ["x", "y"],
    )
    put(root, [task("new")])
    assert b"|||||||" not in stored(root)


@pytest.mark.parametrize(
    "theirs",
    [
        setting("t-1", 9, title="x", labels=["c"]),
        closing("t-1", 9),
        both(closing("t-1", 3), reopening("t-1", 9)),
        setting("t-1", 9, status="in_progress", lease={"run": "r"}),
        # Git takes the neighbour's hunk along, and with it the line as it was before.
        both(setting("t-0", 3, title="x"), setting("t-2", 3, title="y")),
        deleting("t-1", 9),
    ],
    ids=["edited", "closed", "reopened", "claimed", "beside", "deleted"],
)
@pytest.mark.parametrize(
    "attributes",
    [UNION, pytest.param("", marks=pytest.mark.thorough)],
    ids=["union", "markers"],
)
def test_a_deleted_task_stays_deleted(tmp_path: Path, theirs: Work, attributes: str) -> None:
    ours = both(deleting("t-1", 2), setting("t-1", 2, x=1))
    # Without the attribute, both sides have to touch one line for a conflict.
    if not attributes:
        theirs = both(theirs, setting("t-1", 9, y=1))
    merged = merge(tmp_path, ours, theirs, attributes)
    assert "t-1" not in merged.tasks
    assert "t-1" in JsonlBackend(merged.root).read_tasks().deleted_summaries


def test_deleted_and_edited_it_comes_back_with_the_edit(tmp_path: Path) -> None:
    merged = merge(tmp_path, deleting("t-1", 2), setting("t-1", 3, title="x"))
    act(merged.root, "t-1", lambda record: restored(record, 9))
    assert loaded(merged.root)["t-1"]["title"] == "x"
