"""`task-master`: its tasks.json, with or without tags, subtasks within their tasks.

Ids of task-master: numbers within a tag, and within their task for subtasks; cub's are whole.

One task of task-master as a task of cub's, and back; what it inherits, and its subtasks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cub.store.formats import document as doc
from cub.store.formats.document import KeyPath
from cub.store.formats.source_fields import (
    attach_origin,
    dump_extras,
    dump_unknown,
    find_aliases,
    get_origin,
    join_criteria,
    parse_criteria,
    pick_extras,
    pick_priority,
    pick_texts,
    pick_unknown,
    rename_keys,
    restore_source_fields,
    take_first_line,
)
from cub.store.jsonl import Record
from cub.store.task_index import EPIC
from cub.store.task_schema import CLOSED, IN_PROGRESS, PARKED, UNDONE_REASONS, normalize_record

TASK_MASTER = "task-master"
_STRATEGY = {"acceptanceCriteria": "testStrategy"}
_ALIASES = {own: (alias,) for own, alias in _STRATEGY.items()}


def find_task_lists(document: Any) -> list[doc.KeyPath]:
    """Where lists of tasks are: at the top, or below each tag."""
    if not isinstance(document, dict):
        return []
    if isinstance(document.get("tasks"), list):
        return [("tasks",)]
    tags = {key: value for key, value in document.items() if isinstance(value, dict)}
    return [(key, "tasks") for key, tag in tags.items() if isinstance(tag.get("tasks"), list)]


def parse_task_master(data: bytes, where: str) -> doc.ImportedTasks:
    """The tasks and subtasks of all tags; the ids of other tags than master bear their name."""
    document = doc.parse_document(data, where)
    found = find_task_lists(document)
    given = doc.UniqueIds()
    entries = [entry for place in found for entry in _entries(document, place, where, given)]
    tasks: dict[str, Record] = {entry.id: {} for entry in entries}
    for entry in entries:  # a task comes before its subtasks
        tasks[entry.id] = _attach_task_origin(entry, tasks)
    if entries:
        tasks[entries[0].id]["origin"]["document"] = doc.remove_task_lists(document, found)
    return doc.ImportedTasks(TASK_MASTER, list(tasks.values()), [], given.renamed_ids)


def dump_task_master(records: Sequence[Record]) -> bytes:
    """The document that the tasks came from, or a new one with the tag master."""
    skeleton = doc.find_skeleton(records, TASK_MASTER)
    skeleton = skeleton if find_task_lists(skeleton) else {"master": {"tasks": []}}
    lists: dict[doc.KeyPath, list[Record]] = {place: [] for place in find_task_lists(skeleton)}
    tasks = {record["id"]: record for record in records}
    nested: dict[str, list[Record]] = {}
    made: dict[str, Record] = {}
    for record in doc.sort_by_origin(records, TASK_MASTER):
        place = doc.find_key_path(record, TASK_MASTER) or ()
        place = place if place in lists else next(iter(lists))
        is_nested = is_subtask(record, tasks)
        (nested.setdefault(record["parent"], []) if is_nested else lists[place]).append(record)
        made[record["id"]] = _dump_task(record, tasks, place)
    for record in records:
        if record.get("issue_type") == EPIC and record["id"] not in nested:
            made[record["id"]]["issue_type"] = EPIC
    for key, below in nested.items():
        made[key]["subtasks"] = [made[record["id"]] for record in below]
    full = {place: [made[record["id"]] for record in tops] for place, tops in lists.items()}
    return doc.dump_document(doc.insert_task_lists(skeleton, full))


def _entries(
    document: Any, key_path: doc.KeyPath, where: str, given: doc.UniqueIds
) -> Iterator[TaskMasterEntry]:
    work = [("", raw) for raw in reversed(doc.list_items(document, key_path, where))]
    at = 0
    while work:
        parent, raw = work.pop()
        what = f"a subtask of {parent}" if parent else "a task"
        said = doc.require_id(raw, what, where)
        key = given.assign(make_full_id(said, parent, make_id_prefix(key_path)))
        yield TaskMasterEntry(raw, key, parent, key_path, at)
        work += [(key, one) for one in reversed(list_subtasks(raw))]
        at += 1


def _attach_task_origin(entry: TaskMasterEntry, tasks: Mapping[str, Record]) -> Record:
    names = find_aliases(entry.raw, _ALIASES)
    record = entry_to_task(
        entry, rename_keys(entry.raw, {alias: own for own, alias in names.items()}), tasks
    )
    raw = {k: v for k, v in entry.raw.items() if k != "subtasks" or not list_subtasks(entry.raw)}
    source = {"format": TASK_MASTER, "place": list(entry.key_path), "at": entry.position}
    source |= {"names": names} if names else {}
    written = rename_keys(task_to_entry(record, tasks, entry.key_path), names)
    return attach_origin(record, raw, written, source)


def _dump_task(record: Record, tasks: Mapping[str, Record], key_path: doc.KeyPath) -> Record:
    names = (
        get_origin(record, TASK_MASTER).get("names", {})
        if get_origin(record, TASK_MASTER)
        else _STRATEGY
    )
    names = names if isinstance(names, dict) else {}
    return restore_source_fields(
        record, rename_keys(task_to_entry(record, tasks, key_path), names), TASK_MASTER
    )


_MASTER = "master"
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")


def make_id_prefix(key_path: KeyPath) -> str:
    """What the ids of a list begin with: only those of master stand alone."""
    return "" if len(key_path) == 1 or key_path[0] == _MASTER else f"{key_path[0]}-"


def make_full_id(said: str, parent: str, tag: str) -> str:
    """The id of a task, or of a subtask of `parent`."""
    if parent:
        return said if said.startswith(f"{parent}.") else f"{parent}.{said}"
    return tag + said if _NUMBERS.fullmatch(said) else said


def is_subtask(record: Record, tasks: Collection[str]) -> bool:
    """Whether a task stands within its parent in the document."""
    parent = record.get("parent")
    return parent in tasks and record["id"].startswith(f"{parent}.")


def make_local_id(key: str, parent: str, tag: str) -> int | str:
    """An id as the document has it, below `parent` or at the top of a tag."""
    return _number(key.removeprefix(f"{parent}.") if parent else _bare(key, tag))


def resolve_dependency(said: object, parent: str, tag: str, known: Collection[str]) -> str | None:
    """The id that a dependency means; None for what means none. A number is that of a sister
    first.
    """
    if isinstance(said, str) and said:
        return tag + said if _NUMBERS.fullmatch(said) else said
    if type(said) is not int:
        return None
    return sister if (sister := f"{parent}.{said}") in known else f"{tag}{said}"


def format_dependency(other: str, parent: str, tag: str) -> int | str:
    """A dependency as the document has it: below a task, a number is that of a sister."""
    sister = other.removeprefix(f"{parent}.")
    if parent and sister != other and _NUMBER.fullmatch(sister):
        return int(sister)
    return _bare(other, tag) if parent else _number(_bare(other, tag))


def _bare(key: str, tag: str) -> str:
    rest = key.removeprefix(tag)
    return rest if _NUMBERS.fullmatch(rest) else key


def _number(text: str) -> int | str:
    return int(text) if _NUMBER.fullmatch(text) else text


_STATUSES = {"review": IN_PROGRESS, "blocked": PARKED}
_WRITTEN = {IN_PROGRESS: "in-progress", PARKED: "deferred", CLOSED: "done"}
_PRIORITIES = ("critical", "high", "medium", "low", "low")
_USED = (
    "id", "title", "description", "status", "dependencies", "priority", "details",
    "acceptanceCriteria", "updatedAt", "subtasks",
)  # fmt: skip


class TaskMasterEntry(NamedTuple):
    """A task or subtask as it stands in a document."""

    raw: Record
    id: str
    parent: str
    key_path: KeyPath
    position: int


def list_subtasks(raw: Record) -> list[Record]:
    """The subtasks of a task as they stand in it."""
    found = raw.get("subtasks")
    fit = isinstance(found, list) and all(isinstance(one, dict) for one in found)
    return found if fit and found else []


def entry_to_task(entry: TaskMasterEntry, raw: Record, tasks: Mapping[str, Record]) -> Record:
    """A task in cub's spelling. One with subtasks is an epic, and what it waits for, they do."""
    tag = make_id_prefix(entry.key_path)
    said = raw.get("dependencies")
    said = said if isinstance(said, list) else []
    needs = [resolve_dependency(one, entry.parent, tag, tasks) for one in said]
    needs += tasks[entry.parent]["depends_on"] if entry.parent else []
    status = raw.get("status")
    plain = {"details": "notes", "description": "description", "updatedAt": "updated_at"}
    found = pick_texts(raw, plain)
    made: Record = {
        **pick_extras(raw),
        "id": entry.id,
        "title": _title(raw) or entry.id,
        **({"status": _STATUSES.get(status, status)} if isinstance(status, str) else {}),
        **{plain[key]: value for key, value in found.items() if value},
        **pick_priority(raw.get("priority")),
        "acceptance_criteria": parse_criteria(raw.get("acceptanceCriteria")),
        "depends_on": list(dict.fromkeys(need for need in needs if need)),
        **({"issue_type": EPIC} if list_subtasks(raw) else {}),
        **({"parent": entry.parent} if entry.parent else {}),
        **pick_unknown(raw, _USED),
    }
    return normalize_record(made)


def task_to_entry(record: Record, tasks: Mapping[str, Record], key_path: KeyPath) -> Record:
    """A task as task-master has it, without its subtasks, which say that it is an epic."""
    get, tag = record.get, make_id_prefix(key_path)
    parent = record["parent"] if is_subtask(record, tasks) else ""
    inherited = tasks[parent].get("depends_on", ()) if parent else ()
    needs = [other for other in get("depends_on", ()) if other not in inherited]
    level = get("priority")
    longer = {
        "details": get("notes"),
        "acceptanceCriteria": join_criteria(get("acceptance_criteria")),
        "updatedAt": get("updated_at"),
    }
    apart = {"parent"} if parent else set()
    apart |= {"issue_type"} if get("issue_type") == EPIC else set()
    return {
        "id": make_local_id(record["id"], parent, tag),
        "title": get("title", ""),
        "description": get("description", ""),
        "status": _status(record),
        "dependencies": [format_dependency(other, parent, tag) for other in needs],
        **({"priority": _PRIORITIES[level]} if type(level) is int and 0 <= level <= 4 else {}),
        **{key: value for key, value in longer.items() if value},
        **{k: v for k, v in dump_extras(record).items() if k not in apart},
        **dump_unknown(record, _USED),
    }


def _status(record: Record) -> str:
    if record["status"] == CLOSED and record.get("close_reason") in UNDONE_REASONS:
        return "cancelled"
    return _WRITTEN.get(record["status"], "pending")


def _title(raw: Record) -> str:
    found = pick_texts(raw, ("title", "description"))
    return found.get("title", "").strip() or take_first_line(found.get("description", ""))
