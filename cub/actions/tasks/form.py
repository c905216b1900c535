"""A task as a form to be edited, and the form's changes applied."""

from __future__ import annotations

from typing import Any

from cub.actions.tasks.add import put_changed
from cub.actions.tasks.draft import Draft, text
from cub.actions.tasks.form_text import LISTS, TEXTS, parsed, written
from cub.actions.tasks.stores import Stores
from cub.actions.tasks.work import Outcome
from cub.store.jsonl import Record

_HEAD = """\
# The task {key}. Save and close to change it; an unchanged form changes nothing.
# priority is 0 to 4, and 0 comes first; type is task, feature, bug, epic or chore.
"""


def form(record: Record) -> str:
    """The fields that a person may edit."""
    keys = {**dict.fromkeys((*TEXTS, *LISTS)), "type": "issue_type"}
    fields = {key: record.get(own or key) for key, own in keys.items()}
    return _HEAD.format(key=record["id"]) + written(fields)


def apply_form(stores: Stores, key: str, before: str, after: str, shown: str) -> Outcome:
    """Change a task as its form says. CubError with `shown`, line and column for a wrong one.

    Only fields that differ from the form as it was given out count: what somebody else changed
    in the meantime stays.
    """
    old, new = parsed(before, shown), parsed(after, shown)
    values = {name: value for name, value in new.items() if value != old.get(name)}
    with stores.changing() as work:
        record = work.tasks.record(work.tasks.find(key))
        fields = _draft(values).values(work.tasks)
        if values.get("parent") == "":
            fields["parent"] = None
        if "notes" in values:
            fields["notes"] = text(values["notes"], "the text of the notes") or None
        put_changed(work, record, fields)
    return work.outcome


def _draft(values: dict[str, Any]) -> Draft:
    """The fields that differ; `notes` is none that a command line sets."""
    names = {**LISTS, **dict.fromkeys(TEXTS)}
    return Draft(**{names[key] or key: values[key] for key in values if key != "notes"})
