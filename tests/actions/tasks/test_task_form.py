from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.actions.tasks.stores import TaskResult
from cub.actions.tasks.task_edits import edit_task, set_dependencies
from cub.actions.tasks.task_fields import MAX_TEXT, TaskFields
from cub.actions.tasks.task_form import (
    FORM_LISTS,
    FORM_TEXTS,
    apply_form,
    parse_form_fields,
    render_form,
)
from cub.actions.tasks.transitions import close_tasks
from cub.errors import CubError
from tests.actions.tasks.bakery import added, epic, opened, record, statuses, stored
from tests.examples import few_examples

# What means something to YAML, to a terminal, or to whoever cuts lines.
_ODD = "aé \n\t\r\0\x1b\u2028\x85\ud83d\U0001f600\U000e0001\u200b\ufeff:#-'\"[]{}|>%@&*!?,\\~=<01."
_WORDS = [
    "null", "true", "1.10", "0x1F", "~", "2026-01-31", "yes", "=======", "<<<<<<< x", "---", "...",
    "- a", "a: b", "a #b", "? x", "!!str x", "&a", "*a", "<<", "\n\n a\nb", "  x\n\ty\n", "a\n \n",
]  # fmt: skip
_SOME = st.text(st.sampled_from(_ODD), max_size=20) | st.sampled_from(_WORDS) | st.text(max_size=9)


def said(text: str) -> str:
    """What a form can say of a text: bytes that are no text are shown as such."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text.strip("\n"))


@few_examples
@given(st.fixed_dictionaries({key: _SOME for key in FORM_TEXTS if key != "type"}),
       st.fixed_dictionaries({key: st.lists(_SOME, max_size=2) for key in FORM_LISTS}))  # fmt: skip
def test_a_form_reads_back_as_what_it_says(texts: dict[str, str], lists: dict[str, Any]) -> None:
    found = parse_form_fields(
        render_form({"id": "t-1", "issue_type": "bug", **texts, **lists}), "form.yaml"
    )
    assert found.pop("type") == "bug"
    assert found == {
        **{key: said(text) for key, text in texts.items()},
        **{key: [said(item) for item in items] for key, items in lists.items()},
    }


def test_a_form_is_a_pleasure_to_read(project: Path) -> None:
    flour = added(project)
    text = "Heat it:\n\n  slowly # at night\n"
    key = added(project, "Bake, don't fry", depends_on=[flour], accept=["Given: heat"],
                description=text, labels=["a", "b"])  # fmt: skip
    assert render_form(record(project, key)).splitlines()[2:] == [
        "title: Bake, don't fry",
        "type: task",
        "priority: 2",
        "parent:",
        "labels:",
        "  - a",
        "  - b",
        "depends_on:",
        f"  - {flour}",
        "acceptance_criteria:",
        '  - "Given: heat"',
        "checks: []",
        "description: |",
        "  Heat it:",
        "",
        "    slowly # at night",
        "notes:",
    ]


def applied(root: Path, key: str, old: str, new: str, on: int = 3) -> TaskResult:
    """Replace a part of a task's form, and apply it."""
    before = render_form(record(root, key))
    assert old in before
    return apply_form(opened(root, on), key, before, before.replace(old, new, 1), "form.yaml")


@pytest.mark.parametrize("text", ["", "x\r\ny", "\ud83d", "\x1b[31m", "  a\n b", "x" * MAX_TEXT])
def test_an_unchanged_form_changes_nothing(project: Path, text: str) -> None:
    key = added(project, "\udcff odd", description=text)
    before = stored(project)
    assert applied(project, key, "", "").messages == [f"No change to {key}."]
    assert stored(project) == before
    applied(project, key, "priority: 2", "priority: 1")
    found = record(project, key)
    assert (found["title"], found["description"], found["priority"]) == ("\udcff odd", text, 1)


def test_every_field_can_be_changed_and_emptied(project: Path) -> None:
    top, flour, key = epic(project), added(project), added(project)
    form_of_all = (
        f"title: 1.10\ntype: bug\npriority: P0\nparent: {top[-5:]}\nlabels: [b, 0x1F]\n"
        f"depends_on:\n- {flour}\nacceptance_criteria: ['Given: heat']\nchecks: [make]\n"
        "description: >\n  One\n  line\nnotes: mine\n"
    )
    apply_form(opened(project), key, render_form(record(project, key)), form_of_all, "form.yaml")
    found = record(project, key)
    assert (found["title"], found["issue_type"], found["priority"]) == ("1.10", "bug", 0)
    assert (found["parent"], found["labels"], found["depends_on"]) == (top, ["0x1F", "b"], [flour])
    assert (found["acceptance_criteria"], found["checks"]) == (["Given: heat"], ["make"])
    assert (found["description"], found["notes"]) == ("One line", "mine")
    empty = "parent:\nlabels: []\ndepends_on:\nacceptance_criteria: []\ndescription: ''\nnotes:\n"
    apply_form(opened(project), key, render_form(found), empty, "form.yaml")
    found = record(project, key)
    assert ("parent" in found, "notes" in found, found["description"]) == (False, False, "")
    assert found["labels"] == found["depends_on"] == found["acceptance_criteria"] == []
    assert (found["title"], found["checks"]) == ("1.10", ["make"])


def test_what_somebody_else_changed_in_the_meantime_stays(project: Path) -> None:
    key = added(project, description="One")
    before = render_form(record(project, key))
    edit_task(
        opened(project, who="bob"), key, TaskFields(priority="0", description="Two", labels=["x"])
    )
    close_tasks(opened(project, who="bob"), [key], None)
    after = before.replace("title: Bake", "title: Roast")
    apply_form(opened(project), key, before, after, "form.yaml")
    found = record(project, key)
    assert (found["title"], found["description"], found["priority"]) == ("Roast", "Two", 0)
    assert (found["labels"], found["status"]) == (["x"], "closed")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title: Bake", "title: ''", "the title is empty"),
        ("title: Bake", "title: [a]", "^form.yaml:3:8: expected a string"),
        ("title: Bake", "title: a: b", "^form.yaml:3:9: "),
        ("title: Bake", "titel: Bake", "^form.yaml:3:1: unknown field 'titel'"),
        ("title: Bake", "title: Bake\ntitle: Roast", "^form.yaml:4:1: "),
        ("labels: []", "labels: a", "^form.yaml:7:9: expected a list"),
        ("labels: []", "labels: [{a: b}]", "^form.yaml:7:10: expected a string"),
        ("priority: 2", "priority: 7", "unknown priority '7'"),
        ("parent:", "parent: zzz", "there is no task 'zzz'"),
        ("depends_on: []", "depends_on: [zzz]", "there is no task 'zzz'"),
        ("notes:", f"notes: {'x' * 70_000}", "the text of the notes has 70,000 bytes"),
    ],
)
def test_a_wrong_form_is_refused_by_its_place(
    project: Path, old: str, new: str, message: str
) -> None:
    key = added(project)
    before = stored(project)
    with pytest.raises(CubError, match=message):
        applied(project, key, old, new)
    assert stored(project) == before


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n", "words", "\0", "a: &a\nb: *c"])
def test_what_is_no_form_is_refused(project: Path, text: str) -> None:
    key = added(project)
    before = render_form(record(project, key))
    with pytest.raises(CubError, match=r"^form\.yaml"):
        apply_form(opened(project), key, before, text, "form.yaml")


def test_a_circle_is_refused_here_too(project: Path) -> None:
    flour = added(project)
    bread = added(project, depends_on=[flour])
    with pytest.raises(CubError, match=f"{flour} would wait for itself"):
        applied(project, flour, "depends_on: []", f"depends_on: [{bread}]")
    set_dependencies(opened(project), bread, [flour], remove=True)
    applied(project, flour, "depends_on: []", f"depends_on: [{bread}]")
    assert record(project, flour)["depends_on"] == [bread]


def test_a_new_parent_is_open_again(project: Path) -> None:
    top, key = epic(project), added(project)
    close_tasks(opened(project), [top], None)
    applied(project, key, "parent:", f"parent: {top}")
    assert statuses(project, top) == ["open"]
