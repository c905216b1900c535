"""Documents to compare, and documents of any content."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from cub.store.jsonl import Record, encode_record
from cub.store.task_index import TaskIndex

# Words that formats give a meaning to, so that strange values meet them; and any other.
WORDS = st.sampled_from(
    [
        "id", "title", "status", "priority", "issue_type", "description", "acceptance_criteria",
        "labels", "dependencies", "parent", "assignee", "notes", "close_reason", "created_at",
        "updated_at", "closed_at", "checks", "origin", "rev", "stamps", "lease", "depends_on",
        "dependsOn", "steps", "passes", "details", "testStrategy", "acceptanceCriteria",
        "subtasks", "tags", "type", "epic", "category", "updatedAt", "tasks", "design",
        "comments",
    ]
) | st.text(max_size=5)  # fmt: skip
TEXTS = st.text(max_size=8) | st.sampled_from(
    ["open", "done", "blocked", "high", "P2", "1", "1.2", "2", "- a\n- b", "x\ny", "wontfix"]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
).filter(lambda value: "inf" not in repr(value))
OBJECTS = st.dictionaries(WORDS, VALUES, max_size=6)
IDS = st.sampled_from(["a", "b-1", "c", "US-002", "7"])


def edges(key: str) -> st.SearchStrategy[list[Record]]:
    kinds = st.sampled_from(["blocks", "parent-child", "related", "discovered-from"])
    edge = st.fixed_dictionaries(
        {"issue_id": st.just(key), "depends_on_id": IDS, "type": kinds},
        optional={"created_by": TEXTS, "metadata": VALUES},
    )
    return st.lists(edge, max_size=4)


@st.composite
def issues(draw: st.DrawFn) -> list[Record]:
    """Issues of beads: what it writes, with anything else in it."""
    found = []
    for key in draw(st.lists(IDS, unique=True, max_size=4)):
        raw = {**draw(OBJECTS), "id": key}
        raw |= {"dependencies": draw(edges(key))} if draw(st.booleans()) else {}
        statuses = st.sampled_from(["open", "in_progress", "blocked", "closed", "tombstone"])
        raw |= {"status": draw(statuses)} if draw(st.booleans()) else {}
        found.append({key: value for key, value in raw.items() if key != "_type"})
    return sorted(found, key=lambda raw: str(raw["id"]))


@st.composite
def master_tasks(draw: st.DrawFn, depth: int = 1) -> list[Record]:
    """Tasks of task-master, with subtasks."""
    found = []
    for _ in range(draw(st.integers(0, 3))):
        raw = {**draw(OBJECTS), "id": draw(st.integers(0, 4) | TEXTS.filter(bool))}
        if isinstance(raw.get("subtasks"), list):  # each of them needs an id
            del raw["subtasks"]
        needs = st.lists(st.integers(0, 4) | st.sampled_from(["1", "1.2"]), max_size=3)
        raw |= {"dependencies": draw(needs)} if draw(st.booleans()) else {}
        raw |= {"subtasks": draw(master_tasks(depth - 1))} if depth and draw(st.booleans()) else {}
        found.append(raw)
    return found


@st.composite
def master_documents(draw: st.DrawFn) -> Record:
    if draw(st.booleans()):
        return {**draw(OBJECTS), "tasks": draw(master_tasks())}
    tags = draw(st.lists(st.sampled_from(["master", "shop", "oven"]), unique=True, min_size=1))
    found = {tag: {**draw(OBJECTS), "tasks": draw(master_tasks())} for tag in tags}
    return {**found, "version": draw(VALUES.filter(lambda value: not isinstance(value, dict)))}


@st.composite
def stories(draw: st.DrawFn) -> Any:
    """A document of stories, or a bare list of them."""
    found = []
    for _ in range(draw(st.integers(0, 4))):
        raw = draw(OBJECTS)
        key: Any = draw(IDS | st.integers(0, 9) | st.none())
        raw = {k: v for k, v in raw.items() if k != "id"} | ({} if key is None else {"id": key})
        found.append(raw)
    return draw(st.sampled_from([found, {**draw(OBJECTS), "userStories": found}]))


def kept(records: list[Record]) -> list[Record]:
    """Records as a store gives them back."""
    tasks = TaskIndex.parse(b"".join(encode_record(record) + b"\n" for record in records))
    return [tasks.read_record(key) for key in tasks.summaries]


def document(data: bytes) -> Any:
    """The value of a document, or those of its lines."""
    try:
        return json.loads(data)
    except ValueError:
        return [json.loads(line) for line in data.splitlines()]
