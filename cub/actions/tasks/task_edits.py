"""Add, edit and delete tasks.

A deleted task's line stays: a line that is missing would come back with the next merge.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from cub.actions.tasks.current_attempt import find_current_attempt
from cub.actions.tasks.stores import Stores, TaskResult, TaskTransaction
from cub.actions.tasks.task_fields import MAX_TITLE, TaskFields, require_no_cycle, split_words
from cub.actions.tasks.task_queries import list_descendants
from cub.actions.tasks.transitions import close_done_parents, reopen_parents, require_not_claimed
from cub.errors import CubError
from cub.store.jsonl import Record
from cub.store.record_merge import update_record
from cub.store.task_ids import find_prefix, make_child_id, make_id, match_id
from cub.store.task_index import TaskIndex
from cub.store.task_schema import CLOSED, DEFAULT_PRIORITY, sort_keys

_MAX_REASONS = 10  # lines of what keeps a task from being deleted


def add_task(stores: Stores, fields: TaskFields) -> TaskResult:
    """Add a task; below a parent it gets the next number, else an id of its own."""
    with stores.transaction() as transaction:
        tasks = transaction.tasks
        values = replace(fields, title=fields.title or "").to_record_values(tasks)
        record = make_record(values, _make_new_id(stores, tasks, values), stores.timestamp)
        _put_new_record(transaction, record)
        require_no_cycle(tasks, record["id"], record["depends_on"], "")
    return transaction.result


def make_text_tasks(
    stores: Stores, tasks: TaskIndex, texts: Sequence[str], *, epic: str = "", label: str = ""
) -> list[Record]:
    """Put new tasks into an index, and return them: the title is the first line of each text."""
    records = list[Record]()
    for text in texts:
        title, _, rest = text.strip().partition("\n")
        if len(title) > MAX_TITLE:
            title, rest = f"{title[: MAX_TITLE - 1]}…", text
        fields = TaskFields(
            title.strip(),
            parent=epic or None,
            labels=[label] if label else None,
            description=rest.strip() or None,
        )
        values = fields.to_record_values(tasks)
        record = make_record(values, _make_new_id(stores, tasks, values), stores.timestamp)
        tasks.put_record(record)
        records.append(record)
    return records


def put_new_records(transaction: TaskTransaction, records: Sequence[Record]) -> None:
    """Add tasks that `make_text_tasks` has made. Raises CubError if another one has an id."""
    for record in records:
        tasks, key = transaction.tasks, record["id"]
        if key in tasks or key in tasks.deleted_summaries:
            raise CubError(f"another command has just added {key}", hint="run it again")
        _put_new_record(transaction, record)


def _put_new_record(transaction: TaskTransaction, record: Record) -> None:
    transaction.store.put_record(record)
    transaction.result.tasks.append(record)
    reopen_parents(transaction, record)


def edit_task(
    stores: Stores,
    task_id: str,
    fields: TaskFields,
    *,
    unlabel: Sequence[str] = (),
    note: str | None = None,
) -> TaskResult:
    """Change the given fields only; labels are added, lists are replaced."""
    with stores.transaction() as transaction:
        task_id = transaction.tasks.find_id(task_id)
        record = transaction.tasks.read_record(task_id)
        values = _merge_fields(transaction.tasks, record, fields, unlabel)
        if note and note.strip():
            values["notes"] = transaction.append_note(record, note)
        put_edited_record(transaction, record, values)
    return transaction.result


def set_dependencies(
    stores: Stores, task_id: str, others: Sequence[str], *, remove: bool = False
) -> TaskResult:
    """Let a task wait for others, or no longer; a cycle is refused."""
    with stores.transaction() as transaction:
        tasks = transaction.tasks
        task_id = tasks.find_id(task_id)
        record = tasks.read_record(task_id)
        old = set(record.get("depends_on") or ())
        words = split_words(others)
        needs = {_match_dependency(word, old if remove else (), tasks) for word in words}
        values = {"depends_on": sorted(old - needs if remove else old | needs)}
        put_edited_record(transaction, record, values)
    return transaction.result


def put_edited_record(transaction: TaskTransaction, record: Record, values: dict[str, Any]) -> None:
    """Put the changed record, after the checks that need all tasks.

    An epic that gets something to do is reopened.
    """
    key, before = record["id"], record.get("depends_on") or ()
    needs = [other for other in values.get("depends_on", ()) if other not in before]
    parent = values.get("parent")
    if needs or (parent and parent != record.get("parent")):
        require_no_cycle(transaction.tasks, key, needs, parent or "")
    after = update_record(record, values, transaction.timestamp)
    if after is record:
        transaction.result.add_message(record, f"No change to {key}.")
        return
    transaction.store.put_record(after)
    transaction.result.tasks.append(after)
    if after["status"] != CLOSED and after.get("parent") != record.get("parent"):
        reopen_parents(transaction, after)


def _match_dependency(text: str, old_needs: Collection[str], tasks: TaskIndex) -> str:
    """Return the task that is meant: first one that is waited for, though it may not exist."""
    try:
        return match_id(text, old_needs)
    except CubError:
        return tasks.find_id(text)


def _merge_fields(
    tasks: TaskIndex, record: Record, fields: TaskFields, unlabel: Sequence[str]
) -> dict[str, Any]:
    values: dict[str, Any] = fields.to_record_values(tasks)
    if fields.parent == "":
        values["parent"] = None
    if fields.labels is not None or unlabel:
        labels = {*(record.get("labels") or ()), *values.get("labels", ())}
        values["labels"] = sorted(labels.difference(split_words(unlabel)))
    return values


def make_record(values: dict[str, Any], key: str, now: str) -> Record:
    """Return a new open task with these fields."""
    defaults: Record = {
        "status": "open", "priority": DEFAULT_PRIORITY, "issue_type": "task", "description": "",
        "acceptance_criteria": [], "depends_on": [], "labels": [],
    }  # fmt: skip
    times = {"created_at": now, "updated_at": now}
    return sort_keys({"id": key, "rev": 1, **defaults, **values, **times})


def _make_new_id(stores: Stores, tasks: TaskIndex, values: dict[str, Any]) -> str:
    # An attempt has a copy of the tasks: another one may give the next number below a task as well.
    if (parent := values.get("parent")) and not find_current_attempt(stores.root):
        return make_child_id(parent, tasks.all_ids)
    prefix, taken = find_prefix(stores.root.name, tasks.all_ids), {*tasks.all_ids}
    return make_id(prefix, taken, _iter_digests(values["title"], stores.timestamp))


def _iter_digests(title: str, now: str) -> Iterator[bytes]:
    """Yield digests with random bytes: two people may have the same idea at the same time."""
    seed = f"{title}\0{now}\0".encode("utf-8", "surrogatepass")
    while True:
        yield blake2b(seed + os.urandom(16)).digest()


def select_deletable_tasks(
    tasks: TaskIndex, texts: Iterable[str], *, recursive: bool = False, force: bool = False
) -> list[str]:
    """Return the ids of the tasks to delete, with their parts if `recursive`.

    Raises CubError, with all reasons, if other tasks are a part of them; or wait for them, unless
    `force`.
    """
    named = [tasks.find_id(text) for text in texts]
    parts = [task.id for key in named for task in list_descendants(key, tasks)] if recursive else []
    chosen = list(dict.fromkeys([*named, *parts]))
    deleted = set(chosen)
    others = [task for task in tasks if task.id not in deleted]
    left_parts = [f"{t.id} is part of {t.parent}" for t in others if t.parent in deleted]
    waiting = [
        f"{task.id} waits for {', '.join(sorted(needs))}"
        for task in (() if force else others)
        if not task.is_closed and (needs := deleted.intersection(task.depends_on))
    ]
    if left_parts or waiting:
        raise _make_refusal(chosen, left_parts, waiting)
    return chosen


def delete_tasks(
    stores: Stores,
    texts: Sequence[str],
    note: str = "",
    *,
    recursive: bool = False,
    force: bool = False,
) -> TaskResult:
    """Delete tasks, and close epics that have no open task left."""
    with stores.transaction() as transaction:
        chosen = select_deletable_tasks(transaction.tasks, texts, recursive=recursive, force=force)
        for key in chosen:
            require_not_claimed(stores, transaction.tasks[key], transaction.tasks.read_record(key))
        tasks = [transaction.tasks[key] for key in chosen]
        for key in chosen:
            at = transaction.next_change_time(key)
            transaction.update_task(key, {"deleted_at": at, "lease": None}, note)
        _drop_dependencies(transaction, chosen)
        for task in tasks:
            if not task.is_closed:
                close_done_parents(transaction, task.parent)
    return transaction.result


def _make_refusal(chosen: Sequence[str], left_parts: list[str], waiting: list[str]) -> CubError:
    which = chosen[0] if len(chosen) == 1 else "these tasks"
    hints = ["pass `--recursive` to also delete the subtasks"] * bool(left_parts)
    hints += ["pass `--force` to remove those dependencies"] * bool(waiting)
    reasons = left_parts + waiting
    details = reasons[:_MAX_REASONS]
    details += [f"and {len(reasons) - _MAX_REASONS:,} more"] if len(reasons) > _MAX_REASONS else []
    hint = f"{'; '.join(hints)}; or run `cub task close --reason wontfix` to keep it listed"
    return CubError(f"{which} cannot be deleted", hint=hint, details=details)


def _drop_dependencies(transaction: TaskTransaction, chosen: Sequence[str]) -> None:
    """Let no open task wait for a deleted one."""
    deleted = set(chosen)
    for task in list(transaction.tasks):
        needs = deleted.intersection(task.depends_on)
        if needs and not task.is_closed:
            rest = [key for key in task.depends_on if key not in deleted]
            sentence = f"{task.id} no longer waits for {', '.join(sorted(needs))}."
            transaction.update_task(task.id, {"depends_on": rest}, sentence=sentence)
