from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cub.actions.tasks.queries import Filter, listed, shown, startable, stats
from cub.actions.tasks.status import claim, close, park
from cub.errors import CubError, UsageError
from cub.store.place import TASKS
from tests.actions.tasks.bakery import added, epic, opened


def found(root: Path, *statuses: str, **options: Any) -> list[str]:
    return [row.id for row in listed(opened(root), Filter(statuses, **options)).rows]


def test_tasks_at_work_come_first_and_closed_ones_are_counted(project: Path) -> None:
    low, shut, parked = added(project, priority="4"), added(project), added(project)
    mine, high = added(project), added(project, priority="0")
    claim(opened(project), mine)
    close(opened(project), [shut], None)
    park(opened(project), [parked])
    assert found(project) == [mine, high, low, parked]
    assert listed(opened(project), Filter()).hidden == 1
    assert found(project, "all") == [mine, high, low, parked, shut]
    assert found(project, "closed", "in-progress") == [mine, shut]


def test_tasks_of_a_label_or_an_epic(project: Path) -> None:
    top = epic(project)
    low = epic(project, parent=top)
    part, other = added(project, parent=low, labels=["a"]), added(project, labels=["a", "b"])
    assert {*found(project, label="a")} == {part, other}
    assert found(project, label="b") == [other]
    assert found(project, epic=top) == [low, part]
    assert found(project, epic=low, label="a") == [part]
    with pytest.raises(CubError, match="there is no task 'zzz'"):
        found(project, epic="zzz")


def test_a_circle_of_parents_ends(project: Path) -> None:
    (project / ".cub").mkdir()
    (project / TASKS).write_text(
        '{"id":"a","parent":"b"}\n{"id":"b","parent":"a"}\n{"id":"c","parent":"c"}\n'
    )
    assert found(project, epic="a") == ["b"]
    assert found(project, epic="c") == []


def test_a_status_that_nobody_knows_is_refused_unless_a_task_has_it(project: Path) -> None:
    added(project)
    with pytest.raises(UsageError, match="no task has the status 'frozen'") as error:
        found(project, "frozen")
    assert error.value.hint == "there are: open, in_progress, retry, parked, closed, all, deleted"
    (project / TASKS).write_text('{"id":"a","status":"frozen"}\n')
    assert found(project, "frozen") == ["a"]


def test_what_is_ready_waits_for_nothing_and_is_no_epic(project: Path) -> None:
    top = epic(project)
    flour = added(project, parent=top, priority="1")
    bread = added(project, depends_on=[flour])
    skipped = added(project, priority="3")
    late = added(project, depends_on=[skipped])
    assert [row.id for row in startable(opened(project)).rows] == [flour, skipped]
    assert [row.id for row in startable(opened(project), 1).rows] == [flour]
    close(opened(project), [flour], "no_change")
    close(opened(project), [skipped], "wontfix")
    assert [row.id for row in startable(opened(project)).rows] == [bread]
    assert shown(opened(project), late).waits_for == [skipped]


def test_what_can_never_be_ready_is_a_warning(project: Path) -> None:
    (project / ".cub").mkdir()
    (project / TASKS).write_text(
        '{"id":"a","depends_on":["b"]}\n{"id":"b","depends_on":["a"]}\n{"id":"c","depends_on":["x"]}\n'
    )
    answer = startable(opened(project))
    assert [warning.message for warning in answer.warnings] == [
        "these wait for each other: a → b → a",
        "c waits for x, which does not exist",
    ]


def test_of_many_warnings_of_a_kind_the_first_ten_are_told(project: Path) -> None:
    (project / ".cub").mkdir()
    (project / TASKS).write_text("".join(f"junk {number}\n" for number in range(25)))
    warnings = listed(opened(project), Filter()).warnings
    assert len(warnings) == 11
    assert warnings[-1].message == "15 more of this kind (rejected)"


def test_a_task_is_shown_with_its_neighbours(project: Path) -> None:
    top = epic(project)
    flour, done = added(project, "Flour", parent=top), added(project, parent=top)
    bread = added(project, parent=top, depends_on=[flour, done])
    close(opened(project), [done], None)
    seen = shown(opened(project), bread)
    assert (seen.waits_for, seen.blocks, seen.children) == ([flour], [], [])
    assert seen.parent is not None
    assert seen.parent["id"] == top
    assert shown(opened(project), flour).blocks == [bread]
    assert [child["id"] for child in shown(opened(project), top).children] == [flour, bread, done]


def test_tasks_are_counted(project: Path) -> None:
    assert stats(opened(project)) == ({}, {}, {}, 0, 0, {}, [])
    top = epic(project)
    flour = added(project, parent=top, priority="0")
    added(project, parent=top, type="bug", depends_on=[flour])
    close(opened(project), [added(project, parent=top)], None)
    park(opened(project), [added(project)])
    counts = stats(opened(project))
    assert counts.statuses == {"open": 3, "parked": 1, "closed": 1}
    assert counts.types == {"bug": 1, "epic": 1, "task": 3}
    assert counts.priorities == {0: 1, 2: 3}
    assert (counts.ready, counts.blocked, counts.epics) == (1, 1, {top: (1, 3)})
