"""`task-master`: its tasks.json, with or without tags, subtasks within their tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cub.store.briefs import EPIC
from cub.store.formats import document as doc
from cub.store.formats import task_master_ids as ids
from cub.store.formats.origin import names_in, origin_of, remembered, renamed, restored
from cub.store.formats.task_master_task import Entry, item_of, subtasks_of, task_of
from cub.store.jsonl import Record

NAME = "task-master"
_STRATEGY = {"acceptanceCriteria": "testStrategy"}
_ALIASES = {own: (alias,) for own, alias in _STRATEGY.items()}


def places(document: Any) -> list[doc.Place]:
    """Where lists of tasks are: at the top, or below each tag."""
    if not isinstance(document, dict):
        return []
    if isinstance(document.get("tasks"), list):
        return [("tasks",)]
    tags = {key: value for key, value in document.items() if isinstance(value, dict)}
    return [(key, "tasks") for key, tag in tags.items() if isinstance(tag.get("tasks"), list)]


def read(data: bytes, where: str) -> doc.Imported:
    """The tasks and subtasks of all tags; the ids of other tags than master bear their name."""
    document = doc.parse(data, where)
    found = places(document)
    given = doc.Ids()
    entries = [entry for place in found for entry in _entries(document, place, where, given)]
    tasks: dict[str, Record] = {entry.id: {} for entry in entries}
    for entry in entries:  # a task comes before its subtasks
        tasks[entry.id] = _remembered(entry, tasks)
    if entries:
        tasks[entries[0].id]["origin"]["document"] = doc.emptied(document, found)
    return doc.Imported(NAME, list(tasks.values()), [], given.renamed)


def write(records: Sequence[Record]) -> bytes:
    """The document that the tasks came from, or a new one with the tag master."""
    skeleton = doc.skeleton_of(records, NAME)
    skeleton = skeleton if places(skeleton) else {"master": {"tasks": []}}
    lists: dict[doc.Place, list[Record]] = {place: [] for place in places(skeleton)}
    tasks = {record["id"]: record for record in records}
    nested: dict[str, list[Record]] = {}
    made: dict[str, Record] = {}
    for record in doc.in_order(records, NAME):
        place = doc.place_of(record, NAME) or ()
        place = place if place in lists else next(iter(lists))
        is_nested = ids.is_nested(record, tasks)
        (nested.setdefault(record["parent"], []) if is_nested else lists[place]).append(record)
        made[record["id"]] = _written(record, tasks, place)
    for record in records:
        if record.get("issue_type") == EPIC and record["id"] not in nested:
            made[record["id"]]["issue_type"] = EPIC
    for key, below in nested.items():
        made[key]["subtasks"] = [made[record["id"]] for record in below]
    full = {place: [made[record["id"]] for record in tops] for place, tops in lists.items()}
    return doc.as_bytes(doc.rebuilt(skeleton, full))


def _entries(document: Any, place: doc.Place, where: str, given: doc.Ids) -> Iterator[Entry]:
    work = [("", raw) for raw in reversed(doc.items(document, place, where))]
    at = 0
    while work:
        parent, raw = work.pop()
        what = f"a subtask of {parent}" if parent else "a task"
        said = doc.id_of(raw, what, where)
        key = given.give(ids.whole(said, parent, ids.prefix(place)))
        yield Entry(raw, key, parent, place, at)
        work += [(key, one) for one in reversed(subtasks_of(raw))]
        at += 1


def _remembered(entry: Entry, tasks: Mapping[str, Record]) -> Record:
    names = names_in(entry.raw, _ALIASES)
    record = task_of(entry, renamed(entry.raw, {alias: own for own, alias in names.items()}), tasks)
    raw = {k: v for k, v in entry.raw.items() if k != "subtasks" or not subtasks_of(entry.raw)}
    source = {"format": NAME, "place": list(entry.place), "at": entry.at}
    source |= {"names": names} if names else {}
    written = renamed(item_of(record, tasks, entry.place), names)
    return remembered(record, raw, written, source)


def _written(record: Record, tasks: Mapping[str, Record], place: doc.Place) -> Record:
    names = origin_of(record, NAME).get("names", {}) if origin_of(record, NAME) else _STRATEGY
    names = names if isinstance(names, dict) else {}
    return restored(record, renamed(item_of(record, tasks, place), names), NAME)
