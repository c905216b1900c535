"""Read `task-master`: its tasks.json, with or without tags, subtasks within their tasks.

Ids of task-master are numbers within a tag, and of subtasks within their task; cub's are unique in
the whole project.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from cub.store.formats import source_fields as fields
from cub.store.jsonl import Record
from cub.store.task_index import EPIC
from cub.store.task_schema import IN_PROGRESS, PARKED, normalize_record

TASK_MASTER = "task-master"
_ALIASES = {"acceptanceCriteria": ("testStrategy",)}
_TASKS, _MASTER = "tasks", "master."
_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)*")
_STATUSES = {"review": IN_PROGRESS, "blocked": PARKED}
_TEXTS = {"details": "notes", "description": "description", "updatedAt": "updated_at"}
_USED = (
    "id", "title", "description", "status", "dependencies", "priority", "details",
    "acceptanceCriteria", "updatedAt", "subtasks",
)  # fmt: skip


class TaskMasterEntry(NamedTuple):
    """Hold a task or subtask as it is in a document; `parent` is "" for a task.

    `prefix` is what the ids of its tag begin with.
    """

    raw: Record
    id: str
    parent: str
    prefix: str


def find_task_lists(document: Any) -> fields.TaskLists:
    """Return the lists of tasks: at the top, or below each tag."""
    if not isinstance(document, dict):
        return {}
    if isinstance(document.get("tasks"), list):
        return {_TASKS: document["tasks"]}
    tags = {key: value for key, value in document.items() if isinstance(value, dict)}
    lists = {f"{key}.{_TASKS}": tag.get("tasks") for key, tag in tags.items()}
    return {name: items for name, items in lists.items() if isinstance(items, list)}


def parse_task_master(lists: fields.TaskLists, where: str) -> fields.ImportedTasks:
    """Return the tasks and subtasks of all tags; ids of tags other than master have its name."""
    unique_ids = fields.UniqueIds()
    entries = [
        entry
        for name, items in lists.items()
        for entry in _iter_entries(items, name.removesuffix(_TASKS), where, unique_ids)
    ]
    tasks: dict[str, Record] = {entry.id: {} for entry in entries}
    for entry in entries:  # a task comes before its subtasks
        subtasks = _list_subtasks(entry.raw)
        raw = {k: v for k, v in entry.raw.items() if k != "subtasks" or not subtasks}
        names = {**_ALIASES, "notes": ("details",)}
        tasks[entry.id] = fields.attach_origin(
            _entry_to_task(entry, tasks), raw, TASK_MASTER, names
        )
    return fields.ImportedTasks(TASK_MASTER, list(tasks.values()), [], unique_ids.warnings)


def _iter_entries(
    items: list[Record], tag: str, where: str, unique_ids: fields.UniqueIds
) -> Iterator[TaskMasterEntry]:
    prefix = "" if tag in ("", _MASTER) else f"{tag[:-1]}-"
    work = [("", raw) for raw in reversed(items)]
    while work:
        parent, raw = work.pop()
        local_id = fields.require_id(raw, f"a subtask of {parent}" if parent else "a task", where)
        task_id = unique_ids.assign(_make_full_id(local_id, parent, prefix))
        yield TaskMasterEntry(raw, task_id, parent, prefix)
        work += [(task_id, subtask) for subtask in reversed(_list_subtasks(raw))]


def _make_full_id(local_id: str, parent: str, prefix: str) -> str:
    if parent:
        return local_id if local_id.startswith(f"{parent}.") else f"{parent}.{local_id}"
    return prefix + local_id if _NUMBERS.fullmatch(local_id) else local_id


def _entry_to_task(entry: TaskMasterEntry, tasks: Mapping[str, Record]) -> Record:
    """Return a task in cub's spelling.

    A task with subtasks is an epic, and its subtasks wait for what it waits for.
    """
    raw = fields.rename_aliases(entry.raw, _ALIASES)
    needs = raw.get("dependencies")
    needs = needs if isinstance(needs, list) else []
    depends_on = [_resolve_dependency(need, entry, tasks) for need in needs]
    depends_on += tasks[entry.parent]["depends_on"] if entry.parent else []
    status = raw.get("status")
    titles = fields.pick_texts(raw, ("title", "description"))
    title = titles.get("title", "").strip() or fields.take_first_line(titles.get("description", ""))
    task: Record = {
        **fields.pick_extras(raw),
        "id": entry.id,
        "title": title or entry.id,
        **({"status": _STATUSES.get(status, status)} if isinstance(status, str) else {}),
        **{_TEXTS[key]: value for key, value in fields.pick_texts(raw, _TEXTS).items() if value},
        **fields.pick_priority(raw.get("priority")),
        "acceptance_criteria": fields.parse_criteria(raw.get("acceptanceCriteria")),
        "depends_on": list(dict.fromkeys(filter(None, depends_on))),
        **({"issue_type": EPIC} if _list_subtasks(raw) else {}),
        **({"parent": entry.parent} if entry.parent else {}),
        **fields.pick_unknown(raw, _USED),
    }
    return normalize_record(task)


def _resolve_dependency(
    need: object, entry: TaskMasterEntry, known_ids: Collection[str]
) -> str | None:
    """Return the id that a dependency means, a number that of a sister first; None for none."""
    if isinstance(need, str) and need:
        return entry.prefix + need if _NUMBERS.fullmatch(need) else need
    if type(need) is not int:
        return None
    sister = f"{entry.parent}.{need}"
    return sister if sister in known_ids else f"{entry.prefix}{need}"


def _list_subtasks(raw: Record) -> list[Record]:
    subtasks = raw.get("subtasks")
    fits = isinstance(subtasks, list) and all(isinstance(item, dict) for item in subtasks)
    return subtasks if fits and subtasks else []
