"""A new task, and changes of what a task says."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from cub.actions.tasks.draft import Draft, require_no_circle, split
from cub.actions.tasks.status import reopen_parents
from cub.actions.tasks.stores import Stores
from cub.actions.tasks.work import Outcome, Work
from cub.errors import CubError
from cub.store.change import changed
from cub.store.ids import child_id, find, new_id, prefix_of
from cub.store.jsonl import Record
from cub.store.spelling import CLOSED, MIDDLE, in_order
from cub.store.tasks import Tasks


def add(stores: Stores, draft: Draft) -> Outcome:
    """Add a task; below a parent it gets the next number, else an id of its own."""
    with stores.changing() as work:
        values = replace(draft, title=draft.title or "").values(work.tasks)
        record = _fresh(values, _id(stores, work.tasks, values), stores.now)
        work.change.put(record)
        require_no_circle(work.tasks, record["id"], record["depends_on"], "")
        work.outcome.tasks.append(record)
        reopen_parents(work, record)
    return work.outcome


def edit(
    stores: Stores, key: str, draft: Draft, *, unlabel: Sequence[str] = (), note: str | None = None
) -> Outcome:
    """Change what is given and leave the rest; labels are added, lists are replaced."""
    with stores.changing() as work:
        key = work.tasks.find(key)
        record = work.tasks.record(key)
        values = _edited(work.tasks, record, draft, unlabel)
        if note and note.strip():
            values["notes"] = work.noted(record, note)
        put_changed(work, record, values)
    return work.outcome


def depend(stores: Stores, key: str, others: Sequence[str], *, remove: bool = False) -> Outcome:
    """Let a task wait for others, or no longer; a circle is refused."""
    with stores.changing() as work:
        tasks = work.tasks
        key = tasks.find(key)
        record = tasks.record(key)
        now = set(record.get("depends_on") or ())
        named = {_needed(other, now if remove else (), tasks) for other in split(others)}
        values = {"depends_on": sorted(now - named if remove else now | named)}
        put_changed(work, record, values)
    return work.outcome


def put_changed(work: Work, record: Record, values: dict[str, Any]) -> None:
    """Put the changed record, after the checks that need all tasks. An epic that gets something
    to do is open again.
    """
    key, before = record["id"], record.get("depends_on") or ()
    needs = [other for other in values.get("depends_on", ()) if other not in before]
    parent = values.get("parent")
    if needs or (parent and parent != record.get("parent")):
        require_no_circle(work.tasks, key, needs, parent or "")
    after = changed(record, values, work.now)
    if after is record:
        work.outcome.tell(record, f"{key} is so already.")
        return
    work.change.put(after)
    work.outcome.tasks.append(after)
    if after["status"] != CLOSED and after.get("parent") != record.get("parent"):
        reopen_parents(work, after)


def _needed(text: str, now: Collection[str], tasks: Tasks) -> str:
    """The task that is meant: first of all one that is waited for, though it may not exist."""
    try:
        return find(text, now)
    except CubError:
        return tasks.find(text)


def _edited(tasks: Tasks, record: Record, draft: Draft, unlabel: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = draft.values(tasks)
    if draft.parent == "":
        values["parent"] = None
    labels = set(record.get("labels") or ())
    if draft.labels is not None or unlabel:
        values["labels"] = sorted((labels | set(values.get("labels", ()))) - set(split(unlabel)))
    return values


def _fresh(values: dict[str, Any], key: str, now: str) -> Record:
    given = {"status": "open", "priority": MIDDLE, "issue_type": "task", "description": ""}
    lists: Record = {"acceptance_criteria": [], "depends_on": [], "labels": []}
    times = {"created_at": now, "updated_at": now}
    return in_order({"id": key, "rev": 1, **given, **lists, **values, **times})


def _id(stores: Stores, tasks: Tasks, values: dict[str, Any]) -> str:
    if parent := values.get("parent"):
        return child_id(parent, tasks.ids)
    prefix, taken = prefix_of(stores.root.name, tasks.ids), {*tasks.ids}
    return new_id(prefix, taken, _digests(values["title"], stores.now))


def _digests(title: str, now: str) -> Iterator[bytes]:
    """Of the title and the time, and of chance: two people may have one idea at one time."""
    seed = f"{title}\0{now}\0".encode("utf-8", "surrogatepass")
    while True:
        yield blake2b(seed + os.urandom(16)).digest()
