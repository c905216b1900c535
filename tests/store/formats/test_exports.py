from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cub.store.formats.format_registry import dump_tasks
from cub.store.jsonl import Record
from cub.store.task_schema import normalize_record

ODD = st.text(max_size=12) | st.sampled_from(
    [
        "# x", "```", "~~~~\n", "> a", "- b\n\n# c", "<!--", "</details>", "[x]: y", "[a](b)",
        "1. z", "\r# x", "\x0b# x", "\u2028# x", "&lt;", "a\n===", "    code", "\x1b[2J", "\u202e",
        "|-|-|",
    ]
)  # fmt: skip
TASKS = st.lists(
    st.fixed_dictionaries(
        {"id": ODD.filter(bool)},
        optional={
            "title": ODD,
            "description": st.lists(ODD, max_size=4).map("\n".join),
            "parent": ODD,
            "depends_on": st.lists(ODD, max_size=2),
            "acceptance_criteria": st.lists(ODD, max_size=2),
            "issue_type": st.sampled_from(["epic", "task"]),
            "status": ODD | st.sampled_from(["open", "closed"]),
        },
    ).map(normalize_record),
    max_size=4,
    unique_by=lambda record: record["id"],
)


def markdown(*records: Record) -> str:
    return dump_tasks([normalize_record(record) for record in records], "markdown").decode()


def test_tasks_are_listed_below_their_epics() -> None:
    epic = {"id": "b-1", "title": "Bread", "issue_type": "epic"}
    late = {"id": "b-1.10", "title": "Sell", "parent": "b-1", "status": "done"}
    early = {
        "id": "b-1.9",
        "title": "Bake *rye*",
        "parent": "b-1",
        "depends_on": ["b-2"],
        "description": "As ```here```.\n# Not a heading",
        "acceptance_criteria": ["It is\nbrown", "[x] It smells"],
    }
    text = markdown(epic, late, early, {"id": "b-2", "title": "Oven", "priority": 0})
    assert (
        text
        == """\
# Tasks

## Bread (b-1)

- Status: open
- Priority: 2

### Bake \\*rye\\* (b-1.9)

- Status: open
- Priority: 2
- Depends on: b-2

````text
As ```here```.
# Not a heading
````

Acceptance criteria:

- [ ] It is brown
- [ ] \\[x\\] It smells

### Sell (b-1.10)

- Status: closed (done)
- Priority: 2

## Tasks without an epic

### Oven (b-2)

- Status: open
- Priority: 0
"""
    )


def test_criteria_of_done_tasks_are_checked() -> None:
    task = {"id": "a", "title": "A", "status": "closed", "acceptance_criteria": ["b"]}
    assert "- [x] b\n" in markdown({**task, "close_reason": "no_change"})
    assert "- [ ] b\n" in markdown({**task, "close_reason": "wontfix"})


def test_no_tasks_are_a_heading_alone() -> None:
    assert markdown() == "# Tasks\n"


def test_a_missing_parent_is_named() -> None:
    assert "- Part of: gone\n" in markdown({"id": "a", "parent": "gone"})


def test_ids_of_any_length_are_sorted() -> None:
    assert "9" * 5000 in markdown({"id": "9" * 5000}, {"id": "1"})


@given(TASKS)
def test_nothing_that_a_task_says_leaves_its_place(records: list[Record]) -> None:
    text = markdown(*records)
    assert markdown(*records[::-1]) == text
    assert text.replace("\n", "").isprintable()
    kinds = [token.type for token in MarkdownIt("commonmark").enable("table").parse(text)]
    allowed = {"heading", "paragraph", "bullet_list", "list_item"}
    assert {kind.rpartition("_")[0] for kind in kinds} <= {*allowed, ""} | {"inline"}
    assert {kind for kind in kinds if not kind.endswith(("_open", "_close"))} <= {"inline", "fence"}
    inner = [
        child.type
        for token in MarkdownIt("commonmark").parse(text)
        for child in token.children or ()
    ]
    assert set(inner) <= {"text", "text_special"}
    without_epic = "## Tasks without an epic" in text.splitlines()
    assert kinds.count("heading_open") == len(records) + 1 + without_epic
    described = [r for r in records if str(r.get("description") or "").splitlines()]
    assert kinds.count("fence") <= len(described)
