"""Take over what an attempt did to its copy of the tasks.

An attempt works on a copy of `.cub/tasks.jsonl`, which an agent may have written anything into.
New tasks and changes of the attempt's own task are taken over, checked as those of a command line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cub.actions.tasks.stores import TaskTransaction
from cub.actions.tasks.task_edits import make_record, put_edited_record, put_new_records
from cub.actions.tasks.task_fields import TaskFields, check_text
from cub.errors import CubError
from cub.files.read_files import read_prefix
from cub.store.jsonl import Record, encode_record
from cub.store.store_paths import TASKS_FILE
from cub.store.task_ids import encode_letters
from cub.store.task_index import TaskIndex
from cub.store.task_schema import CLOSED, SET_KEYS
from cub.store.timestamps import normalize_timestamp, parse_timestamp
from cub.text import join_first

_MAX_GROWTH, _MAX_LINE = 4 << 20, 1 << 20  # bytes that an attempt may add, and of one task
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VALUES = ("title", "issue_type", "priority", "description", "acceptance_criteria")
_MAX_ADDED, _MAX_MESSAGES = 500, 10


@dataclass(frozen=True, slots=True)
class AttemptEdits:
    """Hold new tasks, the attempt's own one before and after, and messages for a person.

    `request` is what `read_request` returns, of an agent that closed its task in the copy.
    """

    added: tuple[Record, ...] = ()
    own: tuple[Record, Record] | None = None
    messages: tuple[str, ...] = ()
    request: dict[str, Any] = field(default_factory=dict)


NO_EDITS = AttemptEdits()


def read_attempt_edits(root: Path, before: bytes, task_id: str) -> AttemptEdits:
    """Return what the attempt at `task_id` changed in the copy below `root`, which was `before`.

    A copy that is gone has no changes: `git stash` may have taken it away.
    """
    path, limit = root / TASKS_FILE, len(before) + _MAX_GROWTH
    if not os.path.lexists(path):
        return NO_EDITS
    try:
        is_inside = path.parent.resolve() == root.resolve() / path.parent.name
        after = read_prefix(os.fspath(root), TASKS_FILE, limit + 1) if is_inside else b""
    except OSError:
        is_inside = False
    if not is_inside or len(after) > limit:
        what = f"the attempt replaced {TASKS_FILE}: tasks that it added are not taken over"
        return AttemptEdits(messages=(what,))
    return collect_attempt_edits(before, after, task_id)


def collect_attempt_edits(before: bytes, after: bytes, task_id: str) -> AttemptEdits:
    """Return what the attempt at `task_id` did to a store; lines that are not tasks are ignored."""
    if before == after:
        return NO_EDITS
    old, old_lines = TaskIndex.parse(before), set(before.split(b"\n"))
    lines = (line for line in after.split(b"\n") if len(line) <= _MAX_LINE)
    changed_lines = (line for line in lines if line not in old_lines)
    new, known = TaskIndex.parse(b"\n".join(changed_lines)), {*old.all_ids}
    added = tuple(new.read_record(key) for key in new.summaries if key not in known)
    own, messages, request = None, list[str](), dict[str, Any]()
    if len(added) > _MAX_ADDED:
        what = f"the attempt added {len(added):,} tasks: only {_MAX_ADDED} are taken over"
        added, messages = added[:_MAX_ADDED], [what]
    if task_id in known and task_id in new and _is_newer(old, new, task_id):
        own = (old.read_record(task_id), new.read_record(task_id))
        request = _find_request(*own)
        if own[0].get("checks") != own[1].get("checks"):
            messages.append(f"the attempt changed the checks of {task_id}: not taken over")
    others = [key for key in new.all_ids if key in known and _is_newer(old, new, key)]
    if others := [key for key in others if key != task_id or key not in new]:
        what = f"the attempt changed {join_first(others)} in its copy of the tasks"
        messages.append(f"{what}: not taken over")
    return AttemptEdits(added, own, tuple(messages), request)


def _is_newer(old: TaskIndex, new: TaskIndex, key: str) -> bool:
    """Return whether somebody changed a task: `git checkout` may have brought an old line back."""
    one, two = old.read_record(key), new.read_record(key)
    revs = [rev if type(rev := record.get("rev")) is int else 0 for record in (one, two)]
    return revs[1] > revs[0] or (revs[0] == revs[1] and one != two)


def _find_request(before: Record, after: Record) -> dict[str, Any]:
    if before["status"] == CLOSED or after["status"] != CLOSED:
        return {}
    note = _find_added_note(before, after)
    return {"task": after["id"], "reason": str(after.get("close_reason") or "done"), "note": note}


def _find_added_note(before: Record, after: Record) -> str:
    old, new = str(before.get("notes") or ""), str(after.get("notes") or "")
    return new.removeprefix(old).strip() if new.startswith(old) else ""


def apply_attempt_edits(transaction: TaskTransaction, edits: AttemptEdits) -> list[str]:
    """Take over the edits of an attempt, as far as they are valid; return messages for a person.

    Once more is fine: what is there already stays as it is. What a person has changed meanwhile
    stays, too.
    """
    messages, new_ids = list(edits.messages), dict[str, str]()
    for record in edits.added:
        try:
            new_ids[record["id"]] = _add_task(transaction, record)
        except CubError as error:
            messages.append(f"a task that the attempt added is not taken over: {error}")
    messages += [f"the new task {old} is {new}" for old, new in new_ids.items() if old != new]
    pairs = [(Record(), record) for record in edits.added if record["id"] in new_ids]
    for before, after in [*pairs, *([edits.own] if edits.own else [])]:
        key = new_ids.get(after["id"], after["id"])
        try:
            _change_task(transaction, key, before, _rename_links(after, new_ids))
        except CubError as error:
            messages.append(f"what the attempt changed of {key} is not taken over: {error}")
    return messages[:_MAX_MESSAGES]


def _add_task(transaction: TaskTransaction, record: Record) -> str:
    """Add a task that is open and claimed by nobody, without links; return its id."""
    tasks, key = transaction.tasks, str(record["id"])
    created = normalize_timestamp(record.get("created_at"))
    if not _ID.fullmatch(key):
        raise CubError("its id is not valid")
    values = _check_values(record, tasks, (*_VALUES, "labels", "checks"))
    if not values.get("title"):
        raise CubError("it has no title")
    digest = blake2b(encode_record({"title": values["title"], "at": created})).digest()
    for task_id in (key, f"{key}-{encode_letters(digest, 3)}"):
        if not (task_id in tasks or task_id in tasks.deleted_summaries):
            break
        if tasks.read_record(task_id).get("title") == values["title"]:
            return task_id  # a killed run has taken it over
    else:
        raise CubError(f"{key} is another task")
    is_time = parse_timestamp(created) and created < transaction.timestamp
    new = make_record(values, task_id, created if is_time else transaction.timestamp)
    put_new_records(transaction, [new])
    return task_id


def _change_task(transaction: TaskTransaction, key: str, before: Record, after: Record) -> None:
    """Give a task the fields that an attempt changed and nobody else did."""
    tasks = transaction.tasks
    if key not in tasks:
        return  # a person has deleted it
    current = tasks.read_record(key)
    names = [
        name
        for name in (*_VALUES, "parent")
        if after.get(name) != before.get(name) == current.get(name)
    ]
    values = _check_values(after, tasks, names)
    for name in SET_KEYS:
        one, two, now = (set(record.get(name) or ()) for record in (before, after, current))
        added = two - one if name == "labels" else (two - one).intersection(tasks.summaries)
        if (merged := (now | added) - (one - two)) != now:
            values[name] = sorted(merged)
    notes = str(current.get("notes") or "")
    if (note := _find_added_note(before, after)) and note not in notes:
        values["notes"] = check_text("\n".join(filter(None, (notes, note))), "the notes")
    if values:
        put_edited_record(transaction, current, values)


def _check_values(record: Record, tasks: TaskIndex, names: Collection[str]) -> dict[str, Any]:
    """Return the named fields of a record as a command line may set them. Raises CubError."""
    given = {name: record[name] for name in names if record.get(name) is not None}
    texts = {name: value if isinstance(value, str) else None for name, value in given.items()}
    parent = texts.get("parent") or ""
    fields = TaskFields(
        texts.get("title"),
        texts.get("issue_type"),
        str(given["priority"]) if "priority" in given else None,
        labels=given.get("labels"),
        accept=given.get("acceptance_criteria"),
        checks=given.get("checks"),
        description=texts.get("description"),
    )
    values = fields.to_record_values(tasks)
    if parent in tasks:
        values["parent"] = parent
    return values


def _rename_links(record: Record, new_ids: Mapping[str, str]) -> Record:
    """Return a record that names new tasks by the ids that they have got."""
    needs = [new_ids.get(key, key) for key in record.get("depends_on") or ()]
    parent = record.get("parent")
    return {**record, "depends_on": needs, "parent": new_ids.get(str(parent), parent)}
