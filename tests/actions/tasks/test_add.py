from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cub.actions.tasks.add import add, depend, edit
from cub.actions.tasks.draft import TEXT, Draft
from cub.actions.tasks.status import close
from cub.errors import CubError, UsageError
from cub.store.ids import ALPHABET
from tests.actions.tasks.bakery import added, epic, events, opened, record, statuses, stored
from tests.conftest import tree
from tests.store.records import day

ALL: dict[str, Any] = {
    "type": "feature",
    "priority": "P0",
    "labels": ["oven,bread", "oven"],
    "accept": ["It is brown", " ", "It is brown"],
    "checks": ["make bread"],
    "description": "Slowly.\nAt night.",
}


def test_a_new_task_has_what_was_said_and_what_goes_without_saying(project: Path) -> None:
    key = added(project, "  Bake  ")
    assert record(project, key) == {
        "id": key, "rev": 1, "title": "Bake", "status": "open", "priority": 2,
        "issue_type": "task", "description": "", "acceptance_criteria": [], "depends_on": [],
        "labels": [], "created_at": day(1), "updated_at": day(1),
    }  # fmt: skip
    full = record(project, added(project, "Bake", **ALL))
    assert (full["issue_type"], full["priority"]) == ("feature", 0)
    assert (full["labels"], full["checks"]) == (["bread", "oven"], ["make bread"])
    assert full["acceptance_criteria"] == ["It is brown"]
    assert full["description"] == "Slowly.\nAt night."
    assert events(project) == []


def test_ids_are_short_and_those_of_parts_go_on_counting(project: Path) -> None:
    key = epic(project)
    prefix, _, letters = key.rpartition("-")
    assert (prefix, len(letters)) == ("project", 5)
    assert set(letters) <= set(ALPHABET)
    assert [added(project, parent=letters) for _ in range(2)] == [f"{key}.1", f"{key}.2"]
    assert epic(project, parent=f"{key}.2") == f"{key}.2.1"
    assert added(project).startswith("project-")


def test_two_tasks_of_one_title_and_time_have_two_ids(project: Path, tmp_path: Path) -> None:
    assert added(project) != added(project)
    other = tmp_path / "other" / "project"
    other.mkdir(parents=True)
    assert added(other.resolve()) not in opened(project).backend.read()


def test_the_first_task_brings_what_git_needs(project: Path) -> None:
    added(project)
    assert {*tree(project)} == {".cub/tasks.jsonl", ".cub/.gitignore", ".cub/.gitattributes"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"title": ""}, "a task needs a title"),
        ({"title": "\t \n"}, "a task needs a title"),
        ({"title": "a\nb"}, "a title is one line"),
        ({"title": "a\u2028b"}, "a title is one line"),
        ({"title": "x" * 501}, "at most 500 characters"),
        ({"type": "bugg"}, "no type 'bugg'"),
        ({"priority": "5"}, "no priority '5'"),
        ({"priority": ""}, "no priority ''"),
        ({"description": "é" * (TEXT // 2) + "x"}, "the description has 65,537 bytes"),
        ({"accept": ["x" * 1_000_000]}, "an acceptance criterion has 1,000,000 bytes"),
        ({"checks": ["x" * 1_000_000]}, "a check has 1,000,000 bytes"),
    ],
)
def test_what_no_task_can_say_is_refused(
    project: Path, fields: dict[str, Any], message: str
) -> None:
    key = added(project)
    before = stored(project)
    with pytest.raises(UsageError, match=message):
        add(opened(project), Draft(**{"title": "Bake", **fields}))
    with pytest.raises(UsageError, match=message):
        edit(opened(project), key, Draft(**fields))
    assert stored(project) == before


def test_a_refused_first_task_leaves_no_trace(project: Path) -> None:
    for fields in ({"title": ""}, {"parent": "k3f9a"}, {"depends_on": ["k3f9a"]}):
        with pytest.raises(CubError):
            added(project, **fields)
    assert tree(project) == {}


def test_an_edit_changes_what_is_given_and_leaves_the_rest(project: Path) -> None:
    key = added(project, **ALL)
    before = record(project, key)
    edit(opened(project, on=2), key, Draft(priority="4", labels=["shop"]), unlabel=["oven"])
    after = record(project, key)
    assert (after["priority"], after["labels"]) == (4, ["bread", "shop"])
    assert (after["rev"], after["updated_at"]) == (2, day(2))
    assert after["stamps"] == {"labels": {"oven": day(2), "shop": day(2)}, "priority": day(2)}
    apart = {"priority", "labels", "rev", "updated_at", "stamps"}
    assert {k: v for k, v in after.items() if k not in apart} == {
        k: v for k, v in before.items() if k not in apart
    }


def test_lists_are_replaced_and_texts_can_go(project: Path) -> None:
    key = added(project, **ALL)
    edit(opened(project), key, Draft(accept=["Hot"], checks=[""], description=""))
    after = record(project, key)
    assert (after["acceptance_criteria"], after["checks"], after["description"]) == (
        ["Hot"],
        [],
        "",
    )


def test_an_edit_that_changes_nothing_writes_nothing_and_says_so(project: Path) -> None:
    key = added(project)
    before = stored(project)
    outcome = edit(opened(project), key, Draft(title=" Bake "), note="  ")
    assert (outcome.said, stored(project)) == ([f"{key} is so already."], before)


def test_notes_are_added_with_their_time_and_author(project: Path) -> None:
    key = added(project)
    for on, note in ((2, "It smokes\n"), (3, "Fixed")):
        edit(opened(project, on), key, Draft(), note=note)
    first, second = record(project, key)["notes"].splitlines()
    assert (first, second) == ("2026-01-02T00:00Z ida: It smokes", "2026-01-03T00:00Z ida: Fixed")
    with pytest.raises(UsageError, match="a note has"):
        edit(opened(project), key, Draft(), note="x" * 1_000_000)


def test_a_task_waits_for_others_and_no_longer(project: Path) -> None:
    key, flour, oven = added(project), added(project, "Flour"), added(project, "Oven")
    depend(opened(project), key, [f"{flour},{oven}"])
    assert record(project, key)["depends_on"] == sorted([flour, oven])
    assert depend(opened(project), key, [oven]).said == [f"{key} is so already."]
    depend(opened(project), key, [oven], remove=True)
    assert record(project, key)["depends_on"] == [flour]
    assert depend(opened(project), key, [oven], remove=True).said == [f"{key} is so already."]
    with pytest.raises(CubError, match="there is no task 'sugar'"):
        depend(opened(project), key, ["sugar"], remove=True)


def test_a_circle_is_refused_and_shown(project: Path) -> None:
    first = added(project)
    second = added(project, depends_on=[first])
    third = added(project, depends_on=[second])
    before = stored(project)
    with pytest.raises(CubError) as error:
        depend(opened(project), first, [third])
    circle = f"{first} → {third} → {second} → {first}"
    assert error.value.message == f"{first} would wait for itself: {circle}"
    with pytest.raises(CubError, match="would wait for itself"):
        depend(opened(project), first, [first])
    assert stored(project) == before


def test_nobody_is_a_part_of_itself(project: Path) -> None:
    top = epic(project)
    low = epic(project, parent=epic(project, parent=top))
    for parent in (top, low):
        with pytest.raises(CubError, match="would be its own ancestor: "):
            edit(opened(project), top, Draft(parent=parent))
    edit(opened(project), low, Draft(parent=""))
    assert "parent" not in record(project, low)


def test_no_part_waits_for_its_own_epic(project: Path) -> None:
    top = epic(project)
    low = epic(project, parent=top)
    part = added(project, parent=low)
    flour = added(project, depends_on=[top])
    before = stored(project)
    with pytest.raises(CubError, match=f"{part} would wait for itself: {part} → {top} → {low} → "):
        depend(opened(project), part, [top])
    with pytest.raises(CubError, match=f"{part} → {flour} → {top} → {low} → {part}$"):
        depend(opened(project), part, [flour])
    with pytest.raises(CubError, match=f"{low}.2 → {low} → {low}.2$"):
        added(project, parent=low, depends_on=[low])
    with pytest.raises(
        CubError, match=f"{flour} would wait for itself: {flour} → {top} → {flour}$"
    ):
        edit(opened(project), flour, Draft(parent=top))
    assert stored(project) == before
    depend(opened(project), top, [part])


def test_a_part_reopens_the_closed_epics_above_it(project: Path) -> None:
    top = epic(project)
    low = epic(project, parent=top)
    part, other = added(project, parent=low), added(project)
    close(opened(project), [part], None)
    assert statuses(project, top, low) == ["closed", "closed"]
    outcome = add(opened(project), Draft("More", parent=low))
    assert outcome.said == [f"The epic {low} is open again.", f"The epic {top} is open again."]
    assert statuses(project, top, low) == ["open", "open"]
    close(opened(project), [outcome.tasks[0]["id"]], None)
    edit(opened(project), other, Draft(parent=low))
    assert statuses(project, top, low, other) == ["open", "open", "open"]


def test_a_closed_part_reopens_nothing(project: Path) -> None:
    top, other = epic(project), added(project)
    close(opened(project), [top, other], None)
    edit(opened(project), other, Draft(parent=top))
    assert statuses(project, top, other) == ["closed", "closed"]
