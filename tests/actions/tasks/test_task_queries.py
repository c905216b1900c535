"""Searching the texts of tasks, and what each task of a list waits for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.actions.tasks.task_queries import (
    count_tasks,
    list_ready_tasks,
    list_tasks,
    read_task_details,
    search_tasks,
)
from cub.actions.tasks.transitions import claim_task, close_tasks, park_tasks
from cub.errors import CubError, UsageError
from cub.store.jsonl import encode_record
from cub.store.store_paths import TASKS_FILE
from cub.store.task_index import TaskIndex
from tests.actions.tasks.bakery import added, epic, opened
from tests.examples import few_examples
from tests.store.records import task


def found(root: Path, *statuses: str, **options: Any) -> list[str]:
    return [row.id for row in list_tasks(opened(root), statuses, **options).summaries]


def test_tasks_at_work_come_first_and_closed_ones_are_counted(project: Path) -> None:
    low, shut, parked = added(project, priority="4"), added(project), added(project)
    mine, high = added(project), added(project, priority="0")
    claim_task(opened(project), mine)
    close_tasks(opened(project), [shut], None)
    park_tasks(opened(project), [parked])
    assert found(project) == [mine, high, low, parked]
    assert list_tasks(opened(project)).hidden_count == 1
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
    (project / TASKS_FILE).write_text(
        '{"id":"a","parent":"b"}\n{"id":"b","parent":"a"}\n{"id":"c","parent":"c"}\n'
    )
    assert found(project, epic="a") == ["b"]
    assert found(project, epic="c") == []


def test_a_status_that_nobody_knows_is_refused_unless_a_task_has_it(project: Path) -> None:
    added(project)
    with pytest.raises(UsageError, match="unknown status 'frozen'") as error:
        found(project, "frozen")
    assert error.value.hint == "choose from open, in_progress, retry, parked, closed, all, deleted"
    (project / TASKS_FILE).write_text('{"id":"a","status":"frozen"}\n')
    assert found(project, "frozen") == ["a"]


def test_what_is_ready_waits_for_nothing_and_is_no_epic(project: Path) -> None:
    top = epic(project)
    flour = added(project, parent=top, priority="1")
    bread = added(project, depends_on=[flour])
    skipped = added(project, priority="3")
    late = added(project, depends_on=[skipped])
    assert [row.id for row in list_ready_tasks(opened(project)).summaries] == [flour, skipped]
    assert [row.id for row in list_ready_tasks(opened(project), 1).summaries] == [flour]
    close_tasks(opened(project), [flour], "no_change")
    close_tasks(opened(project), [skipped], "wontfix")
    assert [row.id for row in list_ready_tasks(opened(project)).summaries] == [bread]
    assert read_task_details(opened(project), late).waits_for == [skipped]


def test_what_can_never_be_ready_is_a_warning(project: Path) -> None:
    (project / ".cub").mkdir()
    (project / TASKS_FILE).write_text(
        '{"id":"a","depends_on":["b"]}\n{"id":"b","depends_on":["a"]}\n{"id":"c","depends_on":["x"]}\n'
    )
    answer = list_ready_tasks(opened(project))
    assert [warning.message for warning in answer.warnings] == [
        "dependency cycle: a → b → a",
        "c depends on x, which does not exist",
    ]


def test_of_many_warnings_of_a_kind_the_first_ten_are_told(project: Path) -> None:
    (project / ".cub").mkdir()
    (project / TASKS_FILE).write_text("".join(f"junk {number}\n" for number in range(25)))
    warnings = list_tasks(opened(project)).warnings
    assert len(warnings) == 11
    assert warnings[-1].message == "15 more of this kind (rejected)"


def test_a_task_is_shown_with_its_neighbours(project: Path) -> None:
    top = epic(project)
    flour, done = added(project, "Flour", parent=top), added(project, parent=top)
    bread = added(project, parent=top, depends_on=[flour, done])
    close_tasks(opened(project), [done], None)
    seen = read_task_details(opened(project), bread)
    assert (seen.waits_for, seen.blocks, seen.children) == ([flour], [], [])
    assert seen.parent is not None
    assert seen.parent["id"] == top
    assert read_task_details(opened(project), flour).blocks == [bread]
    assert [child["id"] for child in read_task_details(opened(project), top).children] == [
        flour,
        bread,
        done,
    ]


def test_tasks_are_counted(project: Path) -> None:
    assert count_tasks(opened(project)) == ({}, {}, {}, 0, 0, {}, [])
    top = epic(project)
    flour = added(project, parent=top, priority="0")
    added(project, parent=top, type="bug", depends_on=[flour])
    close_tasks(opened(project), [added(project, parent=top)], None)
    park_tasks(opened(project), [added(project)])
    counts = count_tasks(opened(project))
    assert counts.statuses == {"open": 3, "parked": 1, "closed": 1}
    assert counts.types == {"bug": 1, "epic": 1, "task": 3}
    assert counts.priorities == {0: 1, 2: 3}
    assert (counts.ready, counts.blocked, counts.epics) == (1, 1, {top: (1, 3)})


FIELDS: dict[str, Any] = {
    "title": "Heat the OVEN",
    "description": "slowly,\nin the oven",
    "notes": "2026-01-01T08:00Z ida: Oven is cold",
    "labels": ["x", "oven"],
    "acceptance_criteria": ["x", "The oven is hot"],
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("text", ["oven", "OVEN", "oVe"])
def test_each_text_of_a_task_is_searched(field: str, text: str) -> None:
    tasks = TaskIndex.from_records(
        [task("a", title="Bread"), task("b", **{"title": "x", field: FIELDS[field]})]
    )
    assert [row.id for row in search_tasks(tasks, [*tasks], text)] == ["b"]


def test_the_id_is_searched_and_nothing_else_is(project: Path) -> None:
    key = added(project, "Bread", type="chore", checks=["make oven"])
    assert found(project, search=key[-4:].upper()) == [key]
    for text in ("chore", "oven", "priority", "open", '"', "created_at"):
        assert found(project, search=text) == [], text


def test_a_search_goes_with_the_other_filters(project: Path) -> None:
    top = added(project, "Oven works", type="epic")
    one = added(project, "Heat the oven", parent=top, labels=["hot"])
    two = added(project, "Clean the oven")
    added(project, "Bread", parent=top, labels=["hot"])
    close_tasks(opened(project), [two], None)
    assert set(found(project, search="oven")) == {top, one}
    assert found(project, "closed", search="oven") == [two]
    assert found(project, search="oven", epic=top) == [one]
    assert found(project, search="oven", label="hot") == [one]
    assert found(project, "all", search="oven", label="cold") == []
    assert list_tasks(opened(project), search="oven").hidden_count == 1
    assert len(found(project, search="")) == 3


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("Öfen", "öfen"),
        ('Say "hot"', '"HOT"'),
        ("C:\\oven", "c:\\OVEN"),
        ("either/or", "R/O"),
        ("a\tb", "A\tB"),
        ("😀 bread", "😀 B"),
        ("ﬁne bread", "FINE"),
    ],
)
@pytest.mark.parametrize("ascii_", [True, False])
def test_letters_are_found_however_the_file_spells_them(
    title: str, text: str, ascii_: bool
) -> None:
    made = {"id": "a", "title": title, "status": "open", "priority": 2}
    line = json.dumps(made, ensure_ascii=ascii_).replace("/", "\\/" if ascii_ else "/")
    tasks = TaskIndex.parse(line.encode())
    assert [row.id for row in search_tasks(tasks, [*tasks], text)] == ["a"]
    assert search_tasks(tasks, [*tasks], text + "!") == []


@few_examples
@given(st.text(st.sampled_from('aAéß"\\/\n\ud800\u017f '), max_size=5), st.data())
def test_no_shortcut_misses_a_text(title: str, data: st.DataObject) -> None:
    text = data.draw(st.text(st.sampled_from('aAÉsS"\\/\n\ud800 '), max_size=3))
    line = encode_record({"id": "t", "title": title, "status": "open", "priority": 2})
    other = json.dumps({"id": "t", "title": title}).encode()
    for data_ in (line, other):
        tasks = TaskIndex.parse(data_)
        is_there = text.casefold() in title.casefold() or text.casefold() == "t"
        assert bool(search_tasks(tasks, [*tasks], text)) == is_there


def test_a_list_tells_what_each_task_waits_for(project: Path) -> None:
    flour, oven = added(project, "Buy flour"), added(project, "Heat the oven")
    bread = added(project, "Bake", depends_on=[flour, oven])
    sold = added(project, "Sell", depends_on=[bread])
    close_tasks(opened(project), [oven], None)
    close_tasks(opened(project), [sold], "wontfix")
    result = list_tasks(opened(project), ("all",))
    assert {row.id: result.list_blockers_of(row) for row in result.summaries} == {
        flour: [], oven: [], bread: [flour], sold: [],
    }  # fmt: skip


def test_what_is_not_there_is_waited_for_too(project: Path) -> None:
    (project / ".cub").mkdir()
    (project / TASKS_FILE).write_text('{"id":"a","depends_on":["gone"]}\n')
    result = list_tasks(opened(project))
    assert [result.list_blockers_of(row) for row in result.summaries] == [["gone"]]
