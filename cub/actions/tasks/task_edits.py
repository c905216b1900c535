"""A new task, and changes of what a task says.

Deleting tasks: which of them may go, and what follows. Their lines stay, and say so: a line that
is not there any more comes back with the next merge.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from cub.actions.tasks.stores import Stores, TaskResult, TaskTransaction
from cub.actions.tasks.task_fields import TaskFields, require_no_cycle, split_words
from cub.actions.tasks.task_queries import list_descendants
from cub.actions.tasks.transitions import close_done_parents, reopen_parents, require_not_claimed
from cub.errors import CubError
from cub.store.jsonl import Record
from cub.store.record_merge import update_record
from cub.store.task_ids import find_prefix, make_child_id, make_id, match_id
from cub.store.task_index import TaskIndex
from cub.store.task_schema import CLOSED, DEFAULT_PRIORITY, sort_keys


def add_task(stores: Stores, fields: TaskFields) -> TaskResult:
    """Add a task; below a parent it gets the next number, else an id of its own."""
    with stores.transaction() as work:
        values = replace(fields, title=fields.title or "").to_record_values(work.tasks)
        record = _make_record(values, _id(stores, work.tasks, values), stores.timestamp)
        work.store.put_record(record)
        require_no_cycle(work.tasks, record["id"], record["depends_on"], "")
        work.result.tasks.append(record)
        reopen_parents(work, record)
    return work.result


def edit_task(
    stores: Stores,
    task_id: str,
    fields: TaskFields,
    *,
    unlabel: Sequence[str] = (),
    note: str | None = None,
) -> TaskResult:
    """Change what is given and leave the rest; labels are added, lists are replaced."""
    with stores.transaction() as work:
        task_id = work.tasks.find_id(task_id)
        record = work.tasks.read_record(task_id)
        values = _merge_fields(work.tasks, record, fields, unlabel)
        if note and note.strip():
            values["notes"] = work.append_note(record, note)
        put_edited_record(work, record, values)
    return work.result


def set_dependencies(
    stores: Stores, task_id: str, others: Sequence[str], *, remove: bool = False
) -> TaskResult:
    """Let a task wait for others, or no longer; a circle is refused."""
    with stores.transaction() as work:
        tasks = work.tasks
        task_id = tasks.find_id(task_id)
        record = tasks.read_record(task_id)
        now = set(record.get("depends_on") or ())
        named = {
            _match_dependency(other, now if remove else (), tasks) for other in split_words(others)
        }
        values = {"depends_on": sorted(now - named if remove else now | named)}
        put_edited_record(work, record, values)
    return work.result


def put_edited_record(transaction: TaskTransaction, record: Record, values: dict[str, Any]) -> None:
    """Put the changed record, after the checks that need all tasks. An epic that gets something
    to do is open again.
    """
    key, before = record["id"], record.get("depends_on") or ()
    needs = [other for other in values.get("depends_on", ()) if other not in before]
    parent = values.get("parent")
    if needs or (parent and parent != record.get("parent")):
        require_no_cycle(transaction.tasks, key, needs, parent or "")
    after = update_record(record, values, transaction.timestamp)
    if after is record:
        transaction.result.add_message(record, f"{key} is so already.")
        return
    transaction.store.put_record(after)
    transaction.result.tasks.append(after)
    if after["status"] != CLOSED and after.get("parent") != record.get("parent"):
        reopen_parents(transaction, after)


def _match_dependency(text: str, now: Collection[str], tasks: TaskIndex) -> str:
    """The task that is meant: first of all one that is waited for, though it may not exist."""
    try:
        return match_id(text, now)
    except CubError:
        return tasks.find_id(text)


def _merge_fields(
    tasks: TaskIndex, record: Record, fields: TaskFields, unlabel: Sequence[str]
) -> dict[str, Any]:
    values: dict[str, Any] = fields.to_record_values(tasks)
    if fields.parent == "":
        values["parent"] = None
    labels = set(record.get("labels") or ())
    if fields.labels is not None or unlabel:
        values["labels"] = sorted(
            (labels | set(values.get("labels", ()))) - set(split_words(unlabel))
        )
    return values


def _make_record(values: dict[str, Any], key: str, now: str) -> Record:
    given = {
        "status": "open",
        "priority": DEFAULT_PRIORITY,
        "issue_type": "task",
        "description": "",
    }
    lists: Record = {"acceptance_criteria": [], "depends_on": [], "labels": []}
    times = {"created_at": now, "updated_at": now}
    return sort_keys({"id": key, "rev": 1, **given, **lists, **values, **times})


def _id(stores: Stores, tasks: TaskIndex, values: dict[str, Any]) -> str:
    if parent := values.get("parent"):
        return make_child_id(parent, tasks.all_ids)
    prefix, taken = find_prefix(stores.root.name, tasks.all_ids), {*tasks.all_ids}
    return make_id(prefix, taken, _digests(values["title"], stores.timestamp))


def _digests(title: str, now: str) -> Iterator[bytes]:
    """Of the title and the time, and of chance: two people may have one idea at one time."""
    seed = f"{title}\0{now}\0".encode("utf-8", "surrogatepass")
    while True:
        yield blake2b(seed + os.urandom(16)).digest()


_MOST = 10  # lines of what keeps a task from being deleted


def select_deletable_tasks(
    tasks: TaskIndex, texts: Iterable[str], *, recursive: bool = False, force: bool = False
) -> list[str]:
    """The ids of the tasks to delete, with their parts if `recursive`.

    CubError, with all reasons, if others are a part of them; or wait for them, unless `force`.
    """
    named = [tasks.find_id(text) for text in texts]
    parts = [row.id for key in named for row in list_descendants(key, tasks)] if recursive else []
    chosen = list(dict.fromkeys([*named, *parts]))
    left = [*_left_parts(tasks, chosen)]
    waiting = [] if force else [*_waiting(tasks, chosen)]
    if left or waiting:
        raise _make_refusal(chosen, left, waiting)
    return chosen


def delete_tasks(
    stores: Stores,
    texts: Sequence[str],
    note: str = "",
    *,
    recursive: bool = False,
    force: bool = False,
) -> TaskResult:
    """Delete tasks. Epics that have nothing left to do but what is done already are closed."""
    with stores.transaction() as work:
        chosen = select_deletable_tasks(work.tasks, texts, recursive=recursive, force=force)
        for key in chosen:
            require_not_claimed(stores, work.tasks[key], work.tasks.read_record(key))
        rows = [work.tasks[key] for key in chosen]
        for key in chosen:
            values: dict[str, Any] = {"deleted_at": work.next_change_time(key), "lease": None}
            work.update_task(key, values, note)
        _drop_dependencies(work, chosen)
        for row in rows:
            if not row.is_closed:
                close_done_parents(work, row.parent)
    return work.result


def _left_parts(tasks: TaskIndex, chosen: Sequence[str]) -> Iterator[str]:
    gone = set(chosen)
    for row in tasks:
        if row.parent in gone and row.id not in gone:
            yield f"{row.id} is a part of {row.parent}"


def _waiting(tasks: TaskIndex, chosen: Sequence[str]) -> Iterator[str]:
    """What is not closed and depends on a task that is to go."""
    gone = set(chosen)
    for row in tasks:
        needs = gone.intersection(row.depends_on)
        if needs and row.id not in gone and not row.is_closed:
            yield f"{row.id} waits for {', '.join(sorted(needs))}"


def _make_refusal(chosen: Sequence[str], left: list[str], waiting: list[str]) -> CubError:
    which = chosen[0] if len(chosen) == 1 else "these tasks"
    ways = ["--recursive deletes the parts, too"] * bool(left)
    ways += ["--force lets nothing wait for what is deleted"] * bool(waiting)
    found = left + waiting
    details = found[:_MOST]
    details += [f"and {len(found) - _MOST:,} more"] if len(found) > _MOST else []
    hint = f"{'; '.join(ways)}. `cub task close --reason wontfix` keeps it in sight"
    return CubError(f"{which} can't be deleted", hint=hint, details=details)


def _drop_dependencies(transaction: TaskTransaction, chosen: Sequence[str]) -> None:
    """Nothing that is still to be done waits for a deleted task."""
    gone = set(chosen)
    for row in list(transaction.tasks):
        needs = gone.intersection(row.depends_on)
        if needs and not row.is_closed:
            rest = [key for key in row.depends_on if key not in gone]
            sentence = f"{row.id} waits no longer for {', '.join(sorted(needs))}."
            transaction.update_task(row.id, {"depends_on": rest}, sentence=sentence)
