"""Searching the texts of tasks, and what each task of a list waits for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.actions.tasks.queries import Filter, listed
from cub.actions.tasks.search import matching
from cub.actions.tasks.status import close
from cub.store.jsonl import encode
from cub.store.place import TASKS
from cub.store.tasks import Tasks
from tests.actions.tasks.bakery import added, opened
from tests.examples import few_examples
from tests.store.records import task

FIELDS: dict[str, Any] = {
    "title": "Heat the OVEN",
    "description": "slowly,\nin the oven",
    "notes": "2026-01-01T08:00Z ida: Oven is cold",
    "labels": ["x", "oven"],
    "acceptance_criteria": ["x", "The oven is hot"],
}


def found(root: Path, text: str, *statuses: str, **more: str) -> list[str]:
    return [row.id for row in listed(opened(root), Filter(statuses, search=text, **more)).rows]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("text", ["oven", "OVEN", "oVe"])
def test_each_text_of_a_task_is_searched(field: str, text: str) -> None:
    tasks = Tasks.of([task("a", title="Bread"), task("b", **{"title": "x", field: FIELDS[field]})])
    assert [row.id for row in matching(tasks, [*tasks], text)] == ["b"]


def test_the_id_is_searched_and_nothing_else_is(project: Path) -> None:
    key = added(project, "Bread", type="chore", checks=["make oven"])
    assert found(project, key[-4:].upper()) == [key]
    for text in ("chore", "oven", "priority", "open", '"', "created_at"):
        assert found(project, text) == [], text


def test_a_search_goes_with_the_other_filters(project: Path) -> None:
    top = added(project, "Oven works", type="epic")
    one = added(project, "Heat the oven", parent=top, labels=["hot"])
    two = added(project, "Clean the oven")
    added(project, "Bread", parent=top, labels=["hot"])
    close(opened(project), [two], None)
    assert set(found(project, "oven")) == {top, one}
    assert found(project, "oven", "closed") == [two]
    assert found(project, "oven", epic=top) == [one]
    assert found(project, "oven", label="hot") == [one]
    assert found(project, "oven", "all", label="cold") == []
    assert listed(opened(project), Filter(search="oven")).hidden == 1
    assert len(found(project, "")) == 3


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
    tasks = Tasks.parse(line.encode())
    assert [row.id for row in matching(tasks, [*tasks], text)] == ["a"]
    assert matching(tasks, [*tasks], text + "!") == []


@few_examples
@given(st.text(st.sampled_from('aAéß"\\/\n\ud800\u017f '), max_size=5), st.data())
def test_no_shortcut_misses_a_text(title: str, data: st.DataObject) -> None:
    text = data.draw(st.text(st.sampled_from('aAÉsS"\\/\n\ud800 '), max_size=3))
    line = encode({"id": "t", "title": title, "status": "open", "priority": 2})
    other = json.dumps({"id": "t", "title": title}).encode()
    for data_ in (line, other):
        tasks = Tasks.parse(data_)
        is_there = text.casefold() in title.casefold() or text.casefold() == "t"
        assert bool(matching(tasks, [*tasks], text)) == is_there


def test_a_list_tells_what_each_task_waits_for(project: Path) -> None:
    flour, oven = added(project, "Buy flour"), added(project, "Heat the oven")
    bread = added(project, "Bake", depends_on=[flour, oven])
    sold = added(project, "Sell", depends_on=[bread])
    close(opened(project), [oven], None)
    close(opened(project), [sold], "wontfix")
    result = listed(opened(project), Filter(("all",)))
    assert {row.id: result.waits_for(row) for row in result.rows} == {
        flour: [], oven: [], bread: [flour], sold: [],
    }  # fmt: skip


def test_what_is_not_there_is_waited_for_too(project: Path) -> None:
    (project / ".cub").mkdir()
    (project / TASKS).write_text('{"id":"a","depends_on":["gone"]}\n')
    result = listed(opened(project), Filter())
    assert [result.waits_for(row) for row in result.rows] == [["gone"]]
